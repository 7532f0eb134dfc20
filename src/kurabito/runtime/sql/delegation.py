"""Tasks that hold no lease of their own, moved in one transaction with the program's own rows: `DelegatedTasks` in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from kurabito.db import leases
from kurabito.db.port import Connection
from kurabito.runtime.errors import TaskConflict
from kurabito.runtime.events import Fact, PendingEvents
from kurabito.runtime.model import Progress, TaskRecord
from kurabito.runtime.outcomes import Outcome
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.runtime.sql.lookup import TaskLookup
from kurabito.runtime.sql.records import StoredTask, record_of
from kurabito.runtime.sql.store import TaskStore
from kurabito.runtime.sql.work import ClaimStore
from kurabito.runtime.states import TaskState, may_move
from kurabito.runtime.tasks.intake import PreparedTask

_ALL: Final = 1_000_000


class SqlSnapshot:
    """Some task types at one moment, and whatever else `conn` reads."""

    def __init__(self, lookup: TaskLookup, conn: Connection) -> None:
        self.conn = conn
        self._lookup = lookup
        self._sql = lookup.tables.sql

    def waiting(self, task_types: Sequence[str]) -> list[TaskRecord]:
        """The queued tasks, the first to be started first: the larger priority, then the one that has waited longest."""
        # One that was put back waits from then on.
        found = [record_of(row) for task_type in task_types for row in self._queued(task_type)]
        return sorted(found, key=lambda task: (-task.priority, task.updated_at))

    def running(self, task_types: Sequence[str]) -> list[TaskRecord]:
        """The tasks that run without a lease."""
        rows = [row for name in task_types for row in self.conn.all(self._sql.delegated, {"task_type": name})]
        return [record_of(StoredTask(*row)) for row in rows]

    def newest(self, task_type: str, states: Sequence[TaskState], limit: int) -> list[TaskRecord]:
        """The tasks of a type that are in one of these states, the newest first."""
        rows = self._lookup.page(self.conn, [state.value for state in states], task_type, BIGGEST_ID, limit)
        return [record_of(row) for row in rows]

    def active(self, unique_key: str) -> TaskRecord | None:
        """The task that has this key and is not finished."""
        row = self.conn.one(self._sql.active_by_key, {"unique_key": unique_key})
        return None if row is None else record_of(StoredTask(*row))

    def get(self, task_id: UUID) -> TaskRecord:
        """The task; raises TaskNotFound."""
        return self._lookup.record(self.conn, task_id)

    def has_old(self, task_type: str, age: int) -> bool:
        """Whether a task of this type finished longer ago than this many microseconds."""
        return self.conn.one(self._sql.old, {"task_type": task_type, "age": age}) is not None

    def _queued(self, task_type: str) -> list[StoredTask]:
        rows = self._lookup.page(self.conn, [TaskState.QUEUED.value], task_type, BIGGEST_ID, _ALL)
        return rows[::-1]


class SqlTransaction(SqlSnapshot):
    """Moves tasks in one transaction with whatever else `conn` writes."""

    def __init__(self, store: TaskStore, conn: Connection, pending: PendingEvents) -> None:
        super().__init__(store.lookup, conn)
        self._store = store
        self._pending = pending

    def enqueue(self, task: PreparedTask) -> TaskRecord:
        """Ask for a task, as `queue.enqueue` does."""
        # Not `add_one`: that may be a transaction of its own.
        found = self._store.add(self.conn, [task], self._pending)
        return self.get(task.id) if task.unique_key is None else found[task.unique_key]

    def start(self, task_id: UUID, name: str) -> bool:
        """Say that work on a queued task begins, under this name; false when it waits no longer."""
        row = self._lookup.find(self.conn, task_id, for_change=True)
        task = record_of(row)
        if not may_move(task.state, TaskState.RUNNING):
            return False
        self.conn.run(self._sql.start, {"seq": row.seq, "owner": leases.new_owner(name)})
        self._store.tell(self.conn, "Started", [(task_id.hex, task.task_type, task.attempts + 1)], self._pending)
        self.wake()
        return True

    def report(self, task_id: UUID, progress: Progress) -> None:
        """Say how far the work is; what is known already is not told again."""
        row = self._lookup.find(self.conn, task_id, for_change=True)
        task = record_of(row)
        if task.state is not TaskState.RUNNING or task.progress == progress:
            return
        self.conn.run(self._sql.report, {"seq": row.seq, "done": progress.done, "total": progress.total})
        fact: Fact = (task_id.hex, task.task_type, progress.done, progress.total)
        self._store.tell(self.conn, "Progressed", [fact], self._pending)

    def settle(self, task_id: UUID, outcome: Outcome) -> None:
        """Write how the work ended; raises TaskConflict unless the task runs without a lease."""
        self._lookup.find(self.conn, task_id, for_change=True)
        owners = self.conn.all(self._sql.delegated_owner, {"id": self._lookup.tables.stored_id(task_id)})
        if not owners:
            task = self.get(task_id)
            raise TaskConflict(f"task {task_id} is {task.state} and no running task without a lease")
        ((owner,),) = owners
        claim = self._lookup.held(self.conn, task_id, owner)
        ClaimStore(self._store).settle(self.conn, [(claim, outcome)], self._pending)

    def cancel(self, task_id: UUID) -> TaskRecord:
        """Cancel a task, as `queue.cancel` does."""
        return self._store.cancel(self.conn, task_id, self._pending)

    def forget(self, task_type: str, age: int) -> int:
        """Delete the tasks of a type that finished longer ago than this many microseconds; how many."""
        return self.conn.run(self._sql.forget, {"task_type": task_type, "age": age})

    def wake(self) -> None:
        """Have other processes look when this is committed."""
        self._store.tables.wake(self.conn)
