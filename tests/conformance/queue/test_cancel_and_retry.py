"""Cancelling a task, and the one way back."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from kurabito.clock import ManualClock, to_datetime
from kurabito.runtime.errors import TaskConflict, TaskFinished, TaskNotFound
from kurabito.runtime.model import MAX_LOST_LEASES, Progress
from kurabito.runtime.outcomes import Success
from kurabito.runtime.port import Beat, Queue
from kurabito.runtime.states import ACTIVE, TERMINAL, TaskState

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands

NO_IDS = [UUID(int=7), str(UUID(int=8)), "", "garbage", "../../etc/passwd", "0" * 31, "☃", "'; DROP TABLE tasks; --"]


@pytest.mark.parametrize("state", sorted(ACTIVE))
async def test_an_active_task_can_be_cancelled(
    queue: Queue, hands: Hands, clock: ManualClock, state: TaskState
) -> None:
    task = await hands.bring(state)
    clock.advance(1)
    cancelled = await queue.cancel(task.id)
    assert cancelled == await queue.get(task.id)
    assert cancelled.state is TaskState.CANCELLED
    assert cancelled.finished_at == to_datetime(clock.now())
    assert (cancelled.next_run_at, cancelled.lease_expires_at) == (None, None)
    clock.advance(3600)
    assert await queue.work.promote() == 0
    assert await queue.work.recover() == 0
    assert await hands.claim("work") == []
    assert (await queue.get(task.id)) == cancelled


async def test_a_running_task_that_was_cancelled_ignores_its_worker(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one()
    cancelled = await queue.cancel(task.id)
    assert queue.work.heartbeat([Beat(claim, Progress(5))]) == [claim]
    assert not await hands.settle(claim, Success(b"1"))
    assert await queue.get(task.id) == cancelled


@pytest.mark.parametrize("state", sorted(TERMINAL))
async def test_a_finished_task_cannot_be_cancelled(queue: Queue, hands: Hands, state: TaskState) -> None:
    task = await hands.bring(state)
    with pytest.raises(TaskFinished, match=str(state)):
        await queue.cancel(str(task.id))
    assert await queue.get(task.id) == task


@pytest.mark.parametrize("task_id", NO_IDS)
async def test_what_is_no_tasks_id_is_not_found(queue: Queue, task_id: str) -> None:
    await queue.enqueue("work")
    for ask in (queue.get, queue.cancel, queue.retry, queue.history, queue.wait):
        with pytest.raises(TaskNotFound):
            await ask(task_id)


@pytest.mark.parametrize("state", [TaskState.DEAD, TaskState.CANCELLED])
async def test_a_dead_or_cancelled_task_can_be_retried_and_starts_again(
    queue: Queue, hands: Hands, clock: ManualClock, state: TaskState
) -> None:
    task = await hands.bring(state, payload="kept", priority=3, unique_key="key", max_attempts=1)
    clock.advance(1)
    again = await queue.retry(task.id)
    assert again == await queue.get(task.id)
    assert (again.id, again.state, again.attempts, again.lost_leases) == (task.id, TaskState.QUEUED, 0, 0)
    assert (again.payload_as(str), again.priority, again.created_at) == ("kept", 3, task.created_at)
    assert (again.started_at, again.finished_at, again.next_run_at) == (None, None, None)
    assert (await queue.enqueue("work", unique_key="key")).id == task.id
    claim = await hands.claim_one()
    assert claim.attempt == 1
    assert await hands.settle(claim)
    assert (await queue.get(task.id)).state is TaskState.SUCCEEDED


@pytest.mark.parametrize("state", [*sorted(ACTIVE), TaskState.SUCCEEDED])
async def test_no_other_task_can_be_retried(queue: Queue, hands: Hands, state: TaskState) -> None:
    task = await hands.bring(state)
    with pytest.raises(TaskConflict, match=str(state)):
        await queue.retry(task.id)
    assert await queue.get(task.id) == task


@pytest.mark.parametrize("other", sorted(ACTIVE))
async def test_a_task_whose_key_is_taken_meanwhile_cannot_be_retried(
    queue: Queue, hands: Hands, other: TaskState
) -> None:
    task = await hands.bring(TaskState.CANCELLED, unique_key="key")
    newer = await hands.bring(other, unique_key="key")
    with pytest.raises(TaskConflict, match="key"):
        await queue.retry(task.id)
    assert await queue.get(task.id) == task
    await queue.cancel(newer.id)
    assert (await queue.retry(task.id)).state is TaskState.QUEUED


async def test_a_worker_of_the_life_before_a_retry_is_ignored(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    old = await hands.claim_one()
    await queue.cancel(task.id)
    await queue.retry(task.id)
    assert not await hands.settle(old)
    new = await hands.claim_one()
    assert not await hands.settle(old)
    assert queue.work.heartbeat([Beat(old), Beat(new)]) == [old]
    assert (await queue.get(task.id)).state is TaskState.RUNNING


async def test_a_cancelled_worker_is_told_to_look(queue: Queue, hands: Hands) -> None:
    task = await hands.bring(TaskState.RUNNING)
    with hands.listening(queue.work.interrupts) as rung:
        waiting = await queue.enqueue("work")
        await queue.cancel(waiting.id)
        await queue.ping()
        assert not rung.is_set()
        await queue.cancel(task.id)
        await hands.soon(rung)


async def test_a_retried_task_may_lose_as_many_workers_as_a_new_one(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    task = await queue.enqueue("work")
    for life in ("first", "second"):
        for lost in range(1, MAX_LOST_LEASES + 1):
            await hands.claim_one()
            clock.advance(30)
            await queue.work.recover()
            assert (await queue.get(task.id)).lost_leases == lost, life
        assert (await queue.get(task.id)).state is TaskState.DEAD
        assert (await queue.retry(task.id)).lost_leases == 0
