"""A database of each kind with the product's tables, and a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kurabito.clock import ManualClock
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"migrated_{request.param}"))


@pytest.fixture
def database(database_url: str, clock: ManualClock) -> Iterator[Database]:
    database = open_database(database_url, clock=clock)
    database.open()
    migrate(database, PRODUCT)
    yield database
    database.close()
