"""Tasks without a lease: whoever watches over the work moves them, in one transaction with what it writes itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from kurabito.clock import ManualClock, to_datetime
from kurabito.runtime.delegation import TaskTransaction
from kurabito.runtime.errors import TaskConflict, TaskNotFound
from kurabito.runtime.model import Progress, TaskRecord
from kurabito.runtime.outcomes import Failure, Released, Success
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import prepare

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands

TYPES = ("work", "other")


@pytest.fixture(params=["sqlite", "postgres"])
def queue_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"migrated_{request.param}"))


async def started(queue: SqlQueue, task_type: str = "work") -> TaskRecord:
    task = await queue.enqueue(task_type)
    assert await queue.delegate_write(lambda tasks: tasks.start(task.id, "plane"))
    return await queue.get(task.id)


async def test_a_started_task_is_running_and_nobody_recovers_it(
    queue: SqlQueue, hands: Hands, clock: ManualClock
) -> None:
    task = await started(queue)
    assert (task.state, task.attempts, task.worker) == (TaskState.RUNNING, 1, "plane")
    assert (task.started_at, task.lease_expires_at) == (to_datetime(clock.now()), None)
    clock.advance(3600)
    assert await queue.work.recover() == 0
    assert await hands.claim("work") == []
    assert await queue.work.expire_worker("plane") == 0
    assert await queue.get(task.id) == task


async def test_only_a_queued_task_can_be_started(queue: SqlQueue) -> None:
    task = await started(queue)
    assert not await queue.delegate_write(lambda tasks: tasks.start(task.id, "plane"))
    await queue.cancel(task.id)
    assert not await queue.delegate_write(lambda tasks: tasks.start(task.id, "plane"))
    with pytest.raises(TaskNotFound):
        await queue.delegate_write(lambda tasks: tasks.start(prepare("work").id, "plane"))


async def test_it_succeeds_with_what_follows_it(queue: SqlQueue) -> None:
    task = await started(queue)
    following = prepare("other", "next", unique_key="one")
    await queue.delegate_write(lambda tasks: tasks.settle(task.id, Success(b'{"found":2}', (following,))))
    done = await queue.get(task.id)
    assert (done.state, done.result, done.attempts) == (TaskState.SUCCEEDED, {"found": 2}, 1)
    assert (await queue.get(following.id)).state is TaskState.QUEUED


async def test_it_fails_for_good(queue: SqlQueue) -> None:
    task = await started(queue)
    await queue.delegate_write(lambda tasks: tasks.settle(task.id, Failure("no disk", permanent=True)))
    dead = await queue.get(task.id)
    assert (dead.state, dead.last_error) == (TaskState.DEAD, "no disk")
    assert [error.error for error in dead.errors] == ["no disk"]


async def test_one_that_is_put_back_waits_behind_the_others_of_its_priority(
    queue: SqlQueue, clock: ManualClock
) -> None:
    first = await started(queue)
    second = await queue.enqueue("other")
    high = await queue.enqueue("work", priority=1)
    clock.advance(60)
    await queue.delegate_write(lambda tasks: tasks.settle(first.id, Released()))
    waiting = await queue.delegate_read(lambda overview: overview.waiting(TYPES))
    assert [task.id for task in waiting] == [high.id, second.id, first.id]
    assert (waiting[2].state, waiting[2].attempts) == (TaskState.QUEUED, 0)


async def test_what_has_a_lease_is_its_workers_to_settle(queue: SqlQueue, hands: Hands) -> None:
    await queue.enqueue("work")
    claim = await hands.claim_one()
    with pytest.raises(TaskConflict, match="running"):
        await queue.delegate_write(lambda tasks: tasks.settle(claim.id, Success()))
    waiting = await queue.enqueue("other")
    with pytest.raises(TaskConflict, match="queued"):
        await queue.delegate_write(lambda tasks: tasks.settle(waiting.id, Success()))
    assert await hands.settle(claim)


async def test_every_move_is_told_once_and_in_order(queue: SqlQueue, hands: Hands) -> None:
    stream = queue.events()
    task = await started(queue)
    for _ in range(2):
        await queue.delegate_write(lambda tasks: tasks.report(task.id, Progress(3, 10)))
    assert (await queue.get(task.id)).progress == Progress(3, 10)
    await queue.delegate_write(lambda tasks: tasks.settle(task.id, Failure("broken", permanent=True)))
    heard = [event.name for event in await hands.hear_all(stream)]
    assert heard == ["Enqueued", "Started", "Progressed", "Failed", "Dead"]


async def test_nothing_remains_of_a_transaction_that_fails(queue: SqlQueue, hands: Hands) -> None:
    stream = queue.events()
    task = await queue.enqueue("work")

    def start_and_fail(tasks: TaskTransaction) -> None:
        tasks.start(task.id, "plane")
        tasks.enqueue(prepare("other"))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await queue.delegate_write(start_and_fail)
    assert (await queue.get(task.id)).state is TaskState.QUEUED
    assert [event.name for event in await hands.hear_all(stream)] == ["Enqueued"]


async def test_an_active_task_is_found_by_its_key(queue: SqlQueue) -> None:
    task = await queue.enqueue("work", unique_key="key")

    async def active() -> TaskRecord | None:
        return await queue.delegate_read(lambda overview: overview.active("key"))

    found = await active()
    assert found is not None
    assert found.id == task.id
    await queue.delegate_write(lambda tasks: tasks.cancel(task.id))
    assert await active() is None


async def test_a_wish_for_the_same_key_leads_to_the_task_that_is_there(queue: SqlQueue) -> None:
    task = await queue.enqueue("work", unique_key="key")
    again: Callable[[TaskTransaction], TaskRecord] = lambda tasks: tasks.enqueue(  # noqa: E731
        prepare("work", unique_key="key", priority=1)
    )
    assert (await queue.delegate_write(again)).id == task.id
    assert (await queue.get(task.id)).priority == 1
    alone = await queue.delegate_write(lambda tasks: tasks.enqueue(prepare("work")))
    assert alone.id != task.id


async def test_only_what_ended_long_enough_ago_is_forgotten(queue: SqlQueue, clock: ManualClock) -> None:
    old, other, waiting = [await queue.enqueue(name) for name in ("work", "other", "work")]
    await queue.cancel(old.id)
    await queue.cancel(other.id)
    clock.advance(10)
    recent = await queue.enqueue("work")
    await queue.cancel(recent.id)
    assert await queue.delegate_write(lambda tasks: tasks.forget("work", 10_000_000)) == 1
    for kept in (other, waiting, recent):
        await queue.get(kept.id)
    with pytest.raises(TaskNotFound):
        await queue.get(old.id)
