"""A real database of each kind: SQLite in a file, PostgreSQL in the server of this run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kurabito.db import Database, open_database


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'some.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    chosen: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "fresh_postgres")
    return chosen


@contextmanager
def opened(url: str) -> Iterator[Database]:
    database = open_database(url)
    database.open()
    try:
        yield database
    finally:
        database.close()


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with opened(url) as database:
        yield database


@pytest.fixture
def sqlite_database(sqlite_url: str) -> Iterator[Database]:
    with opened(sqlite_url) as database:
        yield database
