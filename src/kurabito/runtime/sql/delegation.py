"""Tasks that hold no lease of their own, because what they stand for is leased elsewhere.

Whoever watches over that other work conducts them: starts and settles them in the same transaction in which it writes about
the work, so that the two never tell different stories. Such a row carries `leased = 0`: recovery leaves it alone, and a lost
worker is not counted against it. No worker may have a handler for its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from kurabito.db import leases
from kurabito.db.port import Connection, Row
from kurabito.runtime.errors import TaskConflict
from kurabito.runtime.events import Fact
from kurabito.runtime.model import Progress, TaskRecord
from kurabito.runtime.outcomes import Outcome
from kurabito.runtime.sql.records import record_of
from kurabito.runtime.sql.store import TaskStore, Told
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import PreparedTask

_NEWEST: Final = 2**63 - 1
_ALL: Final = 1_000_000


class TaskSnapshot:
    """Some task types at one moment, and whatever else `conn` reads."""

    def __init__(self, store: TaskStore, conn: Connection) -> None:
        self.conn = conn
        self._store = store

    def waiting(self, task_types: Sequence[str]) -> list[TaskRecord]:
        """The queued tasks, the first to be started first: the larger priority, then who has waited longest."""
        # One that was put back waits from then on.
        found = [record_of(row) for task_type in task_types for row in self._queued(task_type)]
        return sorted(found, key=lambda task: (-task.priority, task.updated_at))

    def running(self, task_types: Sequence[str]) -> list[TaskRecord]:
        """The tasks that run without a lease."""
        rows = [row for name in task_types for row in self.conn.all(self._store.sql.conducted, {"task_type": name})]
        return [record_of(row) for row in rows]

    def newest(self, task_type: str, states: Sequence[TaskState], limit: int) -> list[TaskRecord]:
        """The tasks of a type that are in one of these states, the newest first."""
        rows = self._store.page(self.conn, [state.value for state in states], task_type, _NEWEST, limit)
        return [record_of(row) for row in rows]

    def active(self, unique_key: str) -> TaskRecord | None:
        """The task that has this key and is not finished."""
        row = self.conn.one(self._store.sql.active_by_key, {"unique_key": unique_key})
        return None if row is None else record_of(row)

    def get(self, task_id: UUID) -> TaskRecord:
        """The task; raises TaskNotFound."""
        return self._store.record(self.conn, task_id)

    def has_old(self, task_type: str, age: int) -> bool:
        """Whether a task of this type finished longer ago than this many microseconds."""
        return self.conn.one(self._store.sql.old, {"task_type": task_type, "age": age}) is not None

    def _queued(self, task_type: str) -> list[Row]:
        rows = self._store.page(self.conn, [TaskState.QUEUED.value], task_type, _NEWEST, _ALL)
        return rows[::-1]


class TaskTransaction(TaskSnapshot):
    """Moves tasks in one transaction with whatever else `conn` writes."""

    def __init__(self, store: TaskStore, conn: Connection, told: Told) -> None:
        super().__init__(store, conn)
        self._told = told

    def enqueue(self, task: PreparedTask) -> TaskRecord:
        """Ask for a task, as `queue.enqueue` does."""
        # Not `add_one`: that may be a transaction of its own.
        found = self._store.add(self.conn, [task], self._told)
        return self.get(task.id) if task.unique_key is None else found[task.unique_key]

    def start(self, task_id: UUID, name: str) -> bool:
        """Say that work on a queued task begins, under this name; false when it waits no longer."""
        row = self._store.find(self.conn, task_id, for_change=True)
        task = record_of(row)
        if task.state is not TaskState.QUEUED:
            return False
        self.conn.run(self._store.sql.start, {"seq": row[0], "owner": leases.new_owner(name)})
        self._store.tell(self.conn, "Started", [(task_id.hex, task.task_type, task.attempts + 1)], self._told)
        self.wake()
        return True

    def report(self, task_id: UUID, progress: Progress) -> None:
        """Say how far the work is; what is known already is not told again."""
        row = self._store.find(self.conn, task_id, for_change=True)
        task = record_of(row)
        if task.state is not TaskState.RUNNING or task.progress == progress:
            return
        self.conn.run(self._store.sql.report, {"seq": row[0], "done": progress.done, "total": progress.total})
        fact: Fact = (task_id.hex, task.task_type, progress.done, progress.total)
        self._store.tell(self.conn, "Progressed", [fact], self._told)

    def settle(self, task_id: UUID, outcome: Outcome) -> None:
        """Write how the work ended; raises TaskConflict unless the task runs without a lease."""
        self._store.find(self.conn, task_id, for_change=True)
        row = self.conn.one(self._store.sql.conducted_owner, {"id": self._store.stored_id(task_id)})
        if row is None:
            task = self.get(task_id)
            raise TaskConflict(f"task {task_id} is {task.state} and no running task without a lease")
        self._store.settle(self.conn, [(self._store.held(self.conn, task_id, row[0]), outcome)], self._told)

    def cancel(self, task_id: UUID) -> TaskRecord:
        """Cancel a task, as `queue.cancel` does."""
        return self._store.cancel(self.conn, task_id, self._told)[0]

    def forget(self, task_type: str, age: int) -> int:
        """Delete the tasks of a type that finished longer ago than this many microseconds; how many."""
        return self.conn.run(self._store.sql.forget, {"task_type": task_type, "age": age})

    def wake(self) -> None:
        """Have other processes look when this is committed."""
        self._store.wake(self.conn)
