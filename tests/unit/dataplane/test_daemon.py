"""The frame of the data plane, with runners made up for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.dataplane.plane import DataPlane
from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.errors import DatabaseUnavailable
from kurabito.protocol import planes


@pytest.fixture
async def database(migrated_sqlite: str) -> AsyncIterator[Database]:
    database = open_database(migrated_sqlite)
    database.open()
    migrate(database, PRODUCT)
    database.write_blocking(lambda conn: conn.script("CREATE TABLE rows (id INTEGER PRIMARY KEY, done INTEGER)"))
    yield database
    database.close()


class Rows:
    """A runner that does one row at a time."""

    name = "rows"

    def __init__(self, database: Database) -> None:
        self._database = database
        self.looked = 0
        self.stopped = threading.Event()
        self.fails = 0

    def work(self) -> bool:
        self.looked += 1
        if self.fails:
            self.fails -= 1
            raise DatabaseUnavailable("gone for a moment")
        sql = "UPDATE rows SET done = 1 WHERE id = (SELECT min(id) FROM rows WHERE done IS NULL)"
        return self._database.write_blocking(lambda conn: conn.run(sql)) == 1

    def stop(self) -> None:
        self.stopped.set()


def add(database: Database, *ids: int) -> None:
    def store(conn: Connection) -> None:
        for number in ids:
            conn.run("INSERT INTO rows (id) VALUES (:id)", {"id": number})

    database.write_blocking(store)


def undone(database: Database) -> int:
    rows = database.read_blocking(lambda conn: conn.all("SELECT id FROM rows WHERE done IS NULL"))
    return len(rows)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(plane: DataPlane) -> AsyncIterator[None]:
    task = asyncio.create_task(plane.run())
    try:
        yield
    finally:
        plane.stop()
        await task


async def test_a_row_that_another_process_commits_is_found_without_waiting(
    database: Database, migrated_sqlite: str
) -> None:
    runner = Rows(database)
    # The clock stands still, so nothing but the commit can wake the runner.
    async with running(DataPlane(database, [runner], name="plane", clock=ManualClock())):
        await until(lambda: runner.looked >= 1)
        other = open_database(migrated_sqlite)
        other.open()
        add(other, 1, 2, 3)
        other.close()
        await until(lambda: undone(database) == 0)
    assert runner.stopped.is_set()


async def test_it_is_on_the_list_while_it_lives(database: Database) -> None:
    async with running(DataPlane(database, [Rows(database)], name="plane")):
        await until(lambda: bool(database.read_blocking(planes.living)))
        (record,) = database.read_blocking(planes.living)
        assert (record.name, record.lines) == ("plane", ("rows",))
    assert database.read_blocking(planes.living) == []


async def test_it_goes_on_saying_that_it_lives(database: Database) -> None:
    clock = ManualClock()
    async with running(DataPlane(database, [], name="plane", heartbeat=5.0, clock=clock)):
        await until(lambda: bool(database.read_blocking(planes.living)))
        (first,) = database.read_blocking(planes.living)

        def beaten() -> bool:
            clock.advance(5.1)
            (now,) = database.read_blocking(planes.living)
            return now.heartbeat_at > first.heartbeat_at and now.started_at == first.started_at

        await until(beaten)


async def test_a_runner_that_fails_is_tried_again_and_disturbs_no_other(database: Database) -> None:
    clock, bad, good = ManualClock(), Rows(database), Rows(database)
    bad.fails = 2
    async with running(DataPlane(database, [bad, good], name="plane", clock=clock)):
        await until(lambda: bad.looked >= 1 and good.looked >= 1)

        def tried_again() -> bool:
            clock.advance(6.0)
            return bad.looked >= 3

        await until(tried_again)


async def test_draining_does_what_is_there_and_returns(database: Database) -> None:
    add(database, *range(5))
    await DataPlane(database, [Rows(database)], name="plane").drain()
    assert undone(database) == 0
    assert database.read_blocking(planes.living) == []
