"""The port for tasks that hold no lease of their own, because what they stand for is leased elsewhere.

The part of the program that watches over that other work delegates the task to it: starts and settles the task in the same
transaction in which it writes about the work, so that the two never tell different stories. Such a row carries
`leased = 0`: recovery leaves it alone, and a lost worker is not counted against it. No worker may have a handler for its
type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar
from uuid import UUID

from kurabito.db.port import Connection, Database
from kurabito.runtime.model import Progress, TaskRecord
from kurabito.runtime.outcomes import Outcome
from kurabito.runtime.port import Queue
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import PreparedTask

T = TypeVar("T")


class TaskSnapshot(Protocol):
    """Some task types at one moment, and whatever else `conn` reads."""

    @property
    def conn(self) -> Connection: ...

    def waiting(self, task_types: Sequence[str]) -> list[TaskRecord]:
        """The queued tasks, the first to be started first: the larger priority, then the one that has waited longest."""
        ...

    def running(self, task_types: Sequence[str]) -> list[TaskRecord]:
        """The tasks that run without a lease."""
        ...

    def newest(self, task_type: str, states: Sequence[TaskState], limit: int) -> list[TaskRecord]:
        """The tasks of a type that are in one of these states, the newest first."""
        ...

    def active(self, unique_key: str) -> TaskRecord | None:
        """The task that has this key and is not finished."""
        ...

    def get(self, task_id: UUID) -> TaskRecord:
        """The task; raises TaskNotFound."""
        ...

    def has_old(self, task_type: str, age: int) -> bool:
        """Whether a task of this type finished longer ago than this many microseconds."""
        ...


class TaskTransaction(TaskSnapshot, Protocol):
    """Moves tasks in one transaction with whatever else `conn` writes."""

    def enqueue(self, task: PreparedTask) -> TaskRecord:
        """Ask for a task, as `queue.enqueue` does."""
        ...

    def start(self, task_id: UUID, name: str) -> bool:
        """Say that work on a queued task begins, under this name; false when it waits no longer."""
        ...

    def report(self, task_id: UUID, progress: Progress) -> None:
        """Say how far the work is; what is known already is not told again."""
        ...

    def settle(self, task_id: UUID, outcome: Outcome) -> None:
        """Write how the work ended; raises TaskConflict unless the task runs without a lease."""
        ...

    def cancel(self, task_id: UUID) -> TaskRecord:
        """Cancel a task, as `queue.cancel` does."""
        ...

    def forget(self, task_type: str, age: int) -> int:
        """Delete the tasks of a type that finished longer ago than this many microseconds; how many."""
        ...

    def wake(self) -> None:
        """Have other processes look when this is committed."""
        ...


class DelegatedTasks(Queue, Protocol):
    """A queue for a program whose own rows are in the same database: both are written in one transaction."""

    @property
    def database(self) -> Database:
        """Where the tasks are, and the program's own tables."""
        ...

    def delegate(self, task_types: Iterable[str]) -> None:
        """Let no worker claim tasks of these types here: the program starts and settles them."""
        ...

    async def delegate_read(self, fn: Callable[[TaskSnapshot], T]) -> T:
        """Run a plain function that only looks, at tasks and whatever else is in the database, at one moment."""
        ...

    async def delegate_write(self, fn: Callable[[TaskTransaction], T]) -> T:
        """Run a plain function in one transaction that may start and settle tasks without a lease."""
        ...
