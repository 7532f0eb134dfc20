"""`kurabito import-from`, `kurabito adopt` and `kurabito import --series` as a person runs them: shown first, then done."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.support.waiting import PATIENCE

BANGUMI = (
    "CREATE TABLE bangumi (id INTEGER PRIMARY KEY, official_title TEXT, year TEXT, title_raw TEXT, season INTEGER, "
    "offset INTEGER, rss_link TEXT, save_path TEXT, deleted INTEGER)"
)


def kurabito(state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from kurabito.cli import main; main()", *arguments],
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "KURABITO_STATE": str(state)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


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
