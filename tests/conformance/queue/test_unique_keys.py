"""A unique key: while an active task has it, asking again gives that task."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from kurabito.clock import ManualClock
from kurabito.runtime.model import NewTask
from kurabito.runtime.outcomes import Failure, Success
from kurabito.runtime.port import Queue
from kurabito.runtime.states import ACTIVE, TERMINAL, Priority, TaskState
from kurabito.runtime.tasks.intake import prepare

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands


@pytest.mark.parametrize("state", sorted(ACTIVE))
async def test_an_active_task_stands_for_every_request_with_its_key(
    queue: Queue, hands: Hands, state: TaskState
) -> None:
    task = await hands.bring(state, unique_key="key", payload="first")
    again = await queue.enqueue("other", "second", unique_key="key", delay=5.0)
    assert again == task
    assert [record.id for record in await hands.rows()] == [task.id]


@pytest.mark.parametrize("state", sorted(TERMINAL))
async def test_a_finished_task_gives_its_key_back(queue: Queue, hands: Hands, state: TaskState) -> None:
    task = await hands.bring(state, unique_key="key")
    again = await queue.enqueue("work", unique_key="key")
    assert again.id != task.id
    assert again.state is TaskState.QUEUED
    assert (await queue.enqueue("work", unique_key="key")).id == again.id


async def test_keys_that_differ_and_tasks_without_a_key_are_apart(queue: Queue, hands: Hands) -> None:
    for key in ("a", "A", "a ", None, None):
        await queue.enqueue("work", unique_key=key)
    assert len(await hands.rows()) == 5


@pytest.mark.parametrize("state", [TaskState.QUEUED, TaskState.RETRY_SCHEDULED])
async def test_a_higher_priority_raises_a_task_that_waits(
    queue: Queue, hands: Hands, clock: ManualClock, state: TaskState
) -> None:
    first = await queue.enqueue("work", "first", delay=60.0 if state is TaskState.RETRY_SCHEDULED else None)
    task = await hands.bring(state, unique_key="key", payload="raised")
    clock.advance(1)
    raised = await queue.enqueue("work", unique_key="key", priority=Priority.HIGH)
    assert (raised.id, raised.created_at, raised.state) == (task.id, task.created_at, state)
    assert (raised.priority, (await queue.get(task.id)).priority) == (1, 1)
    assert first.id != task.id
    clock.advance(60)
    await queue.work.promote()
    assert await hands.order("work") == ["raised", "first"]


async def test_a_lower_priority_does_not_lower_it(queue: Queue) -> None:
    task = await queue.enqueue("work", unique_key="key", priority=5)
    assert (await queue.enqueue("work", unique_key="key", priority=-3)).priority == 5
    assert (await queue.get(task.id)).priority == 5


async def test_a_running_task_keeps_its_priority(queue: Queue, hands: Hands) -> None:
    task = await hands.bring(TaskState.RUNNING, unique_key="key")
    again = await queue.enqueue("work", unique_key="key", priority=9)
    assert (again.id, again.priority, again.state) == (task.id, 0, TaskState.RUNNING)


async def test_a_key_is_unique_inside_one_batch_too(queue: Queue, hands: Hands) -> None:
    old = await queue.enqueue("work", unique_key="old")
    tasks = await queue.enqueue_many(
        [
            NewTask("work", 1, unique_key="new"),
            NewTask("work", 2),
            NewTask("work", 3, unique_key="old", priority=2),
            NewTask("work", 4, unique_key="new", priority=7),
            NewTask("work", 5, unique_key="new", priority=1),
        ]
    )
    assert tasks[0].id == tasks[3].id == tasks[4].id
    assert tasks[2].id == old.id
    assert len(await hands.rows()) == 3
    first, raised = await queue.get(tasks[0].id), await queue.get(old.id)
    assert (first.payload_as(int), first.priority, raised.priority) == (1, 7, 2)


async def test_of_many_requests_at_once_one_makes_the_task(queue: Queue, hands: Hands) -> None:
    tasks = await asyncio.gather(*(queue.enqueue("work", place, unique_key="key") for place in range(30)))
    assert len({task.id for task in tasks}) == 1
    assert len(await hands.rows()) == 1


async def test_a_task_that_will_be_retried_keeps_its_key(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work", unique_key="key")
    await hands.settle(await hands.claim_one(), Failure("broken", retry_in=5.0))
    assert (await queue.enqueue("work", unique_key="key")).id == task.id


async def test_a_follow_up_may_take_the_key_of_the_task_that_asks_for_it(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work", unique_key="key")
    follow_up = hands.prepared("work", unique_key="key")
    await hands.settle(await hands.claim_one(), Success(follow_ups=(follow_up,)))
    assert (await queue.get(task.id)).state is TaskState.SUCCEEDED
    assert (await queue.get(follow_up.id)).state is TaskState.QUEUED


async def test_who_prepares_a_task_can_tell_it_from_one_that_had_the_key(queue: Queue) -> None:
    first, second = prepare("work", unique_key="key"), prepare("work", unique_key="key")
    records = [(await queue.enqueue_many([task]))[0] for task in (first, second)]
    assert [record.id for record in records] == [first.id, first.id]
    assert (await queue.get(first.id)).task_type == "work"
