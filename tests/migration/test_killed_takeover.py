"""A take-over that is killed leaves the database as it was, and the next one is complete."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.commands import KURABITO, Command, run
from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.migration.conftest import Workshop

PROGRAM = Path(__file__).with_name("killed_program.py")
KILLS = int(os.environ.get("KURABITO_TAKEOVER_KILLS", "12"))


class Program:
    """Takes databases over, and dies while it does."""

    def __init__(self) -> None:
        self._process = Command(
            [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def take_over(self, file: Path, kill_at: int = 0) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"file": str(file), "kill_at": kill_at}) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        self._process.communicate(timeout=PATIENCE)


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


MIDDLE = 700
"""Statements after which the command is killed: the tables are made, and some of their rows are there."""
COMMAND = f"""
import os, runpy, signal, sys
from kurabito.db.sqlite.database import SqliteDatabase

rebuild, left = SqliteDatabase.rebuild_blocking, [{MIDDLE}]

def count(_):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

def counted(database, fn):
    return rebuild(database, lambda conn: (conn.raw.set_trace_callback(count), fn(conn))[1])

SqliteDatabase.rebuild_blocking = counted
runpy.run_module("kurabito.cli", run_name="__main__")
"""


@pytest.mark.parametrize("arguments", [("db", "migrate"), ("serve", "--port", "0", "--no-dataplane")])
def test_the_command_itself_is_killed_and_run_again(
    workshop: Workshop, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    earlier = workshop.Earlier()
    file = earlier.write(state / "kurabito.db")
    was = dump(file)
    environment = {**os.environ, "KURABITO_STATE": str(state), "KURABITO_BGM_URL": "http://127.0.0.1:9"}
    killed = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], env=environment, capture_output=True, timeout=100, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert dump(file) == was
    done = run([*KURABITO, "db", "migrate"], env=environment, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "60 rows of library_files" in done.stdout
    with closing(sqlite3.connect(file)) as raw:
        raw.row_factory = sqlite3.Row
        workshop.assert_all_there(raw, earlier.expected())
    assert len(list((state / "backups").glob("earlier-*.db"))) == 2


@pytest.mark.soak
def test_a_takeover_is_killed_at_hundreds_of_moments(program: Program, workshop: Workshop, tmp_path: Path) -> None:
    kill_and_check(program, workshop, tmp_path, 400)
