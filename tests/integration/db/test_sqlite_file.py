"""SQLite in a file: durable, shared by processes, and nobody hears "database is locked"."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kurabito.db.port import Connection
from kurabito.db.sqlite.database import SqliteDatabase
from kurabito.errors import DatabaseError, DatabaseUnavailable

WRITER = Path(__file__).with_name("sqlite_writer.py")
ADD = "INSERT INTO notes (text) VALUES ('small')"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.db"


@pytest.fixture
def database(path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(path, patience=0.2)
    database.open()
    database.write_blocking(lambda conn: conn.script("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)"))
    yield database
    database.close()


@contextmanager
def lock_held_elsewhere(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the write lock while the block runs, or until its input is closed."""
    command = [sys.executable, str(WRITER), str(path), "hold"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_a_commit_that_returned_survives_a_power_cut(database: SqliteDatabase) -> None:
    def settings(conn: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [value for name in names for value in conn.all(f"PRAGMA {name}")[0]]

    full = 2
    assert database.write_blocking(settings) == ["wal", full, 1, 0]
    assert database.read_blocking(settings) == ["wal", full, 1, 0]


def test_a_reader_cannot_write(database: SqliteDatabase) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.read_blocking(lambda conn: conn.run(ADD))


async def test_writes_that_came_while_the_writer_was_busy_share_one_commit(database: SqliteDatabase) -> None:
    busy, go_on = threading.Event(), threading.Event()
    commits: list[None] = []

    def watch(conn: Connection) -> None:
        # Asked after each statement of the write connection; a COMMIT is one of them.
        conn.raw.set_trace_callback(lambda sql: commits.append(None) if sql == "COMMIT" else None)
        busy.set()
        go_on.wait(20)

    writes: list[asyncio.Task[Any]] = [asyncio.create_task(database.write(watch))]
    await asyncio.to_thread(busy.wait, 20)
    writes += [asyncio.create_task(database.write(lambda conn: conn.run(ADD))) for _ in range(100)]
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(*writes)
    # One when the long one ends, and one or a few more for what waited behind it.
    assert 1 <= len(commits) <= 10


async def test_a_write_that_was_cancelled_while_it_waited_is_not_done(database: SqliteDatabase) -> None:
    busy, go_on = threading.Event(), threading.Event()

    def slow(_conn: Connection) -> None:
        busy.set()
        go_on.wait(20)

    slowly = asyncio.create_task(database.write(slow))
    await asyncio.to_thread(busy.wait, 20)
    cancelled = asyncio.create_task(database.write(lambda conn: conn.run(ADD)))
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    go_on.set()
    await slowly
    assert await database.write(lambda conn: conn.run(ADD)) == 1
    assert await database.read(lambda conn: conn.one("SELECT count(*) FROM notes")) == (1,)


async def test_writes_cancelled_at_any_moment_do_not_stop_the_writer(database: SqliteDatabase) -> None:
    for turn in range(300):
        write = asyncio.create_task(database.write(lambda conn: conn.run(ADD)))
        await asyncio.sleep(0.0005 * (turn % 4))
        write.cancel()
        await asyncio.gather(write, return_exceptions=True)
    assert await asyncio.wait_for(database.write(lambda conn: conn.run(ADD)), 10) == 1


async def test_a_function_that_ends_the_transaction_itself_is_told_and_the_next_works(
    database: SqliteDatabase,
) -> None:
    busy, go_on = threading.Event(), threading.Event()

    def slow(conn: Connection) -> None:
        busy.set()
        go_on.wait(20)

    writes = [asyncio.create_task(database.write(slow))]
    await asyncio.to_thread(busy.wait, 20)
    writes.append(asyncio.create_task(database.write(lambda conn: conn.raw.rollback())))
    await asyncio.sleep(0)
    go_on.set()
    answers = await asyncio.wait_for(asyncio.gather(*writes, return_exceptions=True), 10)
    assert isinstance(answers[1], DatabaseError)
    assert await database.write(lambda conn: conn.run(ADD)) == 1


def test_a_write_inside_a_write_is_refused_instead_of_waiting_for_itself(database: SqliteDatabase) -> None:
    with pytest.raises(DatabaseError, match="inside a write"):
        database.write_blocking(lambda _: database.write_blocking(lambda conn: conn.run(ADD)))


def test_a_full_disk_is_a_clear_error_and_writing_goes_on_when_there_is_room(database: SqliteDatabase) -> None:
    pages = database.write_blocking(lambda conn: conn.one("PRAGMA page_count"))
    assert pages is not None
    database.write_blocking(lambda conn: conn.all(f"PRAGMA max_page_count = {pages[0]}"))
    with pytest.raises(DatabaseUnavailable, match="the disk is full; make room"):
        database.write_blocking(lambda conn: [conn.run(ADD) for _ in range(5000)])
    database.write_blocking(lambda conn: conn.all("PRAGMA max_page_count = 100000"))
    assert database.write_blocking(lambda conn: conn.run(ADD)) == 1
    assert database.read_blocking(lambda conn: conn.one("SELECT count(*) FROM notes")) == (1,)


def test_a_closed_database_says_so(path: Path) -> None:
    database = SqliteDatabase(path)
    database.open()
    database.close()
    with pytest.raises(DatabaseUnavailable, match="is closed"):
        database.write_blocking(lambda conn: conn.one("SELECT 1"))


def test_a_lock_that_is_held_too_long_is_a_clear_error_and_nothing_is_written(
    database: SqliteDatabase, path: Path
) -> None:
    with lock_held_elsewhere(path) as holder:
        began = time.monotonic()
        with pytest.raises(DatabaseUnavailable, match=r"has held the database's write lock for 0\.2 s; see which one"):
            database.write_blocking(lambda conn: conn.run(ADD))
        assert time.monotonic() - began >= 0.2
        assert database.read_blocking(lambda conn: conn.one("SELECT count(*) FROM notes")) == (0,)
        holder.communicate()
    assert database.write_blocking(lambda conn: conn.run(ADD)) == 1


async def test_a_lock_that_is_given_up_in_time_is_waited_for(path: Path, database: SqliteDatabase) -> None:
    patient = SqliteDatabase(path)
    patient.open()
    with lock_held_elsewhere(path) as holder:
        write = asyncio.create_task(patient.write(lambda conn: conn.run(ADD)))
        done, _ = await asyncio.wait({write}, timeout=0.3)
        assert not done
        holder.communicate()
        assert await write == 1
    patient.close()


def test_small_writes_go_through_while_other_processes_commit_batches(database: SqliteDatabase, path: Path) -> None:
    patient = SqliteDatabase(path)
    patient.open()
    command = [sys.executable, str(WRITER), str(path), "batches", "2.0"]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    took = []
    small = 0
    while any(writer.poll() is None for writer in writers):
        began = time.monotonic()
        patient.write_blocking(lambda conn: conn.run(ADD))
        took.append(time.monotonic() - began)
        small += 1
        time.sleep(0.002)
    answers = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    batches = [int(committed) for committed, _ in answers]
    assert min(batches) > 5, "both got their turn"
    took.sort()
    # Through SQLite's own busy handler single writes took up to 1.5 s here.
    assert took[len(took) * 9 // 10] < 0.25
    rows = patient.read_blocking(lambda conn: conn.one("SELECT count(*) FROM notes"))
    assert rows == (small + 500 * sum(batches),)
    patient.close()
