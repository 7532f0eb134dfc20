"""Time limits of coroutines: one that is over its limit is cancelled, and given up when it does not heed that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kurabito.clock import Clock
from kurabito.runtime.outcomes import Claim, too_long
from kurabito.runtime.worker.execution import LAST_CHANCE

T = TypeVar("T")


class TimeLimits:
    """Keeps coroutines to their limits."""

    def __init__(self, clock: Clock, give_up: Callable[[Claim], None]) -> None:
        self._clock = clock
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
        self._ends[id(claim)] = (self._clock.monotonic() + limit + LAST_CHANCE, claim)
        timer = asyncio.timeout(None)
        ending = self._clock.call_later(limit, _expire, timer)
        giving_up = self._clock.call_later(limit + LAST_CHANCE, self._give_up, claim)
        try:
            async with timer:
                return await awaited
        except TimeoutError:
            if timer.expired():
                raise too_long(limit) from None
            raise
        finally:
            ending.cancel()
            giving_up.cancel()
            del self._ends[id(claim)]

    def overdue(self, by: float) -> Claim | None:
        """A task whose limit was over so many seconds ago and that was not given up: the event loop stands still.

        Safe in any thread.
        """
        now = self._clock.monotonic()
        return next((claim for end, claim in self._ends.copy().values() if end + by < now), None)


def _expire(timer: asyncio.Timeout) -> None:
    """End the wait now. The clock says when: asyncio's own knows only the machine's time."""
    timer.reschedule(asyncio.get_running_loop().time())
