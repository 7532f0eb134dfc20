"""Libraries over a real database and real folders; time is moved by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kurabito.app.compose.library import LibraryParts, open_library
from kurabito.clock import ManualClock
from kurabito.db import migrate
from kurabito.db.migrate import PRODUCT
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"migrated_{request.param}"))


@pytest.fixture
async def queue(url: str, clock: ManualClock) -> AsyncIterator[SqlQueue]:
    async with open_queue(url, clock=clock) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        yield queue


@pytest.fixture
def shelves(queue: SqlQueue, tmp_path: Path) -> LibraryParts:
    for name in ("state", "downloads", "films", "series"):
        (tmp_path / name).mkdir()
    settings = Settings(state=tmp_path / "state", download_root=tmp_path / "downloads")
    return open_library(settings, queue)
