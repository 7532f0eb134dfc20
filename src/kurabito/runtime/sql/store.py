"""What programs change in the tables of the runtime, as plain functions of a connection, and how a change is made known.

What workers change is in `work.py`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar
from uuid import UUID

from kurabito.db.errors import UniqueConflict
from kurabito.db.port import Connection, Database
from kurabito.runtime.errors import TaskConflict, TaskFinished
from kurabito.runtime.events import Fact, PendingEvents
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.outcomes import microseconds
from kurabito.runtime.port import Presence
from kurabito.runtime.sql.lookup import TaskLookup
from kurabito.runtime.sql.records import marked, record_of, record_of_new, types_among
from kurabito.runtime.sql.tables import TaskTables
from kurabito.runtime.states import TaskState, check_move, may_move, may_retry
from kurabito.runtime.tasks.intake import PreparedTask, merge_by_key
from kurabito.wakeup import Bell

T = TypeVar("T")

STATEMENT_ROWS: Final = 1000
BATCH: Final = 1000
"""How many rows the maintenance moves in one transaction."""
INTERRUPT: Final = "interrupt"
"""The word by which a running task was cancelled; any other means that something may be claimed."""


class Changes:
    """Runs what changes tasks, each in one transaction, and makes known what happened once that is committed."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.arrivals = Bell()
        self.interrupts = Bell()
        self.happened = Bell()
        """Rings when something happened to a task, here or, as far as it is noticed, in another process."""
        self.starting: set[asyncio.Future[Any]] = set()
        """Streams of events that look for the place where they begin."""

    async def run(self, work: Callable[[Connection, PendingEvents], T]) -> T:
        """Run a function in a transaction, then log and make known what it did."""
        if self.starting:
            # A stream tells of everything after the call that made it, so its starting point comes first.
            await asyncio.wait(self.starting)
        answer, pending = await self.database.write(partial(_with_events, work))
        self.make_known(pending)
        return answer

    def run_blocking(self, work: Callable[[Connection, PendingEvents], T]) -> tuple[T, PendingEvents]:
        """Run a function in a transaction, in a thread that may wait; what it did is for the caller to make known."""
        return self.database.write_blocking(partial(_with_events, work))

    def make_known(self, pending: PendingEvents) -> None:
        """Tell the log and everything in this process that listens."""
        if pending.events:
            pending.log()
            self.happened.ring()
        if pending.arrived:
            self.arrivals.ring()
        if pending.interrupted:
            self.interrupts.ring()

    def hear(self, word: str) -> None:
        """Pass on what another process did."""
        if word == INTERRUPT:
            self.interrupts.ring()
        else:
            self.arrivals.ring()
        self.happened.ring()


class TaskStore:
    """What can be done to tasks without a lease."""

    def __init__(self, tables: TaskTables) -> None:
        self.tables = tables
        self.lookup = TaskLookup(tables)
        self._sql = tables.sql

    def add_one(self, conn: Connection, task: PreparedTask, pending: PendingEvents) -> TaskRecord:
        """Store a task; its record, or that of the active task with its key."""
        stored = self.tables.insert_at_once(conn, task, pending)
        if stored is not None:
            return stored
        found = self.add(conn, [task], pending)
        record = record_of_new(task, conn.now()) if task.unique_key is None else found[task.unique_key]
        return marked(record, types_among(types for (types,) in conn.all(self._sql.living_types)))

    def add(self, conn: Connection, tasks: Sequence[PreparedTask], pending: PendingEvents) -> dict[str, TaskRecord]:
        """Store at most a thousand tasks; the records of those that have a unique key, by that key."""
        pending.arrived = True
        keyed = merge_by_key(tasks)
        found: dict[str, TaskRecord] = {}
        if not keyed:
            self.tables.insert(conn, tasks)
            fresh = tasks
        else:
            distinct = [task for task in tasks if task.unique_key is None or keyed[task.unique_key] is task]
            rows = self.tables.insert_keyed(conn, distinct)
            found = {row.unique_key: record_of(row) for row in rows if row.unique_key is not None}
            fresh = [task for task in distinct if task.unique_key is None or found[task.unique_key].id == task.id]
        if fresh:
            self.tell(conn, "Enqueued", [(task.hex, task.task_type) for task in fresh], pending, wake=True)
        return found

    def tell(
        self, conn: Connection, name: str, facts: Sequence[Fact], pending: PendingEvents, *, wake: bool = False
    ) -> None:
        """Write the event of a move of many tasks, in the same transaction as the move."""
        pending.add(name, facts)
        self.tables.write_event(conn, name, facts, wake=wake)

    def promote(self, conn: Connection, pending: PendingEvents) -> int:
        """Queue what is due."""
        check_move(TaskState.RETRY_SCHEDULED, TaskState.QUEUED)
        count = conn.run(self._sql.promote, {"limit": BATCH})
        if count:
            pending.arrived = True
            self.tables.wake(conn)
        return count

    def fire(
        self,
        conn: Connection,
        schedule: str,
        tick: int,
        next_tick: int | None,
        task: PreparedTask,
        pending: PendingEvents,
    ) -> bool:
        """Enqueue the task of this tick, once."""
        if conn.run(self._sql.note_schedule, {"name": schedule, "tick": tick}):
            return False
        if next_tick is not None and conn.run(
            self._sql.correct_tick, {"name": schedule, "tick": tick, "next_tick": next_tick}
        ):
            # A clock that was ahead counted ticks that are yet to come. It begins again, as a new one does.
            return False
        if not conn.run(self._sql.take_tick, {"name": schedule, "tick": tick}):
            return False
        self.add(conn, [task], pending)
        return True

    def cancel(self, conn: Connection, task_id: UUID, pending: PendingEvents) -> TaskRecord:
        """Cancel a task that is not finished."""
        row = self.lookup.find(conn, task_id, for_change=True)
        before = record_of(row)
        if not may_move(before.state, TaskState.CANCELLED):
            raise TaskFinished(f"task {task_id} is {before.state} already, so there is nothing to cancel")
        conn.run(self._sql.cancel, {"seq": row.seq})
        self.tell(conn, "Cancelled", [(task_id.hex, before.task_type)], pending)
        if before.state is TaskState.RUNNING:
            pending.interrupted = True
            self.tables.wake(conn, INTERRUPT)
        return self.lookup.record(conn, task_id)

    def retry(self, conn: Connection, task_id: UUID, pending: PendingEvents) -> TaskRecord:
        """Put a dead or cancelled task back."""
        row = self.lookup.find(conn, task_id, for_change=True)
        before = record_of(row)
        if not may_retry(before.state):
            raise TaskConflict(f"task {task_id} is {before.state}; only a dead or cancelled task can be retried")
        try:
            conn.run(self._sql.retry, {"seq": row.seq})
        except UniqueConflict as taken:
            raise TaskConflict(
                f"task {task_id} cannot be retried while another task with the key {before.unique_key!r} is active; "
                "cancel that one or wait for it"
            ) from taken
        pending.arrived = True
        self.tell(conn, "Enqueued", [(task_id.hex, before.task_type)], pending, wake=True)
        return self.lookup.record(conn, task_id)

    def announce(self, conn: Connection, presence: Presence, lease: float) -> None:
        """Say that a worker lives."""
        conn.run(
            self._sql.announce,
            {
                "name": presence.name,
                "task_types": json.dumps(presence.task_types),
                "concurrency": presence.concurrency,
                "lease": microseconds(lease),
            },
        )

    def purge(self, conn: Connection, age: int) -> int:
        """Delete at most a batch of tasks that finished longer ago than this."""
        return conn.run(self._sql.purge, {"age": age, "limit": BATCH})


def _with_events(work: Callable[[Connection, PendingEvents], T], conn: Connection) -> tuple[T, PendingEvents]:
    # Made here: a transaction that meets a conflict is run again, and what it did the first time did not happen.
    pending = PendingEvents()
    return work(conn, pending), pending
