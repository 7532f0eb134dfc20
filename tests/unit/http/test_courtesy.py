"""Turns at a host."""

from __future__ import annotations

import asyncio

from kurabito.clock import SECOND, ManualClock
from kurabito.http.throttle import Courtesy


class Visits:
    """Guests that stay until they are told to leave."""

    def __init__(self, clock: ManualClock, courtesy: Courtesy) -> None:
        self._clock = clock
        self._courtesy = courtesy
        self._began = clock.now()
        self._leave: dict[str, asyncio.Event] = {}
        self.came: list[tuple[str, float]] = []
        self._tasks: list[asyncio.Task[None]] = []

    def visit(self, name: str, host: str = "a.example") -> None:
        self._leave[name] = asyncio.Event()
        self._tasks.append(asyncio.create_task(self._stay(name, host)))

    async def leave(self, *names: str) -> None:
        for name in names:
            self._leave[name].set()
        await settle()

    async def _stay(self, name: str, host: str) -> None:
        async with self._courtesy.turn(host):
            self.came.append((name, (self._clock.now() - self._began) / SECOND))
            await self._leave[name].wait()


async def settle() -> None:
    """Let everything that can go on go on."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_two_at_once_and_the_next_in_order(clock: ManualClock) -> None:
    visits = Visits(clock, Courtesy(clock))
    for name in "abcd":
        visits.visit(name)
    visits.visit("elsewhere", "b.example")
    await settle()
    assert sorted(name for name, _ in visits.came) == ["a", "b", "elsewhere"]
    await visits.leave("b")
    assert visits.came[-1][0] == "c"
    await visits.leave("a", "c", "d", "elsewhere")
    assert visits.came[-1][0] == "d"


async def test_an_interval_lies_between_the_starts(clock: ManualClock) -> None:
    courtesy = Courtesy(clock, at_once=5, interval=1.0)
    courtesy.pace("slow.example", 10.0)
    visits = Visits(clock, courtesy)
    for name in "abc":
        visits.visit(name)
    visits.visit("s", "slow.example")
    visits.visit("t", "slow.example")
    for _ in range(12):
        await settle()
        clock.advance(1.0)
    await settle()
    assert sorted(visits.came) == [("a", 0.0), ("b", 1.0), ("c", 2.0), ("s", 0.0), ("t", 10.0)]
    await visits.leave("a", "b", "c", "s", "t")


async def test_a_host_that_asked_for_rest_is_left_alone_and_others_are_not(clock: ManualClock) -> None:
    courtesy = Courtesy(clock)
    visits = Visits(clock, courtesy)
    async with courtesy.turn("a.example"):
        courtesy.hold_off("a.example", 5.0)
        courtesy.hold_off("a.example", 2.0)
    visits.visit("b")
    visits.visit("c", "c.example")
    await settle()
    assert visits.came == [("c", 0.0)]
    clock.advance(4.0)
    await settle()
    assert visits.came == [("c", 0.0)]
    clock.advance(1.0)
    await settle()
    assert visits.came == [("c", 0.0), ("b", 5.0)]
    await visits.leave("b", "c")


async def test_a_guest_that_gives_up_waiting_leaves_its_place(clock: ManualClock) -> None:
    courtesy = Courtesy(clock, at_once=1, interval=5.0)
    visits = Visits(clock, courtesy)
    visits.visit("a")
    await settle()
    await visits.leave("a")
    impatient = asyncio.create_task(visits._stay("a", "a.example"))
    await settle()
    impatient.cancel()
    await settle()
    visits.visit("b")
    clock.advance(5.0)
    await settle()
    assert [name for name, _ in visits.came] == ["a", "b"]
    await visits.leave("b")


async def test_hosts_are_forgotten_when_there_are_many(clock: ManualClock) -> None:
    courtesy = Courtesy(clock, interval=1.0)
    for number in range(1500):
        async with courtesy.turn(f"h{number}.example"):
            clock.advance(0.01)
    assert len(courtesy._hosts) < 1102
