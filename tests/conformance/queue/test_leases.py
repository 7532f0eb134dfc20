"""A claim lasts as long as its lease, and only its owner may write."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.clock import SECOND, ManualClock, to_datetime
from kurabito.errors import InvalidInput, LeaseLost
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.model import MAX_LOST_LEASES, Progress
from kurabito.runtime.outcomes import Failure, Released, Snoozed, Success
from kurabito.runtime.port import Beat, Presence, Queue
from kurabito.runtime.states import TaskState

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands

MICROSECOND = 1 / SECOND
EVERY_OUTCOME = [Success(b"1"), Failure("late"), Failure("late", permanent=True), Snoozed(5.0), Released()]


async def test_a_lease_ends_at_its_moment_and_not_before(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work")
    await hands.claim_one(worker="anna", lease=30.0)
    clock.advance(30 - MICROSECOND)
    assert await queue.work.recover() == 0
    assert (await queue.get(task.id)).state is TaskState.RUNNING
    clock.advance(MICROSECOND)
    assert await queue.work.recover() == 1
    found = await queue.get(task.id)
    assert (found.state, found.attempts, found.lost_leases) == (TaskState.QUEUED, 0, 1)
    assert found.lease_expires_at is None
    assert found.last_error is not None
    assert "LEASE_EXPIRED" in found.last_error
    assert "anna" in found.last_error
    assert await queue.work.recover() == 0


async def test_a_recovered_task_goes_to_the_next_worker_in_its_old_place(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    await queue.enqueue("work", "first")
    await queue.enqueue("work", "second")
    await hands.claim_one()
    clock.advance(30)
    await queue.work.recover()
    first, second = await hands.claim("work", worker="bert")
    assert (first.attempt, first.lost_leases, second.lost_leases) == (1, 1, 0)
    assert (await queue.get(first.id)).payload_as(str) == "first"


@pytest.mark.parametrize("outcome", EVERY_OUTCOME)
async def test_a_rescued_task_ignores_its_old_worker(
    queue: Queue, hands: Hands, clock: ManualClock, outcome: Any
) -> None:
    task = await queue.enqueue("work")
    old = await hands.claim_one(worker="anna")
    clock.advance(30)
    await queue.work.recover()
    waiting = await queue.get(task.id)
    assert not await hands.settle(old, outcome)
    assert queue.work.heartbeat([Beat(old, Progress(9))]) == [old]
    assert await queue.get(task.id) == waiting
    new = await hands.claim_one(worker="bert")
    running = await queue.get(task.id)
    assert not await hands.settle(old, outcome)
    assert queue.work.heartbeat([Beat(old, Progress(9))]) == [old]
    assert await queue.get(task.id) == running
    assert await hands.settle(new, Success(b'"bert"'))
    finished = await queue.get(task.id)
    assert not await hands.settle(old, outcome)
    assert await queue.get(task.id) == finished
    assert finished.result == "bert"


async def test_two_claims_of_the_same_worker_are_told_apart(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    await queue.enqueue("work")
    old = await hands.claim_one(worker="anna")
    clock.advance(30)
    await queue.work.recover()
    new = await hands.claim_one(worker="anna")
    assert old.owner != new.owner
    assert not await hands.settle(old)
    assert queue.work.heartbeat([Beat(old), Beat(new)]) == [old]
    assert await hands.settle(new)


async def test_a_claim_is_settled_once(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one()
    assert await hands.settle(claim, Success(b"1"))
    assert not await hands.settle(claim, Failure("again"))
    done = await queue.get(task.id)
    assert (done.state, done.result, done.errors) == (TaskState.SUCCEEDED, 1, ())


async def test_a_heartbeat_renews_the_lease(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one(lease=30.0)
    clock.advance(20)
    assert queue.work.heartbeat([Beat(claim)], lease=40.0) == []
    assert (await queue.get(task.id)).lease_expires_at == to_datetime(clock.now() + 40 * SECOND)
    clock.advance(40 - MICROSECOND)
    assert await queue.work.recover() == 0
    clock.advance(MICROSECOND)
    assert await queue.work.recover() == 1


async def test_an_expired_lease_that_nobody_recovered_may_be_renewed_or_settled(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    tasks = await queue.enqueue_many([("work", 1), ("work", 2)])
    renewed, settled = await hands.claim("work")
    clock.advance(31)
    assert queue.work.heartbeat([Beat(renewed)]) == []
    assert await hands.settle(settled)
    assert await queue.work.recover() == 0
    assert (await queue.get(tasks[0].id)).state is TaskState.RUNNING
    assert (await queue.get(tasks[1].id)).state is TaskState.SUCCEEDED


async def test_a_heartbeat_writes_progress_and_leaves_it_when_there_is_no_news(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one()
    queue.work.heartbeat([Beat(claim, Progress(3))])
    assert (await queue.get(task.id)).progress == Progress(3, None)
    queue.work.heartbeat([Beat(claim, Progress(4, 8))])
    queue.work.heartbeat([Beat(claim)])
    record = await queue.get(task.id)
    assert record.progress == Progress(4, 8)
    assert record.progress.fraction == 0.5


async def test_a_heartbeat_works_from_another_thread(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    claim = await hands.claim_one()
    await queue.enqueue("work")
    other = await hands.claim_one()
    await queue.cancel(other.id)
    beats = [Beat(claim, Progress(1, 2)), Beat(other)]
    assert await asyncio.to_thread(queue.work.heartbeat, beats) == [other]
    assert (await queue.get(task.id)).progress == Progress(1, 2)


async def test_a_task_that_takes_down_three_workers_is_dead(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work", unique_key="key")
    for lost in range(1, MAX_LOST_LEASES + 1):
        await hands.claim_one(worker=f"worker {lost}")
        clock.advance(30)
        assert await queue.work.recover() == 1
    dead = await queue.get(task.id)
    assert (dead.state, dead.attempts, dead.lost_leases) == (TaskState.DEAD, 0, 3)
    assert dead.last_error is not None
    assert "WORKER_LOST" in dead.last_error
    assert dead.finished_at == to_datetime(clock.now())
    assert len(dead.errors) == 3
    assert await hands.claim("work") == []
    assert (await queue.enqueue("work", unique_key="key")).id != task.id


async def test_lost_leases_are_counted_apart_from_attempts(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    task = await queue.enqueue("work", max_attempts=2)
    for _ in range(2):
        await hands.claim_one()
        clock.advance(30)
        await queue.work.recover()
    claim = await hands.claim_one()
    assert claim.attempt == 1
    await hands.settle(claim, Failure("broken"))
    await queue.work.promote()
    assert (await queue.get(task.id)).state is TaskState.QUEUED
    last = await hands.claim_one()
    assert (last.attempt, last.lost_leases) == (2, 2)


async def test_a_claim_can_pass_over_what_is_dead_when_it_loses_one_more_worker(queue: Queue, hands: Hands) -> None:
    suspects = [(await queue.enqueue("work", priority=priority)).id for priority in (0, 5)]
    await hands.become_suspects("work")
    others = [(await queue.enqueue(task_type)).id for task_type in ("work", "work", "other")]
    # Alone of its type and among several: the stores look in different ways.
    first = await queue.work.claim("worker", {"work": 1}, 10, suspects=False)
    second = await queue.work.claim("worker", {"work": 10, "other": 10}, 10, suspects=False)
    assert [claim.id for claim in first.tasks + second.tasks] == others
    assert (await queue.work.claim("worker", {"work": 10}, 10, suspects=False)).tasks == []
    assert [claim.id for claim in await hands.claim("work")] == suspects[::-1]


async def test_recovery_takes_every_stale_task_and_no_other(queue: Queue, hands: Hands, clock: ManualClock) -> None:
    await queue.enqueue_many([("work", place) for place in range(10)])
    await hands.claim("work", limit=6, lease=10.0)
    long = await hands.claim("work", limit=2, lease=60.0)
    clock.advance(10)
    assert await queue.work.recover() == 6
    counts = await queue.counts_by_state()
    assert (counts[TaskState.QUEUED], counts[TaskState.RUNNING]) == (8, 2)
    assert queue.work.heartbeat([Beat(claim) for claim in long]) == []


async def test_the_tasks_of_a_worker_that_is_known_to_be_dead_are_recovered_at_once(queue: Queue, hands: Hands) -> None:
    await queue.enqueue_many([("work", place) for place in range(4)])
    dead = await hands.claim("work", limit=1, worker="anna") + await hands.claim("work", limit=1, worker="anna")
    living = await hands.claim("work", limit=1, worker="anna.2") + await hands.claim("work", limit=1, worker="ann")
    assert await queue.work.expire_worker("anna") == 2
    assert await queue.work.expire_worker("anna") == 0
    assert await queue.work.expire_worker("nobody") == 0
    assert await queue.work.recover() == 2
    assert [(await queue.get(claim.id)).state for claim in dead] == [TaskState.QUEUED] * 2
    assert [(await queue.get(claim.id)).state for claim in living] == [TaskState.RUNNING] * 2


@pytest.mark.parametrize("name", ["", "a#b"])
async def test_a_worker_whose_name_could_be_taken_for_an_owner_is_refused(queue: Queue, name: str) -> None:
    await queue.enqueue("work")
    with pytest.raises(InvalidInput) as refused:
        await queue.work.claim(name, {"work": 1}, 1)
    assert refused.value.field == "worker"
    assert (await queue.counts_by_state())[TaskState.QUEUED] == 1


async def test_workers_that_say_they_are_alive_are_listed(queue: Queue, clock: ManualClock) -> None:
    assert await queue.workers() == []
    queue.work.heartbeat([], lease=30.0, presence=Presence("anna", ("work", "other"), 4))
    started = to_datetime(clock.now())
    clock.advance(5)
    queue.work.heartbeat([], lease=30.0, presence=Presence("bert", (), 1))
    queue.work.heartbeat([], lease=30.0, presence=Presence("anna", ("work", "other"), 8))
    anna, bert = await queue.workers()
    assert (anna.name, anna.task_types, anna.concurrency) == ("anna", ("work", "other"), 8)
    assert (anna.started_at, anna.heartbeat_at) == (started, to_datetime(clock.now()))
    assert (bert.name, bert.task_types) == ("bert", ())
    await asyncio.to_thread(queue.work.depart, "bert")
    assert [worker.name for worker in await queue.workers()] == ["anna"]
    clock.advance(30)
    assert await queue.workers() == []


async def test_a_waiting_task_of_a_type_that_no_living_worker_runs_is_marked(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    queued = await queue.enqueue("work")
    scheduled = await queue.enqueue("work", delay=60.0)
    other = await queue.enqueue("other")
    assert queued.no_worker
    assert scheduled.no_worker
    queue.work.heartbeat([], lease=30.0, presence=Presence("anna", ("work",), 1))
    assert [record.no_worker for record in await hands.rows()] == [True, False, False]
    assert not (await queue.enqueue("work")).no_worker
    assert (await queue.get(other.id)).no_worker
    clock.advance(30)
    assert (await queue.get(queued.id)).no_worker
    await hands.claim("work")
    assert not (await queue.get(queued.id)).no_worker
    await queue.cancel(scheduled.id)
    assert not (await queue.get(scheduled.id)).no_worker


async def test_a_queue_answers_when_it_is_asked_whether_it_is_there(queue: Queue) -> None:
    await queue.ping()


async def test_a_claim_can_be_had_again_by_its_token(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work", {"n": 1}, max_attempts=3)
    claim = await hands.claim_one(worker="anna")
    queue.work.heartbeat([Beat(claim, Progress(1, 2))])
    again = await queue.work.held(task.id, claim.owner)
    assert (again.key, again.id, again.task_type, again.payload) == (claim.key, task.id, "work", claim.payload)
    assert (again.owner, again.attempt, again.max_attempts) == (claim.owner, 1, 3)
    assert again.progress == Progress(1, 2)
    assert await hands.settle(again)
    assert (await queue.get(task.id)).state is TaskState.SUCCEEDED


async def test_a_token_that_does_not_hold_the_task_gets_no_claim(
    queue: Queue, hands: Hands, clock: ManualClock
) -> None:
    task = await queue.enqueue("work")
    old = await hands.claim_one(worker="anna")
    with pytest.raises(LeaseLost, match="anna has it"):
        await queue.work.held(task.id, "anna#0000000000000000")
    clock.advance(30)
    await queue.work.recover()
    with pytest.raises(LeaseLost, match="it is queued"):
        await queue.work.held(task.id, old.owner)
    new = await hands.claim_one(worker="bert")
    with pytest.raises(LeaseLost, match="bert has it"):
        await queue.work.held(task.id, old.owner)
    await hands.settle(new)
    with pytest.raises(LeaseLost, match="it is succeeded"):
        await queue.work.held(task.id, new.owner)
    with pytest.raises(TaskNotFound):
        await queue.work.held("nothing", new.owner)
