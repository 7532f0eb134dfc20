"""`kurabito config set` and the process that serves."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import httpx2
from tests.support.waiting import PATIENCE, Until
from typer.testing import CliRunner

from kurabito.cli.commands import app

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

KEY = "a key for the tests"


def shown(commands: Commands) -> dict[str, tuple[object, str]]:
    rows = json.loads(commands.run("config", "--json").stdout)
    return {row["name"]: (row["value"], row["origin"]) for row in rows}


def test_a_value_is_set_shown_and_removed(commands: Commands) -> None:
    done = commands.run("config", "set", "tz", "Asia/Tokyo")
    assert (done.returncode, done.stdout) == (0, "tz is set. It takes effect at the next start.\n")
    done = commands.run("config", "set", "trash_days", "60")
    assert (done.returncode, done.stdout) == (0, "trash_days is set. `kurabito serve` follows within 5 seconds.\n")
    assert shown(commands)["trash_days"] == (60.0, "database")
    refused = commands.run("config", "set", "trash_days", "0")
    assert (refused.returncode, refused.stderr) == (1, "error: trash_days: Input should be greater than 0\n")
    locked = commands.run("config", "set", "trash_days", "7", KURABITO_TRASH_DAYS="5")
    assert locked.returncode == 1
    assert "KURABITO_TRASH_DAYS, which wins over the database" in locked.stderr
    assert commands.run("config", "unset", "trash_days").returncode == 0
    assert shown(commands)["trash_days"] == (30.0, "default")


def test_serve_begins_with_what_is_stored_and_follows_the_level_of_its_log(commands: Commands, until: Until) -> None:
    assert commands.run("config", "set", "file_parallel", "3").returncode == 0
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY) as served:
        api = httpx2.Client(base_url=served.url, headers={"X-Api-Key": KEY}, timeout=PATIENCE)

        def setting(name: str) -> tuple[object, str, bool]:
            settings = api.get("/api/v1/system").json()["settings"]
            one = next(setting for setting in settings if setting["name"] == name)
            return one["value"], one["origin"], one["needs_restart"]

        assert setting("file_parallel") == (3, "database", True)
        assert commands.run("config", "set", "file_parallel", "4").returncode == 0
        assert "within 5 seconds" in commands.run("config", "set", "log_level", "debug").stdout
        until(lambda: setting("log_level") == ("debug", "database", False))
        # What needs a restart is shown as it is in effect.
        assert setting("file_parallel") == (3, "database", True)
        api.close()
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY) as served:
        api = httpx2.Client(base_url=served.url, headers={"X-Api-Key": KEY}, timeout=PATIENCE)
        assert setting("file_parallel") == (4, "database", True)
        api.close()


def test_what_is_changed_on_the_page_is_seen_by_other_processes_and_after_a_restart(commands: Commands) -> None:
    changes = {
        "libraries": ("trash_days", "60"),
        "general": ("tz", "Europe/Berlin"),
        "metadata": ("tmdb_key", "hunter2"),
    }
    with commands.serving("--no-dataplane", "--no-downloader") as served:
        with httpx2.Client(base_url=served.url, timeout=PATIENCE, headers={"Origin": served.url}) as page:
            page.get(served.login)
            for group, (name, value) in changes.items():
                answer = page.post(f"/settings/{group}", data={"shown": name, name: value}, follow_redirects=True)
                assert "set on this page" in answer.text
        seen = shown(commands)
        assert seen["trash_days"] == (60.0, "database")
        assert seen["tz"] == ("Europe/Berlin", "database")
        assert seen["tmdb_key"] == ("***", "database")
        session = page.cookies
    with (
        commands.serving("--no-dataplane", "--no-downloader") as served,
        httpx2.Client(base_url=served.url, timeout=PATIENCE, cookies=session) as page,
    ):
        for group, (name, value) in changes.items():
            field = page.get(f"/settings/{group}").text.split(f'id="setting-{name}"')[1].split('class="field')[0]
            assert "set on this page" in field
            assert (value in field) is (name != "tmdb_key")
        assert 'id="pending"' not in page.get("/settings/general").text


def test_a_data_plane_begins_with_what_is_stored(commands: Commands, until: Until) -> None:
    assert commands.run("config", "set", "dataplane_nice", "17").returncode == 0
    with commands.started("dataplane") as (process, _):
        until(lambda: os.getpriority(os.PRIO_PROCESS, process.pid) == 17)


def test_a_secret_is_read_from_standard_input_and_lies_in_a_file_of_its_owner(commands: Commands) -> None:
    runner = CliRunner(env={"KURABITO_STATE": str(commands.state)})
    assert runner.invoke(app, ["config", "set", "tmdb_key", "-"], input="hunter2\n").exit_code == 0
    assert shown(commands)["tmdb_key"] == ("***", "database")
    file = commands.state / "kurabito.db"
    assert file.stat().st_mode & 0o077 == 0


def test_the_settings_are_shown_also_where_those_of_the_database_cannot_be_had(commands: Commands) -> None:
    assert commands.run("config", "set", "heartbeat_seconds", "15").returncode == 0
    for environment in (
        {"KURABITO_DATABASE": "postgresql://127.0.0.1:1/gone"},
        {"KURABITO_DATABASE": "postgresql://127.0.0.1/shop?schema=jobs"},
        {"KURABITO_LEASE_SECONDS": "20"},
    ):
        shown = commands.run("config", "--json", **environment)
        assert (shown.returncode, json.loads(shown.stdout)[0]["name"]) == (0, "state")
        assert shown.stderr.startswith("The settings in the database are left out: ")
    unset = commands.run("config", "unset", "heartbeat_seconds", KURABITO_LEASE_SECONDS="20")
    assert unset.returncode == 0, unset.stderr
