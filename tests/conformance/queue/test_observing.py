"""What can be seen of a queue: pages, counts, history, waiting for an end; and what is forgotten."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import SECOND, ManualClock, from_datetime, to_datetime
from kurabito.errors import InvalidInput
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.model import NewTask, TaskRecord
from kurabito.runtime.outcomes import Failure, Success
from kurabito.runtime.port import Queue
from kurabito.runtime.states import ACTIVE, TERMINAL, TaskState

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands

MICROSECOND = 1 / SECOND


async def test_tasks_are_listed_newest_first_page_by_page(queue: Queue) -> None:
    tasks = await queue.enqueue_many([("work", place) for place in range(7)])
    newest_first = [task.id for task in tasks][::-1]
    first = await queue.list(limit=3)
    second = await queue.list(limit=3, cursor=first.next_cursor)
    third = await queue.list(limit=3, cursor=second.next_cursor)
    assert [record.id for page in (first, second, third) for record in page] == newest_first
    assert [len(first), len(second), len(third)] == [3, 3, 1]
    assert third.next_cursor is None


async def test_the_last_page_says_so_also_when_it_is_full(queue: Queue) -> None:
    await queue.enqueue_many([("work", place) for place in range(4)])
    first = await queue.list(limit=2)
    second = await queue.list(limit=2, cursor=first.next_cursor)
    assert (len(second), second.next_cursor) == (2, None)
    assert (await queue.list(state="dead")).next_cursor is None


async def test_pages_have_no_gap_and_nothing_twice_while_tasks_come_and_go(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    old = [task.id for task in await queue.enqueue_many([("work", place) for place in range(10)])]
    await queue.cancel(old[5])
    seen, cursor = [], None
    while True:
        page = await queue.list(limit=3, cursor=cursor)
        seen += [record.id for record in page]
        if (cursor := page.next_cursor) is None:
            break
        await queue.enqueue_many([("work", "new"), ("work", "new")])
        clock.advance(1)
        await queue.purge(older_than=0)
        await hands.claim("work", limit=1)
    assert seen == [task_id for task_id in old[::-1] if task_id != old[5]]


async def test_a_list_is_filtered_by_state_and_type(queue: Queue, hands: Hands) -> None:
    made: dict[tuple[str, TaskState], TaskRecord] = {}
    for state in sorted(TaskState, key=lambda state: state is TaskState.QUEUED):
        for task_type in ("x", "y"):
            made[task_type, state] = await hands.bring(state, task_type)
    everything = await hands.rows()
    assert len(everything) == 12
    for state in TaskState:
        expected = [record.id for record in everything if record.state is state]
        assert [record.id for record in await queue.list(state=state)] == expected
        assert [record.id for record in await queue.list(state=state.value)] == expected
        assert [record.id for record in await queue.list(state=state, task_type="y")] == [made["y", state].id]
        assert (await queue.list(state=state, task_type="z")).items == ()
    assert [record.id for record in await queue.list(task_type="x")] == [
        record.id for record in everything if record.task_type == "x"
    ]


async def test_filtered_lists_have_pages_too(queue: Queue) -> None:
    tasks = await queue.enqueue_many([("xy"[place % 2], place) for place in range(10)])
    for task in tasks[::4]:
        await queue.cancel(task.id)
    for filters in ({"state": "queued"}, {"task_type": "x"}, {"state": "queued", "task_type": "x"}):
        expected = [record.id for record in await queue.list(limit=1000, **filters)]
        seen, cursor = [], None
        while True:
            page = await queue.list(limit=2, cursor=cursor, **filters)
            seen += [record.id for record in page]
            if (cursor := page.next_cursor) is None:
                break
        assert seen == expected


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("limit", {"limit": 0}),
        ("limit", {"limit": -1}),
        ("limit", {"limit": 1001}),
        ("limit", {"limit": "ten"}),
        ("limit", {"limit": True}),
        ("state", {"state": "asleep"}),
        ("state", {"state": ""}),
        ("cursor", {"cursor": ""}),
        ("cursor", {"cursor": "garbage"}),
        ("cursor", {"cursor": "-1"}),
        ("cursor", {"cursor": "1 OR 1=1"}),
        ("cursor", {"cursor": "9" * 40}),
        ("cursor", {"cursor": "\u0661"}),
    ],
)
async def test_a_list_that_cannot_be_given_is_refused_by_the_name_of_its_field(
    queue: Queue, field: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await queue.list(**options)
    assert refused.value.field == field


async def test_every_state_is_counted(queue: Queue, hands: Hands) -> None:
    assert await queue.counts_by_state() == dict.fromkeys(TaskState, 0)
    for times, state in enumerate(sorted(TaskState, key=lambda state: state is TaskState.QUEUED), 1):
        for place in range(times):
            await hands.bring(state, f"{state} {place}")
    counts = await queue.counts_by_state()
    assert counts[TaskState.QUEUED] == 6
    assert sorted(counts.values()) == [1, 2, 3, 4, 5, 6]
    for state in TaskState:
        assert counts[state] == len(await hands.rows(state=state))


async def test_depths_tell_each_type_and_state_with_its_oldest_task(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    assert await queue.depths() == []
    begun = to_datetime(clock.now())
    await hands.bring(TaskState.DEAD, "b")
    clock.advance(10)
    for _ in range(3):
        await queue.enqueue("b")
        clock.advance(10)
    await hands.bring(TaskState.RETRY_SCHEDULED, "a")
    found = [(depth.task_type, depth.state, depth.count, depth.oldest - begun) for depth in await queue.depths()]
    assert found == [
        ("a", TaskState.RETRY_SCHEDULED, 1, timedelta(seconds=40)),
        ("b", TaskState.DEAD, 1, timedelta(seconds=0)),
        ("b", TaskState.QUEUED, 3, timedelta(seconds=10)),
    ]


async def test_the_history_of_a_task_that_failed_twice_and_died(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work", max_attempts=2)
    for error in ("one", "two"):
        claim = await hands.claim_one()
        clock.advance(1)
        await hands.settle(claim, Failure(error, retry_in=1.0))
        clock.advance(1)
        await queue.work.promote()
    history = await queue.history(task.id)
    assert [event.name for event in history] == ["Enqueued", "Failed", "Started", "Failed", "Dead"]
    assert [event.at for event in history] == sorted(event.at for event in history)
    assert {event.task_id for event in history} == {task.id}
    assert history[0].at == task.created_at
    assert (history[3].error, history[4].attempts, history[4].last_error) == ("two", 2, "two")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("state", "names"),
    [
        (TaskState.QUEUED, ["Enqueued"]),
        (TaskState.RUNNING, ["Enqueued", "Started"]),
        (TaskState.RETRY_SCHEDULED, ["Enqueued", "RetryScheduled"]),
        (TaskState.SUCCEEDED, ["Enqueued", "Started", "Succeeded"]),
        (TaskState.DEAD, ["Enqueued", "Started", "Failed", "Dead"]),
        (TaskState.CANCELLED, ["Enqueued", "Cancelled"]),
    ],
)
async def test_the_history_of_a_task_ends_where_it_is(
    queue: Queue, hands: Hands, state: TaskState, names: list[str]
) -> None:
    task = await hands.bring(state)
    assert [event.name for event in await queue.history(task.id)] == names


async def test_the_history_tells_when_a_retry_is_due(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work")
    clock.advance(5)
    await hands.settle(await hands.claim_one(), Failure("broken", retry_in=2.5))
    last: Any = (await queue.history(task.id))[-1]
    assert (last.name, last.backoff) == ("RetryScheduled", 2.5)
    assert last.next_run_at == to_datetime(clock.now() + 2_500_000)


async def test_a_finished_task_need_not_be_waited_for(queue: Queue, hands: Hands) -> None:
    for state in sorted(TERMINAL):
        task = await hands.bring(state)
        assert await queue.wait(task.id, timeout=0) == task


@pytest.mark.parametrize("end", sorted(TERMINAL))
async def test_waiting_ends_when_the_task_does(queue: Queue, hands: Hands, end: TaskState) -> None:
    task = await queue.enqueue("work")
    waiters = [
        asyncio.create_task(queue.wait(task.id)),
        asyncio.create_task(queue.wait(str(task.id), timeout=PATIENCE)),
    ]
    claim = await hands.claim_one()
    await asyncio.wait(waiters, timeout=0.01)
    assert not any(waiter.done() for waiter in waiters)
    if end is TaskState.CANCELLED:
        await queue.cancel(task.id)
    else:
        await hands.settle(claim, Success() if end is TaskState.SUCCEEDED else Failure("broken", permanent=True))
    async with asyncio.timeout(PATIENCE):
        assert [record.state for record in await asyncio.gather(*waiters)] == [end, end]


async def test_many_can_wait_each_for_its_own_task(queue: Queue, hands: Hands) -> None:
    tasks = await queue.enqueue_many([("work", place) for place in range(20)])
    waiters = [asyncio.create_task(queue.wait(task.id)) for task in tasks]
    for claim in await hands.claim("work"):
        await hands.settle(claim)
    async with asyncio.timeout(PATIENCE):
        assert [record.id for record in await asyncio.gather(*waiters)] == [task.id for task in tasks]


async def test_waiting_gives_up_after_its_time(queue: Queue, clock: ManualClock) -> None:
    task = await queue.enqueue("work")
    waiter = asyncio.create_task(queue.wait(task.id, timeout=0.05))
    async with asyncio.timeout(PATIENCE):
        while not waiter.done():
            clock.advance(1)
            await asyncio.wait({waiter}, timeout=0.01)
    with pytest.raises(TimeoutError):
        await waiter
    assert (await queue.get(task.id)).state is TaskState.QUEUED


async def test_purging_forgets_what_finished_long_enough_ago(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    old = [await hands.bring(state) for state in sorted(TERMINAL)]
    clock.advance(100)
    young = [await hands.bring(state) for state in sorted(TERMINAL)]
    clock.advance(50 - MICROSECOND)
    assert await queue.purge(older_than=150.0) == 0
    clock.advance(MICROSECOND)
    assert await queue.purge(older_than=timedelta(seconds=150)) == 3
    for task in old:
        with pytest.raises(TaskNotFound):
            await queue.get(task.id)
    assert {record.id for record in await hands.rows()} == {task.id for task in young}
    assert sum((await queue.counts_by_state()).values()) == 3


async def test_purging_never_forgets_what_is_active(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    active = [await hands.bring(state, f"type {state}") for state in sorted(ACTIVE)]
    retried = await hands.bring(TaskState.DEAD)
    await queue.retry(retried.id)
    clock.advance(10 * 365 * 86_400)
    assert await queue.purge(older_than=0) == 0
    assert {record.id for record in await hands.rows()} == {task.id for task in [*active, retried]}


async def test_finished_tasks_are_kept_for_a_day_unless_told_otherwise(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    task = await hands.bring(TaskState.SUCCEEDED)
    clock.advance(86_400 - 1)
    assert await queue.purge() == 0
    assert (await queue.get(task.id)).finished_at == task.finished_at
    clock.advance(1)
    assert await queue.purge() == 1


async def test_what_was_purged_leaves_the_rest_as_it_was(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    await queue.enqueue_many([NewTask("work", place, unique_key=f"key {place}") for place in range(6)])
    for claim in await hands.claim("work", limit=3):
        await hands.settle(claim)
    clock.advance(1)
    assert await queue.purge(older_than=0.5) == 3
    assert await hands.order("work") == [3, 4, 5]


@pytest.mark.parametrize("older_than", [-1, "long", float("nan")])
async def test_a_purge_of_the_future_is_refused(queue: Queue, older_than: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        await queue.purge(older_than=older_than)
    assert refused.value.field == "older_than"


async def test_a_schedule_fires_each_tick_once(queue: Queue, hands: Hands) -> None:
    assert not await queue.work.fire("hourly", 100, hands.prepared(payload="new schedules begin with the next tick"))
    assert not await queue.work.fire("hourly", 100, hands.prepared())
    assert await queue.work.fire("hourly", 200, hands.prepared(payload=200))
    assert not await queue.work.fire("hourly", 200, hands.prepared())
    assert not await queue.work.fire("hourly", 150, hands.prepared())
    assert not await queue.work.fire("daily", 200, hands.prepared())
    assert await queue.work.fire("hourly", 400, hands.prepared(payload=400))
    assert await hands.order("work") == [200, 400]


async def test_a_tick_that_a_wrong_clock_counted_ahead_silences_for_one_period_at_most(
    queue: Queue, hands: Hands
) -> None:
    await queue.work.fire("hourly", 100, hands.prepared(), next_tick=200)
    assert await queue.work.fire("hourly", 900, hands.prepared(payload="far ahead"), next_tick=1000)
    # One period ahead may be right: the tick is just not due here yet.
    assert not await queue.work.fire("hourly", 800, hands.prepared(), next_tick=900)
    assert not await queue.work.fire("hourly", 200, hands.prepared(payload="begins again"), next_tick=300)
    assert await queue.work.fire("hourly", 300, hands.prepared(payload=300), next_tick=400)


async def test_a_queue_tells_the_time_it_goes_by(queue: Queue, clock: ManualClock) -> None:
    assert await queue.work.now() == clock.now()
    clock.advance(5)
    assert await queue.work.now() == clock.now()


async def test_of_many_who_see_the_same_tick_one_fires(queue: Queue, hands: Hands) -> None:
    await queue.work.fire("hourly", 1, hands.prepared())
    for tick in (2, 3):
        fired = await asyncio.gather(*(queue.work.fire("hourly", tick, hands.prepared()) for _ in range(10)))
        assert fired.count(True) == 1
    assert len(await hands.rows()) == 2


async def test_times_are_kept_to_the_microsecond(queue: Queue, clock: ManualClock) -> None:
    clock.advance(0.123457)
    task = await queue.enqueue("work", run_at=to_datetime(clock.now() + 1))
    assert task.next_run_at is not None
    assert from_datetime(task.created_at) == clock.now()
    assert from_datetime(task.next_run_at) == clock.now() + 1
