"""Time as an object, so that tests move it instead of sleeping.

Every moment is an integer: microseconds since the epoch, UTC.
"""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

SECOND: Final = 1_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    """Tells the time and waits for it."""

    def now(self) -> int:
        """Microseconds since the epoch."""
        ...

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait until `event` is set or `seconds` have passed; true when it was the event."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> int:
        return time.time_ns() // 1000

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        if event.is_set():
            return True
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True


class ManualClock:
    """A clock that stands still until it is told to advance."""

    def __init__(self, start: int = 1_700_000_000 * SECOND) -> None:
        self._now = start
        self._lock = threading.Lock()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def now(self) -> int:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move time forward and wake the waiters whose time has come."""
        with self._lock:
            self._now += round(seconds * SECOND)
            waiting = list(self._waiting)
        for loop, moved in waiting:
            loop.call_soon_threadsafe(moved.set)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        until = self._now + round(seconds * SECOND)
        entry = (asyncio.get_running_loop(), asyncio.Event())
        happened = asyncio.ensure_future(event.wait())
        with self._lock:
            self._waiting.add(entry)
        try:
            while not event.is_set() and self._now < until:
                entry[1].clear()
                moved = asyncio.ensure_future(entry[1].wait())
                await asyncio.wait({happened, moved}, return_when=asyncio.FIRST_COMPLETED)
                moved.cancel()
            return event.is_set()
        finally:
            happened.cancel()
            with self._lock:
                self._waiting.discard(entry)


def to_datetime(moment: int) -> datetime:
    """The moment as an aware datetime in UTC."""
    return _EPOCH + timedelta(microseconds=moment)


def from_datetime(moment: datetime) -> int:
    """The aware datetime as microseconds since the epoch."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
