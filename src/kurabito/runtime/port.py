"""The ports of a queue: `Queue` for a program, `WorkQueue` for a worker.

A queue has its worker's side as a part: `queue.work`. A program whose own rows are in the queue's database asks for
`DelegatedTasks` (`delegation.py`), which adds to `Queue`. Adapters are `MemoryQueue`, `SqliteQueue` and `PostgresQueue`;
`tests/conformance/queue` says what they have in common.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, Unpack
from uuid import UUID

from kurabito.runtime.events import TaskEvent
from kurabito.runtime.model import Depth, Page, Progress, TaskOptions, TaskRecord, WorkerRecord
from kurabito.runtime.outcomes import Claim, Settlements
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import PreparedTask, TaskLike
from kurabito.wakeup import Bell

T = TypeVar("T")


class Claimed(NamedTuple):
    """What a claim brought."""

    tasks: list[Claim]
    """In the order in which they are to be started."""
    lost: list[Claim]
    """Settled in the same call, but no longer owned: those settlements changed nothing."""
    due_in: float | None
    """Seconds until the next scheduled task is due; None when none is scheduled."""


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life for one claim, with its progress when there is news of it."""

    claim: Claim
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Presence:
    """What a worker tells about itself with each heartbeat."""

    name: str
    task_types: tuple[str, ...]
    concurrency: int


class InstantClaims(Protocol):
    """Claims without waiting for anything, so that a worker need not wait for the event loop either."""

    def claim_now(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        *,
        lease: float = 30.0,
        settling: Settlements = (),
        suspects: bool = True,
    ) -> Claimed:
        """As `WorkQueue.claim`."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ParkedClaim:
    """A claim that is to be made for a worker at rest."""

    worker: str
    capacity: Mapping[str, int]
    limit: int
    lease: float
    suspects: bool
    listener: Callable[[], object]
    """The worker's own listener to arrivals, which need not hear of what the claim was answered for."""
    answer: Callable[[Claimed | None], object]
    """Called once, in any thread, with what was claimed, or with None when the worker had better try itself."""


class ClaimsOnArrival(Protocol):
    """Claims for a worker in the moment something arrives, before the worker's event loop has woken."""

    def park(self, claim: ParkedClaim) -> None:
        """Answer the claim as soon as there may be something to claim."""
        ...

    def unpark(self, claim: ParkedClaim) -> bool:
        """Take the claim back; false when it was answered or is just being answered."""
        ...


class WorkQueue(Protocol):
    """What a worker needs of a queue: claims, settlements, signs of life, and the maintenance that workers share."""

    arrivals: Bell
    """Rings when there may be something new to claim."""
    interrupts: Bell
    """Rings when a running task was cancelled: a worker beats at once and so finds out whether it was its own."""
    max_payload: int
    """The most bytes that a result or a follow-up's payload may have."""
    is_remote: bool
    """Whether others may take our tasks while we cannot reach the store."""
    locks_folder: Path | None
    """Where the workers of this machine hold their locks; None where only the lease tells who lives."""
    instant: InstantClaims | None
    """Claims at once, where the store is in this process."""
    on_arrival: ClaimsOnArrival | None
    """Claims for workers at rest, where the store is heard in a thread of its own."""

    async def claim(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        *,
        lease: float = 30.0,
        settling: Settlements = (),
        suspects: bool = True,
    ) -> Claimed:
        """Settle, then take up to `limit` tasks and at most `capacity[type]` of each type, in one transaction.

        The larger priority goes first, then the older task. With a limit of 0 it only settles. Without `suspects` it passes over
        tasks that are dead when they lose one more worker: the caller holds one, and they must not share its fate.
        """
        ...

    async def held(self, task_id: UUID | str, owner: str) -> Claim:
        """The claim that this owner has on the task, for a caller that kept only the token.

        Raises TaskNotFound or LeaseLost.
        """
        ...

    async def settle(self, settling: Settlements) -> list[Claim]:
        """Write how claims ended; the ones returned were no longer owned and changed nothing."""
        ...

    def heartbeat(self, beats: Sequence[Beat], *, lease: float = 30.0, presence: Presence | None = None) -> list[Claim]:
        """Renew leases and write progress, from any thread; the ones returned are lost."""
        ...

    async def promote(self) -> int:
        """Queue the scheduled tasks that are due; says how many."""
        ...

    async def recover(self) -> int:
        """Take tasks whose lease ran out from their workers (dead after three lost leases); says how many."""
        ...

    async def expire_worker(self, name: str) -> int:
        """End the leases of a worker that is known to be dead, so that the next `recover` finds them."""
        ...

    async def now(self) -> int:
        """The time by which this queue goes, in microseconds since the epoch: on PostgreSQL the server's."""
        ...

    async def fire(self, schedule: str, tick: int, task: PreparedTask, *, next_tick: int | None = None) -> bool:
        """Enqueue the task for this tick of a schedule unless another worker did already or the schedule is new.

        A last tick that lies behind `next_tick` was counted by a wrong clock: the schedule then begins again at this tick.
        """
        ...

    def depart(self, worker: str) -> None:
        """Forget a worker that stopped in good order."""
        ...


class Queue(Protocol):
    """A durable, observable queue of tasks: what a program asks."""

    @property
    def work(self) -> WorkQueue:
        """The worker's side of this queue."""
        ...

    max_payload: int
    """The most bytes that a payload may have."""

    async def enqueue(
        self,
        task_type: str,
        payload: Any = None,
        *,
        priority: int = 0,
        unique_key: str | None = None,
        delay: float | timedelta | None = None,
        run_at: datetime | None = None,
        max_attempts: int | None = None,
        content_type: str | None = None,
    ) -> TaskRecord:
        """Ask for a task. While an active task has the same `unique_key`, that one is returned instead."""
        ...

    async def enqueue_many(self, tasks: Iterable[TaskLike]) -> Sequence[TaskRecord]:
        """Ask for many tasks at once; the answers come in the same order. Nothing is stored when one is refused.

        A large load is committed bit by bit, so that others can write meanwhile. For all or nothing use `transact`.
        """
        ...

    async def transact(self, fn: Callable[[Any], T]) -> T:
        """Run a plain function of a connection in one transaction; use `enqueue_in` inside it."""
        ...

    def enqueue_in(self, conn: Any, task_type: str, payload: Any = None, **options: Unpack[TaskOptions]) -> TaskRecord:
        """Ask for a task in the caller's own transaction: it exists if and when that commits."""
        ...

    async def get(self, task_id: UUID | str) -> TaskRecord:
        """The task; raises TaskNotFound."""
        ...

    async def list(
        self,
        *,
        state: TaskState | str | None = None,
        task_type: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TaskRecord]:
        """Tasks, newest first, a page at a time."""
        ...

    async def counts_by_state(self) -> dict[TaskState, int]:
        """How many tasks are in each state; every state is present."""
        ...

    async def depths(self) -> builtins.list[Depth]:
        """How many tasks there are of each type in each state, by type; what there is none of is not listed."""
        ...

    async def history(self, task_id: UUID | str) -> builtins.list[TaskEvent]:
        """What happened to the task so far, oldest first, as its row remembers it."""
        ...

    async def cancel(self, task_id: UUID | str) -> TaskRecord:
        """Cancel a waiting or running task; raises TaskNotFound or TaskFinished."""
        ...

    async def retry(self, task_id: UUID | str) -> TaskRecord:
        """Put a dead or cancelled task back, its attempts at 0; raises TaskNotFound or TaskConflict."""
        ...

    async def purge(self, *, older_than: float | timedelta | None = None) -> int:
        """Delete tasks that finished longer ago than this (the queue's own keeping time if None); says how many."""
        ...

    async def wait(self, task_id: UUID | str, timeout: float | None = None) -> TaskRecord:
        """The task once it is finished; raises TaskNotFound or TimeoutError."""
        ...

    def events(self, *, after: str | None = None) -> AsyncIterator[TaskEvent]:
        """What happens from now on (or after a cursor), in every process that shares the queue."""
        ...

    async def workers(self) -> builtins.list[WorkerRecord]:
        """The workers that are alive."""
        ...

    async def ping(self) -> None:
        """Return when the store answers; raises DatabaseUnavailable."""
        ...
