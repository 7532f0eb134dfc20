"""Waiting for what another process, thread or socket does in its own time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

PATIENCE: Final = 180.0
"""How long an event may take before it counts as one that never comes, in seconds.

A test goes on when the event is there, so only what hangs takes this long; a machine that is slow and busy does not.
"""

Eventually = Callable[[Callable[[], Any]], Awaitable[Any]]
Until = Callable[[Callable[[], Any]], Any]


@pytest.fixture
def eventually() -> Eventually:
    """Waits until a condition (a function, or one that gives an awaitable) is true, and gives what it gave."""

    async def wait(condition: Callable[[], Any]) -> Any:
        async with asyncio.timeout(PATIENCE):
            while True:
                answer = condition()
                if isinstance(answer, Awaitable):
                    answer = await answer
                if answer:
                    return answer
                await asyncio.sleep(0.005)

    return wait
