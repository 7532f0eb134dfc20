"""How claims end, and what becomes of the task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.clock import SECOND, ManualClock, to_datetime
from kurabito.runtime.model import Progress
from kurabito.runtime.outcomes import Failure, Outcome, Released, Snoozed, Success
from kurabito.runtime.port import Beat, Queue
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks import payloads

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands


async def test_success_finishes_the_task_with_its_result(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one(worker="anna")
    clock.advance(3)
    assert await hands.settle(claim, Success(payloads.encode({"found": 2})[0]))
    done = await queue.get(task.id)
    assert (done.state, done.attempts, done.result) == (TaskState.SUCCEEDED, 1, {"found": 2})
    assert done.finished_at == done.updated_at == to_datetime(clock.now())
    assert done.started_at == task.created_at
    assert (done.lease_expires_at, done.next_run_at, done.last_error, done.worker) == (None, None, None, "anna")
    assert done.finished


async def test_a_failure_schedules_the_next_attempt(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one()
    clock.advance(2)
    await hands.settle(claim, Failure("ValueError: broken", retry_in=8.0))
    failed = await queue.get(task.id)
    assert (failed.state, failed.attempts, failed.last_error) == (TaskState.RETRY_SCHEDULED, 1, "ValueError: broken")
    assert failed.next_run_at == to_datetime(clock.now() + 8 * SECOND)
    assert (failed.finished_at, failed.lease_expires_at) == (None, None)
    assert [(error.attempt, error.at, error.error) for error in failed.errors] == [
        (1, to_datetime(clock.now()), "ValueError: broken")
    ]
    clock.advance(8)
    await queue.work.promote()
    assert (await hands.claim_one()).attempt == 2


async def test_the_fifth_failure_is_the_last(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work")
    for attempt in range(1, 6):
        claim = await hands.claim_one()
        assert claim.attempt == attempt
        await hands.settle(claim, Failure(f"broken {attempt}", retry_in=1.0))
        clock.advance(1)
        await queue.work.promote()
    dead = await queue.get(task.id)
    assert (dead.state, dead.attempts, dead.last_error) == (TaskState.DEAD, 5, "broken 5")
    assert [error.error for error in dead.errors] == [f"broken {attempt}" for attempt in range(1, 6)]
    assert dead.finished_at is not None
    assert await hands.claim("work") == []


@pytest.mark.parametrize(
    ("own", "handlers", "executions"), [(None, 1, 1), (None, 3, 3), (2, 5, 2), (7, 5, 7), (1, 5, 1)]
)
async def test_a_tasks_own_limit_of_attempts_goes_before_its_handlers(
    queue: Queue, hands: Hands, clock: ManualClock, own: int | None, handlers: int, executions: int
) -> None:
    task = await queue.enqueue("work", max_attempts=own)
    done = 0
    while claims := await hands.claim("work"):
        done += 1
        await hands.settle(claims[0], Failure("broken", retry_in=1.0, max_attempts=handlers))
        clock.advance(1)
        await queue.work.promote()
    record = await queue.get(task.id)
    assert (done, record.attempts, record.max_attempts) == (executions, executions, executions)
    assert record.state is TaskState.DEAD


async def test_a_permanent_failure_is_dead_at_once(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    await hands.settle(await hands.claim_one(), Failure("hopeless", permanent=True))
    dead = await queue.get(task.id)
    assert (dead.state, dead.attempts, dead.last_error) == (TaskState.DEAD, 1, "hopeless")
    assert dead.next_run_at is None


async def test_a_failure_without_a_wait_is_due_at_once(queue: Queue, hands: Hands) -> None:
    await queue.enqueue("work")
    await hands.settle(await hands.claim_one(), Failure("broken", retry_in=0.0))
    assert await hands.claim("work") == []
    assert await queue.work.promote() == 1
    assert (await hands.claim_one()).attempt == 2


async def test_a_postponed_task_comes_back_with_its_attempt(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work")
    await hands.settle(await hands.claim_one(), Snoozed(10.0))
    later = await queue.get(task.id)
    assert (later.state, later.attempts, later.last_error) == (TaskState.RETRY_SCHEDULED, 0, None)
    assert later.next_run_at == to_datetime(clock.now() + 10 * SECOND)
    clock.advance(10)
    await queue.work.promote()
    assert (await hands.claim_one()).attempt == 1


async def test_a_task_that_is_put_back_is_claimable_at_once_with_its_attempt(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    await hands.settle(await hands.claim_one(), Released())
    back = await queue.get(task.id)
    assert (back.state, back.attempts, back.lost_leases) == (TaskState.QUEUED, 0, 0)
    assert (back.lease_expires_at, back.finished_at, back.last_error) == (None, None, None)
    assert (await hands.claim_one()).attempt == 1


async def test_attempts_given_back_never_use_up_the_limit(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work", max_attempts=2)
    back: list[Outcome] = [Released(), Snoozed(1.0), Failure("broken"), Released(), Snoozed(1.0), Released()]
    for outcome in back:
        assert await hands.settle(await hands.claim_one(), outcome)
        clock.advance(1)
        await queue.work.promote()
    assert (await queue.get(task.id)).attempts == 1
    await hands.settle(await hands.claim_one(), Failure("broken"))
    assert (await queue.get(task.id)).state is TaskState.DEAD


async def test_progress_and_errors_stay_when_a_task_comes_back(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one()
    assert queue.work.heartbeat([Beat(claim, Progress(3, 10))]) == []
    await hands.settle(claim, Failure("broken"))
    await queue.work.promote()
    again = await hands.claim_one()
    assert again.progress == Progress(3, 10)
    await hands.settle(again)
    done = await queue.get(task.id)
    assert (done.progress, done.last_error, len(done.errors)) == (Progress(3, 10), "broken", 1)


@pytest.mark.parametrize("outcome", [Success(), Failure("broken"), Snoozed(5.0), Released()])
async def test_what_was_reported_after_the_last_heartbeat_is_kept(queue: Queue, hands: Hands, outcome: Outcome) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one()
    queue.work.heartbeat([Beat(claim, Progress(3, 10))])
    claim.progress = Progress(9, 10)
    await hands.settle(claim, outcome)
    assert (await queue.get(task.id)).progress == Progress(9, 10)


async def test_a_lost_claim_writes_no_progress(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one()
    await queue.cancel(task.id)
    claim.progress = Progress(9, 10)
    assert not await hands.settle(claim)
    assert (await queue.get(task.id)).progress is None


async def test_follow_ups_are_stored_with_the_success(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    existing = await queue.enqueue("next", unique_key="known")
    await queue.enqueue("work")
    follow_ups = (
        hands.prepared("next", "a", priority=2),
        hands.prepared("next", "b", delay=5.0),
        hands.prepared("next", "c", unique_key="known"),
    )
    await hands.settle(await hands.claim_one(), Success(follow_ups=follow_ups))
    first, second = await queue.get(follow_ups[0].id), await queue.get(follow_ups[1].id)
    assert (first.state, first.priority, first.payload_as(str)) == (TaskState.QUEUED, 2, "a")
    assert second.next_run_at == to_datetime(clock.now() + 5 * SECOND)
    assert {record.id for record in await hands.rows(task_type="next")} == {existing.id, first.id, second.id}


async def test_a_lost_success_brings_no_follow_ups(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one()
    await queue.cancel(task.id)
    assert not await hands.settle(claim, Success(follow_ups=(hands.prepared("next"),)))
    assert await hands.rows(task_type="next") == []


async def test_many_claims_are_settled_at_once_each_in_its_way(queue: Queue, hands: Hands) -> None:
    outcomes: list[Outcome] = [
        Success(),
        Failure("x"),
        Failure("y", permanent=True),
        Snoozed(9.0),
        Released(),
        Success(),
    ]
    await queue.enqueue_many([("work", place) for place in range(6)])
    claims = await hands.claim("work")
    await queue.cancel(claims[5].id)
    lost = await queue.work.settle(list(zip(claims, outcomes, strict=True)))
    assert lost == [claims[5]]
    assert [(await queue.get(claim.id)).state.value for claim in claims] == [
        "succeeded", "retry_scheduled", "dead", "retry_scheduled", "queued", "cancelled",
    ]  # fmt: skip


async def test_a_claim_settles_first_and_may_take_what_that_freed(queue: Queue, hands: Hands) -> None:
    await queue.enqueue_many([("work", place) for place in range(3)])
    first, second = await hands.claim("work", limit=2)
    cancelled = await queue.cancel(second.id)
    follow_up = hands.prepared("next", priority=1)
    claimed = await queue.work.claim(
        "worker", {"work": 5, "next": 5}, 5, settling=[(first, Success(follow_ups=(follow_up,))), (second, Success())]
    )
    assert claimed.lost == [second]
    assert [claim.task_type for claim in claimed.tasks] == ["next", "work"]
    assert claimed.tasks[0].id == follow_up.id
    assert (await queue.get(first.id)).state is TaskState.SUCCEEDED
    assert await queue.get(second.id) == cancelled


async def test_a_claim_with_no_limit_only_settles(queue: Queue, hands: Hands) -> None:
    tasks = await queue.enqueue_many([("work", 1), ("work", 2)])
    claim = await hands.claim_one()
    claimed = await queue.work.claim("worker", {"work": 5}, 0, settling=[(claim, Success())])
    assert (claimed.tasks, claimed.lost) == ([], [])
    assert (await queue.get(tasks[0].id)).state is TaskState.SUCCEEDED
    assert (await queue.get(tasks[1].id)).state is TaskState.QUEUED


async def test_settling_nothing_is_fine(queue: Queue) -> None:
    assert await queue.work.settle([]) == []


async def test_a_very_long_error_is_cut_and_an_odd_one_kept(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    await hands.settle(await hands.claim_one(), Failure("x" * 100_000 + "\x00the end ☃"))
    error = (await queue.get(task.id)).last_error
    assert error is not None
    assert len(error) < 20_000
    assert error.endswith("the end ☃")
