"""Waiting for what another process, thread or socket does in its own time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

Eventually = Callable[[Callable[[], Any]], Awaitable[Any]]


@pytest.fixture
def eventually() -> Eventually:
    """Waits until a condition (a function, or one that gives an awaitable) is true, and gives what it gave."""

    async def wait(condition: Callable[[], Any]) -> Any:
        async with asyncio.timeout(30):
            while True:
                answer = condition()
                if isinstance(answer, Awaitable):
                    answer = await answer
                if answer:
                    return answer
                await asyncio.sleep(0.005)

    return wait
