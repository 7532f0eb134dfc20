"""A clock that is moved by hand waits for no real time, in coroutines, in threads and in calls that are to come."""

from __future__ import annotations

import asyncio
import threading

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import SECOND, Clock, ManualClock, SystemClock


async def test_a_wait_ends_when_its_time_has_come_and_not_before() -> None:
    clock = ManualClock()
    waiting = asyncio.create_task(clock.wait(asyncio.Event(), 60.0))
    await asyncio.sleep(0)
    clock.advance(59.9)
    await asyncio.sleep(0)
    assert not waiting.done()
    clock.advance(0.1)
    assert await asyncio.wait_for(waiting, PATIENCE) is False


@pytest.mark.parametrize("clock", [ManualClock(), SystemClock()])
async def test_a_wait_ends_with_its_event(clock: Clock) -> None:
    event = asyncio.Event()
    waiting = asyncio.create_task(clock.wait(event, 3600.0))
    await asyncio.sleep(0)
    event.set()
    assert await asyncio.wait_for(waiting, PATIENCE) is True


async def test_a_thread_waits_for_the_same_time() -> None:
    clock, roused = ManualClock(), threading.Event()
    waiting = asyncio.create_task(asyncio.to_thread(clock.wait_blocking, roused, 60.0))
    # Also when the thread begins to wait only after the clock was moved.
    while not waiting.done():
        clock.advance(30.0)
        await asyncio.sleep(0)
    assert await waiting is False
    roused.set()
    assert clock.wait_blocking(roused, 60.0)


async def test_a_call_comes_once_in_the_loop_that_asked_for_it() -> None:
    clock, called, heard = ManualClock(), asyncio.Event(), []

    def note(word: str) -> None:
        heard.append((word, asyncio.get_running_loop()))
        called.set()

    clock.call_later(10.0, note, "kept")
    clock.call_later(10.0, note, "cancelled").cancel()
    # From another thread: the call still comes in this loop.
    await asyncio.to_thread(clock.advance, 10.0)
    await asyncio.wait_for(called.wait(), PATIENCE)
    clock.advance(10.0)
    await asyncio.sleep(0)
    assert heard == [("kept", asyncio.get_running_loop())]


async def test_a_call_that_is_due_can_still_be_cancelled() -> None:
    clock = ManualClock()
    heard: list[str] = []
    timer = clock.call_later(10.0, heard.append, "due")
    clock.advance(10.0)
    timer.cancel()
    await asyncio.sleep(0)
    assert heard == []


def test_all_seconds_go_with_the_time() -> None:
    clock = ManualClock()
    before = (clock.now(), clock.monotonic(), clock.since_boot())
    clock.advance(2.5)
    assert clock.now() - before[0] == 2.5 * SECOND
    assert (clock.monotonic() - before[1], clock.since_boot() - before[2]) == (2.5, 2.5)
