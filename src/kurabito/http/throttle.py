"""Politeness: few requests to one host at a time, not too fast, and none before its Retry-After."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from kurabito.clock import SECOND, Clock

_REMEMBERED: Final = 1000


@dataclass(slots=True)
class _Host:
    slots: asyncio.Semaphore
    door: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the guest that goes in next, so that those who wait for the time also keep their order."""
    next_start: int = 0
    guests: int = 0


class Courtesy:
    """Gives turns, host by host, in the order in which they were asked for."""

    def __init__(self, clock: Clock, *, at_once: int = 2, interval: float = 0.0) -> None:
        self._clock = clock
        self._at_once = at_once
        self._interval = interval
        self._intervals: dict[str, float] = {}
        self._hosts: dict[str, _Host] = {}

    def pace(self, host: str, interval: float) -> None:
        """Let this many seconds pass from the start of one request to this host to the start of the next."""
        self._intervals[host] = interval

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until the host may be asked, and keep one of its slots meanwhile."""
        visited = self._hosts.setdefault(host, _Host(asyncio.Semaphore(self._at_once)))
        visited.guests += 1
        try:
            async with visited.slots:
                async with visited.door:
                    while (early := visited.next_start - self._clock.now()) > 0:
                        await pause(self._clock, early / SECOND)
                    visited.next_start = self._clock.now() + round(self._intervals.get(host, self._interval) * SECOND)
                yield
        finally:
            visited.guests -= 1
            self._forget()

    def hold_off(self, host: str, seconds: float) -> None:
        """Send no request to this host for a while. Called by the request that has the host's turn."""
        visited = self._hosts[host]
        visited.next_start = max(visited.next_start, self._clock.now() + round(seconds * SECOND))

    def _forget(self) -> None:
        if len(self._hosts) <= _REMEMBERED:
            return
        now = self._clock.now()
        for host in [host for host, known in self._hosts.items() if not known.guests and known.next_start <= now]:
            del self._hosts[host]


async def pause(clock: Clock, seconds: float) -> None:
    """Let time pass."""
    await clock.wait(asyncio.Event(), seconds)
