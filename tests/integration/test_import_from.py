"""`kurabito import-from`, `kurabito adopt` and `kurabito import --series` as a person runs them: shown first, then done."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.integration.placements.test_predecessors import Sonarr
from tests.support.commands import KURABITO, run
from tests.support.waiting import PATIENCE

BANGUMI = (
    "CREATE TABLE bangumi (id INTEGER PRIMARY KEY, official_title TEXT, year TEXT, title_raw TEXT, season INTEGER, "
    "offset INTEGER, rss_link TEXT, save_path TEXT, deleted INTEGER)"
)


def kurabito(state: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "KURABITO_STATE": str(state), **settings}
    return run([*KURABITO, *arguments], env=environment, timeout=PATIENCE)


def shown(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_database_of_autobangumi_is_shown_then_taken_over_and_wanted(tmp_path: Path) -> None:
    theirs, state = tmp_path / "data.db", tmp_path / "state"
    with closing(sqlite3.connect(theirs)) as raw:
        raw.execute(BANGUMI)
        raw.execute(
            "INSERT INTO bangumi VALUES (1, '藏人之夜', '2020', 'Yoru', 1, 0, 'https://mikanani.me/RSS/1', NULL, 0)"
        )
        raw.commit()
    before = theirs.read_bytes()
    planned = shown(kurabito(state, "import-from", "autobangumi", str(theirs), "--apply", "--feeds", "--json"))
    assert [(one["becomes"], one["title"]) for one in planned["shows"]] == [("unmatched", "藏人之夜")]
    assert planned["feeds_added"] == 1
    again = shown(kurabito(state, "import-from", "autobangumi", str(theirs), "--json"))
    assert [one["becomes"] for one in again["shows"]] == ["known"]
    assert theirs.read_bytes() == before
    number = str(planned["shows"][0]["series_id"])
    wanted = kurabito(state, "adopt", "want", "future", number)
    assert "Series changed: 1" in wanted.stdout, wanted.stderr
    assert "no episode: 0" in kurabito(state, "adopt", "left").stdout
    outside = kurabito(state, "import", "--series", number, "--yes", str(tmp_path / "x.mkv"))
    assert outside.returncode != 0
    assert "must lie in a library" in outside.stderr


@pytest.fixture
def sonarr() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Sonarr) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_sonarr_is_shown_then_taken_over_and_wanted(tmp_path: Path, sonarr: str) -> None:
    state = tmp_path / "state"
    planned = kurabito(state, "import-from", "sonarr", sonarr, SONARR_API_KEY="right")
    assert "unmatched Night of the Kurabito · season 1 -> Night of the Kurabito" in planned.stdout, planned.stderr
    assert "12 files · /tv/Night of the Kurabito · not fetched" in planned.stdout
    assert "folder    /tv/" in planned.stdout
    assert "Nothing was changed. Add --apply to do it." in planned.stdout
    assert "series 2 has no title" in planned.stderr
    taken = shown(
        kurabito(
            state, "import-from", "sonarr", sonarr, "--apply", "--want", "future", "--json", SONARR_API_KEY="right"
        )
    )
    assert [(one["becomes"], one["season"], one["files"]) for one in taken["shows"]] == [
        ("unmatched", 1, 12),
        ("unmatched", 2, 3),
    ]
    again = shown(kurabito(state, "import-from", "sonarr", sonarr, "--json", SONARR_API_KEY="right"))
    assert [(one["becomes"], one["series_id"]) for one in again["shows"]] == [
        ("known", one["series_id"]) for one in taken["shows"]
    ]
    refused = kurabito(state, "import-from", "sonarr", sonarr, SONARR_API_KEY="wrong")
    assert refused.returncode != 0
    assert "Sonarr refuses this key" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert all(line.startswith("GET ") for line in Sonarr.asked)
