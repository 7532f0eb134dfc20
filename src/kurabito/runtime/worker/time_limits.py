"""Time limits of coroutines: one that is over its limit is cancelled, and given up when it does not heed that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kurabito.runtime.outcomes import Claim
from kurabito.runtime.worker.endings import too_long
from kurabito.runtime.worker.execution import LAST_CHANCE

T = TypeVar("T")


class TimeLimits:
    """Keeps coroutines to their limits."""

    def __init__(self, give_up: Callable[[Claim], None]) -> None:
        self._give_up = give_up
        """Called when a coroutine goes on although it was cancelled."""
        self._ends: dict[int, tuple[float, Claim]] = {}
        self.abandoned: set[asyncio.Task[None]] = set()
        """Slots whose coroutine was given up, and goes on."""

    def abandon(self, slot: asyncio.Task[None]) -> None:
        """Remember a slot until its coroutine ends after all."""
        self.abandoned.add(slot)
        slot.add_done_callback(self.abandoned.discard)

    async def keep(self, claim: Claim, limit: float, awaited: Awaitable[T]) -> T:
        """What the handler returns within so many seconds."""
        self._ends[id(claim)] = (time.monotonic() + limit + LAST_CHANCE, claim)
        giving_up = asyncio.get_running_loop().call_later(limit + LAST_CHANCE, self._give_up, claim)
        timer = asyncio.timeout(limit)
        try:
            async with timer:
                return await awaited
        except TimeoutError:
            if timer.expired():
                raise too_long(limit) from None
            raise
        finally:
            giving_up.cancel()
            del self._ends[id(claim)]

    def overdue(self, by: float) -> Claim | None:
        """A task whose limit was over so many seconds ago and that was not given up: the event loop stands still.

        Safe in any thread.
        """
        now = time.monotonic()
        return next((claim for end, claim in self._ends.copy().values() if end + by < now), None)
