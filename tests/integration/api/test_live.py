"""The one reader of events, and those who listen to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from kurabito.api.live import Live, LiveListener
from kurabito.errors import DatabaseUnavailable
from kurabito.runtime import Queue, open_queue
from kurabito.runtime.events import TaskEvent

if TYPE_CHECKING:
    from tests.support.waiting import Eventually


async def heard(listener: LiveListener) -> list[str] | None:
    told = await listener.hear(30.0)
    return None if told is None else [each.event.task_type for each in told]


async def test_a_listener_hears_what_happens_after_it_came() -> None:
    async with open_queue("memory://") as queue, Live(queue) as live:
        await queue.enqueue("before")
        with live.listen() as early:
            assert await heard(early) == ["before"]
            with live.listen() as late:
                await queue.enqueue("after")
                assert await heard(early) == ["after"]
                assert await heard(late) == ["after"]


async def test_a_listener_that_the_ring_has_gone_past_is_dropped_and_the_others_are_not() -> None:
    async with open_queue("memory://") as queue, Live(queue, kept=4) as live:
        with live.listen() as slow, live.listen() as quick:
            for place in range(4):
                await queue.enqueue(f"task {place}")
                assert await heard(quick) == [f"task {place}"]
            await queue.enqueue("one too many")
            assert await heard(quick) == ["one too many"]
            assert await heard(slow) is None


async def test_a_listener_resumes_anywhere_in_the_ring_and_nowhere_else() -> None:
    async with open_queue("memory://") as queue, Live(queue, kept=4) as live:
        with live.listen() as listener:
            cursors = []
            for place in range(6):
                await queue.enqueue(f"task {place}")
                told = await listener.hear(30.0)
                assert told is not None
                cursors.append(told[0].event.cursor)
        with live.listen(cursors[2]) as back:
            assert (back.missed, await heard(back)) == (False, ["task 3", "task 4", "task 5"])
        with live.listen(cursors[5]) as back:
            assert not back.missed
        with live.listen(cursors[1]) as back:
            assert back.missed
        assert live.newest == cursors[5]


async def test_a_burst_larger_than_the_ring_does_not_drop_a_listener_that_keeps_up() -> None:
    async with open_queue("memory://") as queue, Live(queue, kept=1024) as live:
        with live.listen() as listener:
            await queue.enqueue_many([("scan", place) for place in range(20_000)])
            count = 0
            while count < 20_000:
                told = await listener.hear(30.0)
                assert told, f"dropped after {count}"
                count += len(told)


async def test_everybody_is_released_when_it_ends() -> None:
    async with open_queue("memory://") as queue, Live(queue) as live:
        with live.listen() as listener:
            waiting = asyncio.create_task(heard(listener))
            await asyncio.sleep(0)
            live.end()
            assert await waiting is None
            assert await heard(listener) is None


class Failing:
    """A queue whose stream breaks off when it is told to, as one does whose database goes away."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self.broken = asyncio.Event()
        self.asked_after: list[str | None] = []

    async def events(self, *, after: str | None = None) -> AsyncIterator[TaskEvent]:
        self.asked_after.append(after)
        stream = self._queue.events(after=after)
        while True:
            event = asyncio.ensure_future(anext(stream))
            broken = asyncio.ensure_future(self.broken.wait())
            await asyncio.wait({event, broken}, return_when=asyncio.FIRST_COMPLETED)
            broken.cancel()
            if not event.done():
                event.cancel()
                self.broken.clear()
                raise DatabaseUnavailable("gone")
            yield event.result()


async def test_an_outage_of_the_database_loses_nothing(eventually: Eventually) -> None:
    async with open_queue("memory://") as queue:
        failing = Failing(queue)
        async with Live(failing) as live:
            await eventually(lambda: failing.asked_after)
            with live.listen() as listener:
                await queue.enqueue("before")
                assert await heard(listener) == ["before"]
                failing.broken.set()
                await eventually(lambda: not failing.broken.is_set())
                await queue.enqueue("meanwhile")
                assert await heard(listener) == ["meanwhile"]
        assert failing.asked_after[0] is None


async def test_after_an_outage_before_the_first_event_nobody_believes_to_have_heard_everything(
    eventually: Eventually,
) -> None:
    async with open_queue("memory://") as queue:
        failing = Failing(queue)
        async with Live(failing) as live:
            await eventually(lambda: failing.asked_after)
            with live.listen() as listener:
                failing.broken.set()
                assert await heard(listener) is None
