"""A scan of a real folder ends when its folders were matched, and what is left is looked at by a task that follows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

KEY = "a key for the tests"


def test_a_scan_says_how_many_folders_it_left_and_they_are_listed(
    commands: Commands, until: Callable[[Callable[[], object]], None], tmp_path: Path
) -> None:
    for folder in ("Lighthouse (2019)", "Nobody Knows This", "Lighthouse (2019)/Extras"):
        (tmp_path / "films" / folder).mkdir(parents=True)
        (tmp_path / "films" / folder / "01.mkv").write_bytes(folder.encode())
    with (
        commands.serving(KURABITO_API_KEY=KEY) as served,
        httpx2.Client(base_url=f"{served.url}/api/v1", headers={"X-Api-Key": KEY}, timeout=PATIENCE) as api,
    ):

        def scanned() -> Any:
            return api.get(f"/scan-tasks/{task_id}").json()["result"]

        record = api.post("/metadata", json={"title_english": "Lighthouse", "year": 2019}).json()["id"]
        library = api.post("/libraries", json={"name": "films", "path": str(tmp_path / "films")}).json()["id"]
        task_id = api.post(f"/libraries/{library}/scan").json()["task_id"]
        until(scanned)
        assert scanned() == {"added_count": 3, "removed_count": 0, "failed_scrape_count": 1}
        (left,) = api.get("/matches").json()["items"]
        (matched,) = api.get("/matches", params={"state": "matched"}).json()["items"]
        assert (left["folder"], matched["folder"]) == ("Nobody Knows This", "Lighthouse (2019)")
        assert matched["metadata_id"] == record
        tasks = "/tasks?task_type=catalog.match"
        until(lambda: [task["state"] for task in api.get(tasks).json()["items"]] == ["succeeded"])
