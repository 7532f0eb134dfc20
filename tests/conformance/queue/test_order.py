"""Which task is claimed next: priority, then age; and when a task that waits for its time may run."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.clock import SECOND, ManualClock, to_datetime
from kurabito.runtime.model import NewTask
from kurabito.runtime.outcomes import Failure, Released, Snoozed
from kurabito.runtime.port import Queue
from kurabito.runtime.states import Priority, TaskState

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands

MICROSECOND = 1 / SECOND


async def test_equal_priority_is_first_in_first_out(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    for place in range(5):
        await queue.enqueue("work", place)
        clock.advance(place % 2)
    assert await hands.order("work") == [0, 1, 2, 3, 4]


async def test_a_larger_priority_goes_first_whatever_its_age(queue: Queue, hands: Hands) -> None:
    for name, priority in [("a", 0), ("b", -5), ("c", Priority.HIGH), ("d", 0), ("e", 70), ("f", Priority.HIGH)]:
        await queue.enqueue("work", name, priority=priority)
    assert await hands.order("work") == ["e", "c", "f", "a", "d", "b"]


async def test_one_claim_of_many_comes_in_the_order_of_starting(queue: Queue, hands: Hands) -> None:
    tasks = await queue.enqueue_many([NewTask("work", priority=place % 3) for place in range(9)])
    expected = [tasks[place].id for place in (2, 5, 8, 1, 4, 7, 0, 3, 6)]
    assert [claim.id for claim in await hands.claim("work")] == expected


async def test_priority_holds_across_types(queue: Queue, hands: Hands) -> None:
    for name, task_type, priority in [("a", "x", 0), ("b", "y", 0), ("c", "y", 1), ("d", "x", 1), ("e", "z", 2)]:
        await queue.enqueue(task_type, name, priority=priority)
    assert await hands.order("x", "y", "z") == ["e", "c", "d", "a", "b"]


async def test_tasks_with_unique_keys_keep_the_order_in_which_they_were_given(queue: Queue, hands: Hands) -> None:
    await queue.enqueue_many([NewTask("work", key, unique_key=key) for key in "dbca"])
    assert await hands.order("work") == ["d", "b", "c", "a"]


async def test_tasks_with_and_without_a_key_keep_the_order_in_which_they_were_given(queue: Queue, hands: Hands) -> None:
    keys = ["x", None, "c", None, "a"]
    await queue.enqueue_many([NewTask("work", place, unique_key=key) for place, key in enumerate(keys)])
    assert await hands.order("work") == [0, 1, 2, 3, 4]


async def test_a_claim_takes_only_the_types_it_names(queue: Queue, hands: Hands) -> None:
    await queue.enqueue("other")
    assert await hands.claim("work") == []
    assert [claim.task_type for claim in await hands.claim("work", "other")] == ["other"]


async def test_a_claim_takes_no_more_than_its_limit(queue: Queue, hands: Hands) -> None:
    await queue.enqueue_many([("work", place) for place in range(5)])
    assert [len(await hands.claim("work", limit=2)) for _ in range(4)] == [2, 2, 1, 0]


async def test_a_claim_takes_no_more_of_a_type_than_there_is_room_for(queue: Queue) -> None:
    for place in range(4):
        await queue.enqueue_many([("x", place), ("y", place), ("z", place)])
    claimed = await queue.work.claim("worker", {"x": 1, "y": 3, "z": 0}, 100)
    assert sorted(claim.task_type for claim in claimed.tasks) == ["x", "y", "y", "y"]


async def test_a_full_type_does_not_keep_others_from_being_claimed(queue: Queue) -> None:
    await queue.enqueue_many([NewTask("urgent", priority=9) for _ in range(5)] + [NewTask("usual") for _ in range(5)])
    claimed = await queue.work.claim("worker", {"urgent": 2, "usual": 10}, 4)
    assert [claim.task_type for claim in claimed.tasks] == ["urgent", "urgent", "usual", "usual"]


@pytest.mark.parametrize(("capacity", "limit"), [({}, 5), ({"work": 0}, 5), ({"work": 5}, 0), ({"work": -1}, 5)])
async def test_without_room_nothing_is_claimed(queue: Queue, capacity: dict[str, int], limit: int) -> None:
    task = await queue.enqueue("work")
    assert (await queue.work.claim("worker", capacity, limit)).tasks == []
    assert (await queue.get(task.id)).attempts == 0


async def test_no_task_is_claimed_twice(queue: Queue, hands: Hands) -> None:
    await queue.enqueue("work")
    assert len(await hands.claim("work", worker="one")) == 1
    assert await hands.claim("work", worker="two") == []


async def test_a_claim_tells_what_is_to_be_done(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work", {"n": 1}, max_attempts=3)
    claim = await hands.claim_one(worker="anna", lease=12.5)
    assert (claim.id, claim.task_type, claim.payload) == (task.id, "work", task.payload)
    assert (claim.attempt, claim.max_attempts, claim.lost_leases, claim.progress) == (1, 3, 0, None)
    assert claim.lease_expires_at == clock.now() + 12_500_000
    running = await queue.get(task.id)
    assert (running.state, running.attempts, running.worker) == (TaskState.RUNNING, 1, "anna")
    assert running.started_at == running.updated_at == to_datetime(clock.now())
    assert running.lease_expires_at == to_datetime(claim.lease_expires_at)


@pytest.mark.parametrize("how", ["delay", "timedelta", "run_at"])
async def test_a_task_with_a_time_is_scheduled_until_exactly_then(
    queue: Queue, hands: Hands, clock: ManualClock, how: str
) -> None:
    due = to_datetime(clock.now() + 30 * SECOND)
    given: dict[str, Any] = {"delay": 30.0} if how == "delay" else {"delay": timedelta(seconds=30)}
    task = await queue.enqueue("work", **({"run_at": due} if how == "run_at" else given))
    assert (task.state, task.attempts, task.next_run_at) == (TaskState.RETRY_SCHEDULED, 0, due)
    clock.advance(30 - MICROSECOND)
    assert await queue.work.promote() == 0
    assert await hands.claim("work") == []
    assert (await queue.get(task.id)).state is TaskState.RETRY_SCHEDULED
    clock.advance(MICROSECOND)
    assert await queue.work.promote() == 1
    promoted = await queue.get(task.id)
    assert (promoted.state, promoted.attempts, promoted.next_run_at) == (TaskState.QUEUED, 0, None)
    assert [claim.id for claim in await hands.claim("work")] == [task.id]


@pytest.mark.parametrize("seconds", [0, -60])
async def test_a_time_that_is_not_ahead_queues_at_once(
    queue: Queue, hands: Hands, clock: ManualClock, seconds: int
) -> None:
    task = await queue.enqueue("work", run_at=to_datetime(clock.now() + seconds * SECOND))
    assert (task.state, task.next_run_at) == (TaskState.QUEUED, None)
    assert (await queue.enqueue("work", delay=0.0)).state is TaskState.QUEUED
    assert len(await hands.claim("work")) == 2


async def test_promotion_keeps_first_in_first_out(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    await queue.enqueue("work", "oldest, due last", delay=20.0)
    await queue.enqueue("work", "old, due first", delay=10.0)
    await queue.enqueue("work", "urgent", delay=15.0, priority=1)
    await queue.enqueue("work", "young")
    clock.advance(20)
    assert await queue.work.promote() == 3
    assert await hands.order("work") == ["urgent", "oldest, due last", "old, due first", "young"]


async def test_promotion_queues_all_that_is_due_and_no_more(queue: Queue, clock: ManualClock) -> None:
    await queue.enqueue_many([NewTask("work", delay=float(seconds)) for seconds in range(1, 6)])
    clock.advance(3)
    assert await queue.work.promote() == 3
    assert await queue.work.promote() == 0
    counts = await queue.counts_by_state()
    assert (counts[TaskState.QUEUED], counts[TaskState.RETRY_SCHEDULED]) == (3, 2)


@pytest.mark.parametrize("outcome", [Failure("broken", retry_in=5.0), Snoozed(5.0), Released()])
async def test_a_task_that_comes_back_keeps_its_place(
    queue: Queue, hands: Hands, clock: ManualClock, outcome: Any
) -> None:
    await queue.enqueue("work", "first")
    await queue.enqueue("work", "second")
    await hands.settle(await hands.claim_one(), outcome)
    clock.advance(5)
    await queue.work.promote()
    assert await hands.order("work") == ["first", "second"]


async def test_a_claim_that_finds_nothing_says_when_to_come_back(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    async def due_in() -> float | None:
        return (await queue.work.claim("worker", {"work": 1}, 1)).due_in

    assert await due_in() is None
    late = await queue.enqueue("work", delay=60.0)
    assert await due_in() == 60.0
    early = await queue.enqueue("other", delay=12.5)
    assert await due_in() == 12.5
    clock.advance(2.5)
    assert await due_in() == 10.0
    clock.advance(20)
    assert await due_in() == 0.0
    await queue.cancel(early.id)
    assert await due_in() == 37.5
    await queue.cancel(late.id)
    assert await due_in() is None


@pytest.mark.parametrize("count", [1, 300])
async def test_cancelled_and_upgraded_tasks_leave_no_trace_in_the_order(queue: Queue, hands: Hands, count: int) -> None:
    """Many at once, because a queue may put off its tidying until there is enough of it."""
    keys = [f"key {place}" for place in range(count)]
    tasks = await queue.enqueue_many([NewTask("work", key, unique_key=key) for key in keys])
    for task in tasks[::3]:
        await queue.cancel(task.id)
    for key in keys[1::3]:
        await queue.enqueue("work", unique_key=key, priority=1)
    for task in tasks[::6]:
        await queue.retry(task.id)
    upgraded = keys[1::3]
    plain = [key for place, key in enumerate(keys) if place % 3 == 2 or place % 6 == 0]
    assert await hands.order("work") == upgraded + plain


@pytest.mark.parametrize("delay", [None, 5.0])
async def test_when_most_tasks_are_cancelled_the_others_are_still_there(
    queue: Queue, hands: Hands, clock: ManualClock, delay: float | None
) -> None:
    tasks = await queue.enqueue_many([NewTask("work", place, delay=delay) for place in range(200)])
    for task in tasks[10:190]:
        await queue.cancel(task.id)
    clock.advance(5)
    await queue.work.promote()
    assert await hands.order("work") == [*range(10), *range(190, 200)]
