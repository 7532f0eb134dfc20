"""A queue of each kind, for workers that run in the test's own process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from kurabito.runtime import Queue, open_queue

Eventually = Callable[[Callable[[], Any]], Awaitable[Any]]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return "memory://" if request.param == "memory" else str(request.getfixturevalue(f"migrated_{request.param}"))


@pytest.fixture
async def queue(url: str) -> AsyncIterator[Queue]:
    async with open_queue(url) as queue:
        yield queue


@pytest.fixture
def eventually() -> Eventually:
    """Waits until a condition (a function, or one that gives an awaitable) is true, and gives what it gave."""

    async def wait(condition: Callable[[], Any]) -> Any:
        async with asyncio.timeout(20):
            while True:
                answer = condition()
                answer = await answer if asyncio.iscoroutine(answer) else answer
                if answer:
                    return answer
                # Threads, processes and servers are looked at, not waited for by a fixed time.
                await asyncio.sleep(0.005)

    return wait
