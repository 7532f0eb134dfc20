"""The database port: what a function of a connection can rely on, on both engines."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from kurabito.clock import ManualClock
from kurabito.db import Connection, Database, Dialect, open_database
from kurabito.db.errors import UniqueConflict


@pytest.fixture(autouse=True)
def _notes(database: Database) -> None:
    database.write_blocking(lambda conn: conn.script("CREATE TABLE notes (id bigint PRIMARY KEY, text text UNIQUE)"))


def insert(number: int, text: str | None = None) -> Callable[[Connection], int]:
    sql = "INSERT INTO notes (id, text) VALUES (:id, :text)"
    return lambda conn: conn.run(sql, {"id": number, "text": text or f"note {number}"})


def count(conn: Connection) -> int:
    row = conn.one("SELECT count(*) FROM notes")
    assert row is not None
    return int(row[0])


async def test_what_a_function_wrote_is_there_once_it_returned(database: Database) -> None:
    assert await database.write(insert(1)) == 1
    assert await database.read(count) == 1
    assert await database.read(lambda conn: conn.all("SELECT id, text FROM notes")) == [(1, "note 1")]


async def test_nothing_of_a_function_that_raised_is_there(database: Database) -> None:
    def half(conn: Connection) -> None:
        conn.run("INSERT INTO notes (id) VALUES (1)")
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await database.write(half)
    assert await database.read(count) == 0


async def test_a_function_that_fails_undoes_only_itself_among_those_that_commit_with_it(database: Database) -> None:
    busy, go_on = threading.Event(), threading.Event()

    def first(conn: Connection) -> None:
        busy.set()
        go_on.wait(20)
        conn.run("INSERT INTO notes (id) VALUES (1)")

    def failing(conn: Connection) -> None:
        conn.run("INSERT INTO notes (id) VALUES (2)")
        raise LookupError("mine")

    writes: list[asyncio.Task[Any]] = [asyncio.create_task(database.write(first))]
    await asyncio.to_thread(busy.wait, 20)
    writes.append(asyncio.create_task(database.write(failing)))
    writes.append(asyncio.create_task(database.write(insert(3))))
    await asyncio.sleep(0)
    go_on.set()
    answers = await asyncio.gather(*writes, return_exceptions=True)
    assert isinstance(answers[1], LookupError)
    assert answers[2] == 1
    assert await database.read(lambda conn: conn.all("SELECT id FROM notes ORDER BY id")) == [(1,), (3,)]


async def test_a_unique_value_that_is_taken_is_told_by_its_own_error(database: Database) -> None:
    await database.write(insert(1, "same"))
    with pytest.raises(UniqueConflict):
        await database.write(insert(2, "same"))
    assert await database.read(count) == 1


async def test_many_writers_of_one_process_all_get_their_answer(database: Database) -> None:
    answers = await asyncio.gather(*[database.write(insert(number)) for number in range(500)])
    assert answers == [1] * 500
    assert await database.read(count) == 500


async def test_a_reader_sees_one_moment_while_a_writer_goes_on(database: Database) -> None:
    began, written = threading.Event(), threading.Event()

    def look_twice(conn: Connection) -> tuple[int, int]:
        before = count(conn)
        began.set()
        written.wait(20)
        return before, count(conn)

    await database.write(insert(1))
    looking = asyncio.create_task(database.read(look_twice))
    await asyncio.to_thread(began.wait, 20)
    await database.write(insert(2))
    written.set()
    assert await looking == (1, 1)
    assert await database.read(count) == 2


async def test_a_reader_does_not_wait_for_a_writer(database: Database) -> None:
    busy, go_on = threading.Event(), threading.Event()

    def slow(conn: Connection) -> None:
        conn.run("INSERT INTO notes (id) VALUES (1)")
        busy.set()
        go_on.wait(20)

    writing = asyncio.create_task(database.write(slow))
    await asyncio.to_thread(busy.wait, 20)
    assert await asyncio.wait_for(database.read(count), 10) == 0
    go_on.set()
    await writing


def test_the_moment_of_a_transaction_stands_still_and_can_be_injected(url: str) -> None:
    clock = ManualClock()
    database = open_database(url, clock=clock)
    database.open()

    def look(conn: Connection) -> list[int]:
        moments = [conn.now()]
        clock.advance(5)
        row = conn.one("SELECT CAST(:now AS bigint)")
        assert row is not None
        return [*moments, row[0]]

    before = clock.now()
    assert database.write_blocking(look) == [before, before]
    assert database.write_blocking(look) == [before + 5_000_000] * 2
    database.close()


def test_a_connection_that_the_caller_opened_commits_when_the_caller_does(database: Database, url: str) -> None:
    mine = sqlite3.connect(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else psycopg.connect(url)
    try:
        database.wrap(mine).run("INSERT INTO notes (id) VALUES (:id)", {"id": 7})
        assert database.read_blocking(count) == 0
        mine.commit()
        assert database.read_blocking(count) == 1
    finally:
        mine.close()


def level(conn: Connection) -> Any:
    """Whether a commit waits for the disk, as the database says it."""
    row = conn.one("PRAGMA synchronous" if conn.dialect is Dialect.SQLITE else "SHOW synchronous_commit")
    assert row is not None
    return row[0]


def waits_or_not(database: Database) -> tuple[Any, Any]:
    return (2, 1) if database.dialect is Dialect.SQLITE else ("on", "off")


def test_only_what_need_not_be_durable_does_not_wait_for_the_disk(database: Database) -> None:
    waits, does_not_wait = waits_or_not(database)
    begun, go_on = threading.Event(), threading.Event()

    def slow(conn: Connection) -> Any:
        begun.set()
        assert go_on.wait(30)
        return level(conn)

    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(database.write_blocking, slow, durable=False)
        assert begun.wait(30)
        # They come while the first is under way, and must not share a commit that may be lost.
        others = [threads.submit(database.write_blocking, level, durable=durable) for durable in (True, False)]
        go_on.set()
        assert first.result() == does_not_wait
        assert others[0].result() == waits
        others[1].result()
    assert [database.write_blocking(level, durable=durable) for durable in (False, True)] == [does_not_wait, waits]


async def test_what_is_durable_does_not_wait_for_what_need_not_be(database: Database) -> None:
    begun, go_on, held = threading.Event(), threading.Event(), threading.Event()

    def slow(conn: Connection) -> None:
        begun.set()
        assert go_on.wait(30)

    first = asyncio.create_task(database.write(slow))
    assert await asyncio.to_thread(begun.wait, 30)
    # Both wait behind the first, in this order, and one commit would do for the three.
    durable = asyncio.create_task(database.write(level))
    await asyncio.sleep(0)
    other = asyncio.create_task(database.write(lambda conn: held.wait(30), durable=False))
    await asyncio.sleep(0)
    go_on.set()
    try:
        assert await asyncio.wait_for(durable, 10) == waits_or_not(database)[0]
    finally:
        held.set()
    await asyncio.gather(first, other)


async def test_the_same_holds_for_the_event_loop(database: Database) -> None:
    waits, does_not_wait = waits_or_not(database)
    found = [await database.write(level, durable=durable) for durable in (False, True)]
    assert [*found, await database.write(level)] == [does_not_wait, waits, waits]
