"""A queue of each kind, for workers that run in the test's own process."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kurabito.runtime import Queue, open_queue


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return "memory://" if request.param == "memory" else str(request.getfixturevalue(f"migrated_{request.param}"))


@pytest.fixture
async def queue(url: str) -> AsyncIterator[Queue]:
    async with open_queue(url) as queue:
        yield queue
