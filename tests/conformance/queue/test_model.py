"""Any sequence of steps, checked against a plain model of a queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from kurabito.clock import SECOND, from_datetime
from kurabito.runtime.errors import TaskConflict, TaskFinished
from kurabito.runtime.model import DEFAULT_ATTEMPTS, MAX_LOST_LEASES, NewTask, Progress, TaskRecord
from kurabito.runtime.outcomes import Claim, Failure, Outcome, Released, Snoozed, Success
from kurabito.runtime.port import Beat
from kurabito.runtime.states import ACTIVE, MOVES, TaskState, may_retry

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Ground

QUEUED, RUNNING, SCHEDULED = TaskState.QUEUED, TaskState.RUNNING, TaskState.RETRY_SCHEDULED

types = st.sampled_from(["x", "y"])
keys = st.sampled_from([None, None, "a", "b"])
waits = st.sampled_from([0.0, 0.000001, 5.0, 20.0])
workers = st.sampled_from(["anna", "bert"])
leases = st.sampled_from([10.0, 30.0])
requests = st.builds(
    NewTask,
    task_type=types,
    priority=st.integers(-1, 2),
    unique_key=keys,
    delay=st.one_of(st.none(), waits),
    max_attempts=st.sampled_from([None, 1, 2]),
)
outcomes = st.one_of(
    st.builds(Success, result=st.sampled_from([None, b"1"])),
    st.builds(Failure, st.just("broken"), retry_in=waits, permanent=st.booleans(), max_attempts=st.integers(1, 3)),
    st.builds(Snoozed, waits),
    st.just(Released()),
)


@dataclass
class Modelled:
    """A task as it must be."""

    place: int
    request: NewTask
    priority: int
    state: TaskState
    due: int | None
    max_attempts: int | None
    attempts: int = 0
    lost_leases: int = 0
    holder: Claim | None = None
    expires: int | None = None
    finished: int | None = None
    progress: Progress | None = None

    def leave(self, state: TaskState, *, due: int | None = None, finished: int | None = None) -> None:
        self.state, self.due, self.finished = state, due, finished
        self.holder = self.expires = None


@dataclass
class Model:
    """Every task there must be, and every claim there ever was."""

    tasks: dict[UUID, Modelled] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    made: int = 0

    def active(self, key: str | None) -> UUID | None:
        found = [
            task_id
            for task_id, task in self.tasks.items()
            if key is not None and task.request.unique_key == key and task.state in ACTIVE
        ]
        assert len(found) <= 1
        return found[0] if found else None

    def accept(self, task_id: UUID, request: NewTask, now: int) -> None:
        twin = self.active(request.unique_key)
        if twin is not None:
            assert task_id == twin
            if self.tasks[twin].state is not RUNNING:
                self.tasks[twin].priority = max(self.tasks[twin].priority, request.priority)
            return
        assert task_id not in self.tasks
        assert request.delay is None or isinstance(request.delay, float)
        due = now + round(request.delay * SECOND) if request.delay else None
        self.made += 1
        self.tasks[task_id] = Modelled(
            self.made, request, request.priority, SCHEDULED if due else QUEUED, due, request.max_attempts
        )

    def next_claims(self, capacity: dict[str, int], limit: int, *, suspects: bool) -> list[UUID]:
        queued = [
            (-task.priority, task.place, task_id)
            for task_id, task in self.tasks.items()
            if task.state is QUEUED and (suspects or task.lost_leases + 1 < MAX_LOST_LEASES)
        ]
        room = dict(capacity)
        chosen: list[UUID] = []
        for _, _, task_id in sorted(queued):
            task_type = self.tasks[task_id].request.task_type
            if len(chosen) < limit and room.get(task_type, 0) > 0:
                room[task_type] -= 1
                chosen.append(task_id)
        return chosen

    def owns(self, claim: Claim) -> bool:
        return claim.id in self.tasks and self.tasks[claim.id].holder is claim

    def settle(self, claim: Claim, outcome: Outcome, now: int) -> None:
        task = self.tasks[claim.id]
        task.progress = claim.progress or task.progress
        match outcome:
            case Success():
                task.leave(TaskState.SUCCEEDED, finished=now)
            case Failure():
                task.max_attempts = task.max_attempts or outcome.max_attempts
                if outcome.permanent or task.attempts >= task.max_attempts:
                    task.leave(TaskState.DEAD, finished=now)
                else:
                    task.leave(SCHEDULED, due=now + round(outcome.retry_in * SECOND))
            case Snoozed():
                task.attempts -= 1
                task.leave(SCHEDULED, due=now + round(outcome.seconds * SECOND))
            case Released():
                task.attempts -= 1
                task.leave(QUEUED)


class QueueMachine(RuleBasedStateMachine):
    """Does the same to a queue and to the model, and compares them after every step."""

    def __init__(self, ground: Ground) -> None:
        super().__init__()
        ground.clear()
        self.ground = ground
        self.queue = ground.queue
        self.model = Model()
        self.seen: dict[UUID, TaskState] = {}

    @property
    def now(self) -> int:
        return self.ground.clock.now()

    def pick_task(self, data: st.DataObject) -> tuple[UUID, Modelled]:
        return data.draw(st.sampled_from(list(self.model.tasks.items())), label="task")

    def pick_claim(self, data: st.DataObject) -> Claim:
        return data.draw(st.sampled_from(self.model.claims), label="claim")

    @rule(request=requests)
    def enqueue(self, request: NewTask) -> None:
        task = self.ground.run(
            self.queue.enqueue(
                request.task_type,
                priority=request.priority,
                unique_key=request.unique_key,
                delay=request.delay,
                max_attempts=request.max_attempts,
            )
        )
        self.model.accept(task.id, request, self.now)

    @rule(batch=st.lists(requests, max_size=4))
    def enqueue_many(self, batch: list[NewTask]) -> None:
        tasks = self.ground.run(self.queue.enqueue_many(batch))
        for task, request in zip(tasks, batch, strict=True):
            self.model.accept(task.id, request, self.now)

    @rule(
        worker=workers,
        x=st.integers(0, 3),
        y=st.integers(0, 3),
        limit=st.integers(1, 4),
        lease=leases,
        suspects=st.booleans(),
    )
    def claim(self, worker: str, x: int, y: int, limit: int, lease: float, suspects: bool) -> None:
        self.take(worker, {"x": x, "y": y}, limit, lease, suspects=suspects)

    @precondition(lambda self: self.model.claims)
    @rule(data=st.data(), worker=workers, limit=st.integers(0, 2))
    def settle_and_claim(self, data: st.DataObject, worker: str, limit: int) -> None:
        settled = self.pick_claim(data)
        owned = self.model.owns(settled)
        if owned:
            self.model.settle(settled, Success(), self.now)
            self.seen[settled.id] = TaskState.SUCCEEDED
        lost = self.take(worker, {"x": 2, "y": 2}, limit, 30.0, [(settled, Success())])
        assert lost == ([] if owned else [settled])

    def take(
        self,
        worker: str,
        capacity: dict[str, int],
        limit: int,
        lease: float,
        settling: Any = (),
        *,
        suspects: bool = True,
    ) -> list[Claim]:
        expected = self.model.next_claims(capacity, limit, suspects=suspects)
        claimed = self.ground.run(
            self.queue.work.claim(worker, capacity, limit, lease=lease, settling=settling, suspects=suspects)
        )
        assert [claim.id for claim in claimed.tasks] == expected
        for claim in claimed.tasks:
            task = self.model.tasks[claim.id]
            task.state, task.holder, task.expires = RUNNING, claim, self.now + round(lease * SECOND)
            task.attempts += 1
            assert (claim.attempt, claim.lost_leases, claim.progress) == (
                task.attempts,
                task.lost_leases,
                task.progress,
            )
            self.model.claims.append(claim)
        return claimed.lost

    @precondition(lambda self: self.model.claims)
    @rule(data=st.data(), outcome=outcomes)
    def settle(self, data: st.DataObject, outcome: Outcome) -> None:
        claim = self.pick_claim(data)
        owned = self.model.owns(claim)
        lost = self.ground.run(self.queue.work.settle([(claim, outcome)]))
        assert lost == ([] if owned else [claim])
        if owned:
            self.model.settle(claim, outcome, self.now)

    @precondition(lambda self: self.model.claims)
    @rule(data=st.data(), progress=st.sampled_from([None, Progress(1), Progress(2, 9)]), lease=leases)
    def heartbeat(self, data: st.DataObject, progress: Progress | None, lease: float) -> None:
        claim = self.pick_claim(data)
        owned = self.model.owns(claim)
        # What a handler reports is noted on its claim, and the next heartbeat takes it along.
        claim.progress = progress or claim.progress
        lost = self.queue.work.heartbeat([Beat(claim, progress)], lease=lease)
        assert lost == ([] if owned else [claim])
        if owned:
            task = self.model.tasks[claim.id]
            task.expires = self.now + round(lease * SECOND)
            task.progress = progress or task.progress

    @precondition(lambda self: self.model.tasks)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        task_id, task = self.pick_task(data)
        if task.state in ACTIVE:
            self.ground.run(self.queue.cancel(task_id))
            task.leave(TaskState.CANCELLED, finished=self.now)
        else:
            with pytest.raises(TaskFinished):
                self.ground.run(self.queue.cancel(task_id))

    @precondition(lambda self: self.model.tasks)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        task_id, task = self.pick_task(data)
        if may_retry(task.state) and self.model.active(task.request.unique_key) is None:
            self.ground.run(self.queue.retry(task_id))
            task.leave(QUEUED)
            task.attempts = task.lost_leases = 0
            task.progress = None
        else:
            with pytest.raises(TaskConflict):
                self.ground.run(self.queue.retry(task_id))

    @rule(seconds=st.sampled_from([0.000001, 1.0, 5.0, 10.0, 30.0]))
    def advance(self, seconds: float) -> None:
        self.ground.clock.advance(seconds)

    @rule()
    def promote(self) -> None:
        due = [task for task in self.model.tasks.values() if task.due is not None and task.due <= self.now]
        assert self.ground.run(self.queue.work.promote()) == len(due)
        for task in due:
            task.leave(QUEUED)

    @rule()
    def recover(self) -> None:
        stale = [task for task in self.model.tasks.values() if task.expires is not None and task.expires <= self.now]
        assert self.ground.run(self.queue.work.recover()) == len(stale)
        for task in stale:
            task.attempts -= 1
            task.lost_leases += 1
            if task.lost_leases >= MAX_LOST_LEASES:
                task.leave(TaskState.DEAD, finished=self.now)
            else:
                task.leave(QUEUED)

    @rule(worker=workers)
    def expire_worker(self, worker: str) -> None:
        held = [
            task
            for task in self.model.tasks.values()
            if task.holder is not None and task.holder.owner.startswith(f"{worker}#")
        ]
        living = [task for task in held if task.expires is not None and task.expires > self.now]
        assert self.ground.run(self.queue.work.expire_worker(worker)) == len(living)
        for task in living:
            task.expires = self.now

    @rule(age=st.sampled_from([0.0, 5.0, 60.0]))
    def purge(self, age: float) -> None:
        limit = self.now - round(age * SECOND)
        old = [
            task_id
            for task_id, task in self.model.tasks.items()
            if task.finished is not None and task.finished <= limit
        ]
        assert self.ground.run(self.queue.purge(older_than=age)) == len(old)
        for task_id in old:
            del self.model.tasks[task_id]

    @invariant()
    def the_queue_is_as_the_model_says(self) -> None:
        records = self.ground.run(self.ground.hands.rows())
        newest_first = sorted(self.model.tasks, key=lambda task_id: -self.model.tasks[task_id].place)
        assert [record.id for record in records] == newest_first
        for record in records:
            assert as_seen(record) == as_modelled(self.model.tasks[record.id])

    @invariant()
    def every_task_is_counted_in_one_state(self) -> None:
        expected = dict.fromkeys(TaskState, 0)
        for task in self.model.tasks.values():
            expected[task.state] += 1
        assert self.ground.run(self.queue.counts_by_state()) == expected

    @invariant()
    def every_move_was_legal(self) -> None:
        states = {record.id: record.state for record in self.ground.run(self.ground.hands.rows())}
        for task_id, state in states.items():
            before = self.seen.get(task_id)
            assert before is None or before is state or state in MOVES[before]
        self.seen = states

    def teardown(self) -> None:
        for claim in self.model.claims:
            owned = self.model.owns(claim)
            assert self.queue.work.heartbeat([Beat(claim)]) == ([] if owned else [claim])


def as_seen(record: TaskRecord) -> tuple[Any, ...]:
    times = (record.next_run_at, record.lease_expires_at, record.finished_at)
    return (
        record.task_type,
        record.state,
        record.priority,
        record.unique_key,
        record.attempts,
        record.max_attempts,
        record.lost_leases,
        record.progress,
        *(None if moment is None else from_datetime(moment) for moment in times),
    )


def as_modelled(task: Modelled) -> tuple[Any, ...]:
    return (
        task.request.task_type,
        task.state,
        task.priority,
        task.request.unique_key,
        task.attempts,
        task.max_attempts or DEFAULT_ATTEMPTS,
        task.lost_leases,
        task.progress,
        task.due,
        task.expires,
        task.finished,
    )


def test_a_queue_behaves_like_its_model_whatever_is_done_to_it(ground: Ground) -> None:
    kind = ground.url.partition(":")[0]
    run_state_machine_as_test(
        partial(QueueMachine, ground),  # type: ignore[arg-type]
        settings=settings(
            # The rules are explored where it is cheap; a server shows that it keeps them too.
            max_examples={"memory": 150, "sqlite": 50}.get(kind, 20),
            stateful_step_count=40 if kind == "memory" else 30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
