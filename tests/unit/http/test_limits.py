"""Work within a time: nothing that it opened is lost when its caller leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kurabito.clock import ManualClock
from kurabito.http.limits import within


async def test_what_comes_in_the_moment_of_a_cancellation_is_discarded_and_not_lost() -> None:
    discarded: list[str] = []

    async def connect() -> str:
        # Done in the same step in which its caller is cancelled: both are true, and the caller never sees the outcome.
        caller.cancel()
        return "connection"

    caller = asyncio.create_task(within(ManualClock(), 5, connect(), discard=_into(discarded)))
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert discarded == ["connection"]


async def test_what_does_not_let_itself_be_stopped_in_time_is_discarded_too() -> None:
    discarded: list[str] = []
    clock, connecting = ManualClock(), asyncio.Event()

    async def connect() -> str:
        connecting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "connection"
        raise AssertionError

    caller = asyncio.create_task(within(clock, 5, connect(), discard=_into(discarded)))
    await connecting.wait()
    clock.advance(5)
    with pytest.raises(TimeoutError):
        await caller
    assert discarded == ["connection"]


async def test_what_comes_in_time_is_the_callers() -> None:
    discarded: list[str] = []

    async def connect() -> str:
        return "connection"

    assert await within(ManualClock(), 5, connect(), discard=_into(discarded)) == "connection"
    assert discarded == []


def _into(discarded: list[str]) -> Callable[[str], Awaitable[None]]:
    async def discard(connection: str) -> None:
        discarded.append(connection)

    return discard
