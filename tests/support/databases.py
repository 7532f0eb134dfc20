"""Databases of each kind with every table of the product in them, and what most tests open over one."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kurabito.clock import ManualClock
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT, RUNTIME
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue


@pytest.fixture
def clock() -> ManualClock:
    """The time of a test, which stands still until the test moves it."""
    return ManualClock()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """A database of each kind."""
    return str(request.getfixturevalue(f"migrated_{request.param}"))


@pytest.fixture
def database(url: str, clock: ManualClock) -> Iterator[Database]:
    """The same, open."""
    database = open_database(url, clock=clock)
    database.open()
    migrate(database, PRODUCT)
    yield database
    database.close()


@pytest.fixture
async def queue(url: str, clock: ManualClock) -> AsyncIterator[SqlQueue]:
    """The same with a queue over it."""
    async with open_queue(url, clock=clock) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        yield queue


@pytest.fixture
def migrated_sqlite(sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of a file with every table of the product in it."""
    file = tmp_path / "migrated.db"
    shutil.copyfile(sqlite_template, file)
    return f"sqlite:///{file}"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file from which others are copied; nobody may have it open."""
    file = tmp_path_factory.mktemp("template") / "kurabito.db"
    make_tables(f"sqlite:///{file}")
    return file


def make_tables(url: str) -> None:
    """Make every table of the product."""
    with closing(open_database(url)) as database:
        database.open()
        for tables in (RUNTIME, PRODUCT):
            migrate(database, tables)
