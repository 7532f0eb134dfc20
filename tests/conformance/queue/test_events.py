"""What a queue tells while it happens: the stream of events, and the bells that wake workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import SECOND, ManualClock, to_datetime
from kurabito.errors import InvalidInput
from kurabito.runtime.events import EVENTS
from kurabito.runtime.model import Progress
from kurabito.runtime.outcomes import Failure, Outcome, Released, Snoozed, Success
from kurabito.runtime.port import Beat, Queue
from kurabito.runtime.states import TaskState

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands


async def test_all_eight_events_are_told_in_order_with_their_facts(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    stream = queue.events()
    task = await queue.enqueue("work", max_attempts=2)
    claim = await hands.claim_one()
    clock.advance(1)
    queue.work.heartbeat([Beat(claim, Progress(1, 4)), Beat(claim)])
    await hands.settle(claim, Failure("broken", retry_in=2.5))
    due = clock.now() + 2_500_000
    clock.advance(3)
    await queue.work.promote()
    await hands.settle(await hands.claim_one(), Failure("broken again"))
    await queue.retry(task.id)
    await hands.settle(await hands.claim_one())
    other = await queue.enqueue("other")
    await queue.cancel(other.id)
    events: list[Any] = await hands.hear(stream, 13)
    assert [event.name for event in events] == [
        "Enqueued", "Started", "Progressed", "Failed", "RetryScheduled", "Started", "Failed", "Dead",
        "Enqueued", "Started", "Succeeded", "Enqueued", "Cancelled",
    ]  # fmt: skip
    assert {event.name for event in events} == set(EVENTS)
    assert all(event.task_id == task.id and event.task_type == "work" for event in events[:11])
    assert (events[12].task_id, events[12].task_type) == (other.id, "other")
    assert (events[1].attempt, events[2].done, events[2].total) == (1, 1, 4)
    assert (events[3].attempt, events[3].error) == (1, "broken")
    assert (events[4].next_run_at, events[4].backoff) == (to_datetime(due), 2.5)
    assert (events[7].attempts, events[7].last_error) == (2, "broken again")
    assert (events[9].attempt, events[10].attempt) == (1, 1)
    assert events[2].at == to_datetime(clock.now() - 3 * SECOND)


async def test_a_stream_begins_where_it_was_asked_for(queue: Queue, hands: Hands) -> None:
    await queue.enqueue("before")
    stream = queue.events()
    await queue.enqueue("after")
    late = queue.events()
    await queue.enqueue("late")
    assert [event.task_type for event in await hands.hear(stream, 2)] == ["after", "late"]
    assert [event.task_type for event in await hands.hear(late, 1)] == ["late"]


async def test_a_stream_goes_on_after_any_cursor(queue: Queue, hands: Hands) -> None:
    stream = queue.events()
    await queue.enqueue_many([("work", place) for place in range(3)])
    claims = await hands.claim("work")
    await queue.work.settle([(claim, Success()) for claim in claims])
    await queue.enqueue("last")
    events = await hands.hear(stream, 10)
    assert len({event.cursor for event in events}) == 10
    for place, event in enumerate(events[:-1]):
        assert await hands.hear(queue.events(after=event.cursor), 9 - place) == events[place + 1 :]
    following = queue.events(after=events[-1].cursor)
    newest = await queue.enqueue("newest")
    assert [event.task_id for event in await hands.hear(following, 1)] == [newest.id]


@pytest.mark.parametrize(
    "cursor", ["", "garbage", "1", "1.", ".1", "-1.2", "1.x", "1;2", "\u0661.\u0661", "9" * 50 + ".1"]
)
async def test_a_cursor_that_no_event_had_is_refused(queue: Queue, cursor: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await anext(queue.events(after=cursor))
    assert refused.value.field == "after"


async def test_a_stream_waits_for_what_comes(queue: Queue, hands: Hands) -> None:
    stream = queue.events()
    next_event = asyncio.ensure_future(anext(stream))
    await asyncio.wait({next_event}, timeout=0.01)
    assert not next_event.done()
    task = await queue.enqueue("work")
    async with asyncio.timeout(PATIENCE):
        assert (await next_event).task_id == task.id


async def test_every_listener_hears_everything(queue: Queue, hands: Hands) -> None:
    streams = [queue.events() for _ in range(3)]
    tasks = await queue.enqueue_many([("work", place) for place in range(5)])
    for stream in streams:
        assert [event.task_id for event in await hands.hear(stream, 5)] == [task.id for task in tasks]


async def test_nothing_is_told_of_what_changed_nothing(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work", unique_key="key")
    claim = await hands.claim_one()
    await queue.cancel(task.id)
    stream = queue.events()
    await hands.settle(claim, Failure("late"))
    queue.work.heartbeat([Beat(claim, Progress(1))])
    waiting = await queue.enqueue("other", unique_key="key", delay=60.0)
    assert (await queue.enqueue("other", unique_key="key", priority=1)).id == waiting.id
    assert await hands.claim("work") == []
    assert await queue.work.promote() == await queue.work.recover() == await queue.purge() == 0
    assert [(event.name, event.task_id) for event in await hands.hear_all(stream)] == [("Enqueued", waiting.id)]


async def test_a_batch_that_is_settled_tells_of_each_task(queue: Queue, hands: Hands) -> None:
    await queue.enqueue_many([("work", place) for place in range(4)])
    claims = await hands.claim("work")
    stream = queue.events()
    outcomes: list[Outcome] = [
        Snoozed(1.0),
        Failure("x"),
        Success(follow_ups=(hands.prepared("next"),)),
        Failure("y", permanent=True),
    ]
    await queue.work.settle(list(zip(claims, outcomes, strict=True)))
    told = [(event.name, event.task_id) for event in await hands.hear_all(stream)]
    for place, names in enumerate(
        [["RetryScheduled"], ["Failed", "RetryScheduled"], ["Succeeded"], ["Failed", "Dead"]]
    ):
        assert [name for name, task_id in told if task_id == claims[place].id] == names
    assert [name for name, task_id in told if task_id not in {claim.id for claim in claims}] == ["Enqueued"]


async def test_a_task_that_took_down_too_many_workers_is_told_of(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    task = await queue.enqueue("work")
    for _ in range(2):
        await hands.claim_one()
        clock.advance(30)
        await queue.work.recover()
    await hands.claim_one()
    stream = queue.events()
    clock.advance(30)
    await queue.work.recover()
    (dead,) = [event for event in await hands.hear_all(stream) if event.name == "Dead"]
    assert dead.task_id == task.id
    assert "WORKER_LOST" in dead.last_error  # type: ignore[attr-defined]


async def enqueue(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    return queue.enqueue("work")


async def enqueue_many(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    return queue.enqueue_many([("work", 1)])


async def schedule(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    return queue.enqueue("work", delay=60.0)


async def enqueue_in_a_transaction(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    return queue.transact(lambda conn: queue.enqueue_in(conn, "work"))


async def retry(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    return queue.retry((await hands.bring(TaskState.DEAD)).id)


async def promote(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    await hands.bring(TaskState.RETRY_SCHEDULED)
    clock.advance(60)
    return queue.work.promote()


async def recover(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    await hands.bring(TaskState.RUNNING)
    clock.advance(30)
    return queue.work.recover()


async def fire(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    await queue.work.fire("hourly", 1, hands.prepared())
    return queue.work.fire("hourly", 2, hands.prepared())


async def put_back(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    await queue.enqueue("work")
    return hands.settle(await hands.claim_one(), Released())


async def fail(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    await queue.enqueue("work")
    return hands.settle(await hands.claim_one(), Failure("broken", retry_in=5.0))


async def follow_up(queue: Queue, hands: Hands, clock: ManualClock) -> Awaitable[Any]:
    await queue.enqueue("work")
    return hands.settle(await hands.claim_one(), Success(follow_ups=(hands.prepared(),)))


Deed = Callable[[Queue, "Hands", ManualClock], Awaitable[Awaitable[Any]]]


@pytest.mark.parametrize(
    "deed",
    [
        enqueue,
        enqueue_many,
        schedule,
        enqueue_in_a_transaction,
        retry,
        promote,
        recover,
        fire,
        put_back,
        fail,
        follow_up,
    ],
)
async def test_workers_are_woken_when_there_is_something_to_claim_or_a_new_time_to_wait_for(
    queue: Queue, hands: Hands, clock: ManualClock, deed: Deed
) -> None:
    prepared = await deed(queue, hands, clock)
    with hands.listening(queue.work.arrivals) as rung:
        await prepared
        await hands.soon(rung)
