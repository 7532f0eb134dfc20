"""A take-over that is killed leaves the database as it was, and the next one is complete."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.migration.conftest import Workshop

PROGRAM = Path(__file__).with_name("killed_program.py")
KILLS = int(os.environ.get("KURABITO_TAKEOVER_KILLS", "12"))


class Program:
    """Takes databases over, and dies while it does."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def take_over(self, file: Path, kill_at: int = 0) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"file": str(file), "kill_at": kill_at}) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        self._process.communicate(timeout=60)


@pytest.fixture
def program() -> Iterator[Program]:
    program = Program()
    yield program
    program.close()


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as raw:
        return list(raw.iterdump())


def kill_and_check(program: Program, workshop: Workshop, folder: Path, kills: int) -> None:
    earlier = workshop.Earlier(
        columns={"library_files": {"remark": "TEXT DEFAULT 'mine'"}},
        further="CREATE TABLE job_locks (id TEXT REFERENCES jobs(id) ON DELETE CASCADE); INSERT INTO job_locks SELECT id FROM jobs;",
    )
    fresh = earlier.write(folder / "fresh.db")
    was = dump(fresh)
    whole = folder / "whole.db"
    shutil.copyfile(fresh, whole)
    statements = int(program.take_over(whole))
    assert statements > 500
    moments = {1, statements - 1, statements, *(statements * number // kills for number in range(1, kills))}
    for moment in sorted(moments):
        file = folder / "killed.db"
        shutil.copyfile(fresh, file)
        assert program.take_over(file, kill_at=moment) == "killed"
        assert dump(file) == was, f"killed before statement {moment} of {statements}"
        raw, _ = workshop.taken_over(file)
        with closing(raw):
            workshop.assert_all_there(raw, earlier.expected())
        for left in folder.glob("killed.db*"):
            left.unlink()


def test_a_killed_takeover_leaves_nothing_half_done(program: Program, workshop: Workshop, tmp_path: Path) -> None:
    kill_and_check(program, workshop, tmp_path, KILLS)


@pytest.mark.soak
def test_a_takeover_is_killed_at_hundreds_of_moments(program: Program, workshop: Workshop, tmp_path: Path) -> None:
    kill_and_check(program, workshop, tmp_path, 400)
