"""The rows of an in-memory queue with their indexes, and the moves that need no lease.

Nothing here waits or locks: the queue calls it in short critical sections and makes known what happened when they are over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from kurabito.runtime.errors import TaskConflict, TaskFinished
from kurabito.runtime.events import Fact, PendingEvents
from kurabito.runtime.memory.event_log import EventLog, Facts
from kurabito.runtime.memory.ready_heap import ReadyTasks, ScheduledTasks
from kurabito.runtime.memory.rows import QUEUED, RETRY_SCHEDULED, RUNNING, TaskRow
from kurabito.runtime.states import TaskState, check_move, may_move, may_retry
from kurabito.runtime.tasks.intake import PreparedTask

_CANCELLED: Final = TaskState.CANCELLED


class TaskTable:
    """Every task there is. A row is in exactly one place: ready, scheduled, running or finished."""

    def __init__(self, log: EventLog) -> None:
        self.records: dict[str, TaskRow] = {}
        self.newest_last: list[TaskRow] = []
        self.active_keys: dict[str, TaskRow] = {}
        self.counts = dict.fromkeys(TaskState, 0)
        self.scheduled = ScheduledTasks(self.records)
        self.pending = PendingEvents()
        self.ready: defaultdict[str, ReadyTasks] = defaultdict(lambda: ReadyTasks(self.records))
        self.running: dict[str, TaskRow] = {}
        self._log = log
        self._last_key = 0

    def insert(self, tasks: Iterable[PreparedTask], now: int) -> list[TaskRow]:
        """Store tasks; the row that has an active task's unique key already stands for the new one."""
        rows: list[TaskRow] = []
        facts = Facts("Enqueued")
        say = facts.values.extend
        active, records, ready = self.active_keys, self.records, self.ready
        key, queued = self._last_key, 0
        for task in tasks:
            unique_key = task.unique_key
            if unique_key is not None and (twin := active.get(unique_key)) is not None:
                self._raise_priority(twin, task.priority)
                rows.append(twin)
                continue
            key += 1
            row = TaskRow(key, task, now)
            records[row.hex] = row
            self.newest_last.append(row)
            rows.append(row)
            say((row.hex, row.task_type))
            if unique_key is not None:
                active[unique_key] = row
            if row.next_run_at is None:
                queued += 1
                ready[row.task_type].push(-row.priority, row)
            else:
                self.scheduled.push(row.next_run_at, row)
        fresh, self._last_key = key - self._last_key, key
        self.counts[QUEUED] += queued
        self.counts[RETRY_SCHEDULED] += fresh - queued
        self.pending.arrived |= fresh > 0
        self.tell("Enqueued", now, facts)
        return rows

    def promote(self, now: int) -> int:
        """Queue the scheduled tasks that are due."""
        check_move(RETRY_SCHEDULED, QUEUED)
        promoted = 0
        while (head := self.scheduled.head()) is not None and head[0] <= now:
            self.scheduled.pop()
            row = self.records[head[2]]
            row.updated_at = now
            self.counts[RETRY_SCHEDULED] -= 1
            self._queue(row)
            promoted += 1
        return promoted

    def cancel(self, row: TaskRow, now: int) -> None:
        """Cancel a row that is not finished."""
        if not may_move(row.state, _CANCELLED):
            way_out = "retry it" if may_retry(row.state) else "enqueue a new task"
            raise TaskFinished(f"task {row.id} is {row.state} and cannot be cancelled; to run it again, {way_out}")
        if row.state is RUNNING:
            self.pending.interrupted = True
            self.leave_running(row, _CANCELLED, now)
        else:
            waiting = self.ready[row.task_type] if row.state is QUEUED else self.scheduled
            self.counts[row.state] -= 1
            self._finish(row, _CANCELLED, now)
            waiting.abandon()
        self.tell("Cancelled", now, [(row.hex, row.task_type)])

    def retry(self, row: TaskRow, now: int) -> None:
        """Put a dead or cancelled row back, as if it had never been tried."""
        if not may_retry(row.state):
            raise TaskConflict(f"task {row.id} is {row.state}; only a dead or cancelled task can be retried")
        if row.unique_key is not None:
            twin = self.active_keys.setdefault(row.unique_key, row)
            if twin is not row:
                raise TaskConflict(
                    f"task {row.id} cannot be retried: task {twin.id} is {twin.state} with its unique key "
                    f"{row.unique_key!r}; wait for that one, or cancel it first"
                )
        row.attempts = row.lost_leases = 0
        row.started_at = row.finished_at = None
        row.progress = row.owner = None
        row.updated_at = now
        self.counts[row.state] -= 1
        self._queue(row)
        self.tell("Enqueued", now, [(row.hex, row.task_type)])

    def forget(self, rows: Iterable[TaskRow], still: Callable[[TaskRow], bool]) -> int:
        """Drop finished rows that are still as the caller saw them."""
        gone = {row.key for row in rows if row.hex in self.records and still(row)}
        if gone:
            kept = []
            for row in self.newest_last:
                if row.key in gone:
                    del self.records[row.hex]
                    self.counts[row.state] -= 1
                else:
                    kept.append(row)
            self.newest_last = kept
        return len(gone)

    def leave_running(self, row: TaskRow, state: TaskState, now: int) -> None:
        """End the row's lease and move it on; a row that becomes scheduled has its next time already."""
        del self.running[row.hex]
        self.counts[RUNNING] -= 1
        row.lease_expires_at = None
        if state is QUEUED:
            row.updated_at = now
            self._queue(row)
        elif state is RETRY_SCHEDULED and row.next_run_at is not None:
            row.updated_at = now
            row.state = RETRY_SCHEDULED
            self.counts[RETRY_SCHEDULED] += 1
            self.scheduled.push(row.next_run_at, row)
            self.pending.arrived = True
        else:
            self._finish(row, state, now)

    def tell(self, name: str, now: int, facts: Sequence[Fact]) -> None:
        """Write down what happened, for readers of events now and for the log when the critical section is over."""
        if facts:
            self._log.add(name, now, facts)
            self.pending.add(name, facts)

    def take_events(self) -> PendingEvents:
        """What happened since this was last asked."""
        pending, self.pending = self.pending, PendingEvents()
        return pending

    def _queue(self, row: TaskRow) -> None:
        row.state = QUEUED
        row.next_run_at = None
        self.counts[QUEUED] += 1
        self.ready[row.task_type].push(-row.priority, row)
        self.pending.arrived = True

    def _finish(self, row: TaskRow, state: TaskState, now: int) -> None:
        row.state = state
        row.next_run_at = None
        row.finished_at = row.updated_at = now
        self.counts[state] += 1
        if row.unique_key is not None:
            del self.active_keys[row.unique_key]

    def _raise_priority(self, row: TaskRow, priority: int) -> None:
        if priority <= row.priority or row.state is RUNNING:
            return
        row.priority = priority
        if row.state is QUEUED:
            waiting = self.ready[row.task_type]
            waiting.push(-priority, row)
            waiting.abandon()
