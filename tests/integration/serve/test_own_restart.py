"""A running server follows settings, starts again on the same address, and keeps what was set."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.serve.conftest import Commands

KEY = "a long key for the tests of settings"


def settings_of(http: httpx2.Client) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in http.get("/api/v1/settings").raise_for_status().json()["items"]}


def test_settings_survive_restarts_and_other_processes_see_them(commands: Commands) -> None:
    headers = {"X-Api-Key": KEY}
    with commands.serving(KURABITO_API_KEY=KEY) as served:
        with httpx2.Client(base_url=served.url, headers=headers, timeout=60, trust_env=False) as http:
            changed = http.patch("/api/v1/settings", json={"values": {"tz": "Asia/Tokyo", "trash_days": 9}})
            found = {one["name"]: one for one in changed.raise_for_status().json()["items"]}
            assert (found["tz"]["is_pending"], found["trash_days"]["is_pending"]) == (True, False)
            assert http.post("/api/v1/system/restart").status_code == 202
            # The same address answers, as soon as everything has started again.
            found = settings_of(http)
            assert (found["tz"]["value"], found["tz"]["is_pending"]) == ("Asia/Tokyo", False)
            with commands.started("config", "--json") as (process, _):
                shown = json.loads(process.communicate(timeout=60)[0])
            assert "Asia/Tokyo" in json.dumps(shown)
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(timeout=60) == 0
    with (
        commands.serving(KURABITO_API_KEY=KEY) as served,
        httpx2.Client(base_url=served.url, headers=headers, timeout=60, trust_env=False) as http,
    ):
        found = settings_of(http)
        assert (found["tz"]["value"], found["trash_days"]["value"]) == ("Asia/Tokyo", 9)


def test_the_folder_that_the_set_up_asks_for_is_used_before_a_feed_is_followed(
    commands: Commands, tmp_path: Path
) -> None:
    folder = tmp_path / "disk" / "Downloads"
    folder.mkdir(parents=True)
    with (
        commands.serving(KURABITO_API_KEY=KEY) as served,
        httpx2.Client(base_url=served.url, timeout=60, trust_env=False, follow_redirects=True) as http,
    ):
        http.headers["Origin"] = served.url
        assert http.get(served.login).url.path == "/setup/welcome"
        chosen = http.post("/setup/downloads", data={"path": str(folder), "anyway": "yes"})
        assert chosen.url.path == "/setup/metadata"
        http.headers["X-Api-Key"] = KEY
        found = settings_of(http)["download_root"]
        assert (found["value"], found["is_pending"]) == (str(folder), False)
