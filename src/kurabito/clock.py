"""Time as an object, so that tests move it instead of sleeping.

Every moment is an integer: microseconds since the epoch, UTC.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

SECOND: Final = 1_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_BOOTTIME: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_LOOK_EVERY: Final = 0.002


class Timer(Protocol):
    """A call that is to come."""

    def cancel(self) -> None:
        """Have it not come."""
        ...


class Clock(Protocol):
    """Tells the time and waits for it."""

    def now(self) -> int:
        """Microseconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Seconds that go on when the time is set. They stand still while the machine sleeps, as every wait does."""
        ...

    def since_boot(self) -> float:
        """Seconds that go on when the time is set and while the machine sleeps, as a lease does on another machine."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait until so many seconds have passed."""
        ...

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait until `event` is set or `seconds` have passed; true when it was the event."""
        ...

    def wait_blocking(self, event: threading.Event, seconds: float) -> bool:
        """As `wait`, for a thread that may wait."""
        ...

    def call_later(self, seconds: float, call: Callable[..., object], *arguments: Any) -> Timer:
        """Call something in this coroutine's event loop once so many seconds have passed."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> int:
        return time.time_ns() // 1000

    # Itself: a worker asks for every task that it starts.
    monotonic = staticmethod(time.monotonic)

    def since_boot(self) -> float:
        return time.clock_gettime(_BOOTTIME)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        if event.is_set():
            return True
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True

    def wait_blocking(self, event: threading.Event, seconds: float) -> bool:
        return event.wait(max(0.0, seconds))

    def call_later(self, seconds: float, call: Callable[..., object], *arguments: Any) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, call, *arguments)


class ManualClock:
    """A clock that stands still until it is told to advance."""

    def __init__(self, start: int = 1_700_000_000 * SECOND) -> None:
        self._now = start
        self._begin = start
        self._moved = threading.Condition()
        self._waiting: set[_Waiting] = set()

    def now(self) -> int:
        return self._now

    def monotonic(self) -> float:
        return (self._now - self._begin) / SECOND

    def since_boot(self) -> float:
        return self.monotonic()

    def advance(self, seconds: float) -> None:
        """Move time forward and wake whatever waits for it."""
        with self._moved:
            self._now += round(seconds * SECOND)
            due = [waiting for waiting in self._waiting if waiting.until <= self._now]
            self._waiting.difference_update(due)
            self._moved.notify_all()
        for waiting in due:
            waiting.fire()

    async def sleep(self, seconds: float) -> None:
        await self.wait(asyncio.Event(), seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        if event.is_set() or seconds <= 0:
            return event.is_set()
        over = asyncio.Event()
        timer = self.call_later(seconds, over.set)
        both = [asyncio.ensure_future(event.wait()), asyncio.ensure_future(over.wait())]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            return event.is_set()
        finally:
            timer.cancel()
            for each in both:
                each.cancel()

    def wait_blocking(self, event: threading.Event, seconds: float) -> bool:
        until = self._now + round(seconds * SECOND)
        with self._moved:
            # An event has no way to ring us, so it is looked at now and then; the time itself is never waited for.
            while not event.is_set() and self._now < until:
                self._moved.wait(_LOOK_EVERY)
        return event.is_set()

    def call_later(self, seconds: float, call: Callable[..., object], *arguments: Any) -> Timer:
        waiting = _Waiting(self, self._now + round(seconds * SECOND), asyncio.get_running_loop(), call, arguments)
        with self._moved:
            if waiting.until > self._now:
                self._waiting.add(waiting)
                return waiting
        waiting.fire()
        return waiting

    def forget(self, waiting: _Waiting) -> None:
        """Expect a call no more."""
        with self._moved:
            self._waiting.discard(waiting)


class _Waiting:
    """A call of a manual clock that is to come."""

    def __init__(
        self,
        clock: ManualClock,
        until: int,
        loop: asyncio.AbstractEventLoop,
        call: Callable[..., object],
        arguments: tuple[Any, ...],
    ) -> None:
        self.until = until
        self._clock = clock
        self._loop = loop
        self._call = call
        self._arguments = arguments
        self._handle: asyncio.Handle | None = None

    def fire(self) -> None:
        if not self._loop.is_closed():
            self._handle = self._loop.call_soon_threadsafe(self._call, *self._arguments)

    def cancel(self) -> None:
        self._clock.forget(self)
        if self._handle is not None:
            self._handle.cancel()


def to_datetime(moment: int) -> datetime:
    """The moment as an aware datetime in UTC."""
    return _EPOCH + timedelta(microseconds=moment)


def optional_datetime(moment: int | None) -> datetime | None:
    """As `to_datetime`, for a moment that may not have come: None stays None."""
    return None if moment is None else to_datetime(moment)


def from_datetime(moment: datetime) -> int:
    """The aware datetime as microseconds since the epoch."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
