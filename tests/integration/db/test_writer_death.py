"""The thread that writes to SQLite may die of something nobody thought of. Whoever waits for it hears of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.waiting import PATIENCE

from kurabito.db.port import Connection
from kurabito.db.sqlite.database import SqliteDatabase
from kurabito.errors import DatabaseUnavailable


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "file.db")
    database.open()
    database.write_blocking(lambda conn: conn.run("CREATE TABLE things (name TEXT)"))
    yield database
    database.close()


def add(conn: Connection, name: str) -> int:
    return conn.run("INSERT INTO things (name) VALUES (:name)", {"name": name})


def names(database: SqliteDatabase) -> list[str]:
    return [name for (name,) in database.read_blocking(lambda conn: conn.all("SELECT name FROM things ORDER BY name"))]


def test_what_was_being_written_fails_and_the_next_write_works(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = database._writer
    busy, gate = threading.Event(), threading.Event()

    def wait(_conn: Connection) -> None:
        busy.set()
        assert gate.wait(PATIENCE)

    def die(*_: object) -> None:
        raise MemoryError("in the middle of it")

    first = writer.submit(wait)
    assert busy.wait(PATIENCE)
    second = writer.submit(lambda conn: add(conn, "lost"))
    monkeypatch.setattr(writer, "_committed", die)
    monkeypatch.setattr("kurabito.db.sqlite.writer.retry_while_locked", die)
    third = writer.submit(lambda conn: add(conn, "lost too"))
    gate.set()
    for asked in (first, second, third):
        with pytest.raises(DatabaseUnavailable, match="died"):
            asked.result(PATIENCE)
    monkeypatch.undo()
    # Until it is gone it refuses what comes, which is an answer too.
    writer._thread.join(PATIENCE)
    assert database.write_blocking(lambda conn: add(conn, "kept")) == 1
    assert names(database) == ["kept"]


def test_a_transaction_that_cannot_be_undone_does_not_leave_its_caller_waiting(database: SqliteDatabase) -> None:
    def close_it(conn: Connection) -> None:
        add(conn, "lost")
        conn.raw.close()

    with pytest.raises(DatabaseUnavailable, match="died"):
        database._writer.submit(close_it).result(PATIENCE)
    database._writer._thread.join(PATIENCE)
    assert database._writer.submit(lambda conn: add(conn, "kept")).result(PATIENCE) == 1
    assert names(database) == ["kept"]


async def test_a_function_that_raises_stop_iteration_is_an_error_and_no_endless_wait(database: SqliteDatabase) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await database.write(lambda _conn: next(iter([])))
    with pytest.raises(RuntimeError, match="StopIteration"):
        await database.read(lambda _conn: next(iter([])))


def test_a_closed_file_stays_closed(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "closed.db")
    database.open()
    database.close()
    with pytest.raises(DatabaseUnavailable, match="is closed"):
        database.write_blocking(lambda conn: conn.now())
