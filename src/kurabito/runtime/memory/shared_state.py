"""What the parts of an in-memory queue share: the rows, one lock, and the bells that make changes known."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Final
from uuid import UUID

from kurabito.clock import Clock
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.events import PendingEvents
from kurabito.runtime.memory.event_log import EventLog
from kurabito.runtime.memory.rows import TaskRow
from kurabito.runtime.memory.table import TaskTable
from kurabito.runtime.memory.worker_table import WorkerTable
from kurabito.runtime.tasks.intake import parse_id
from kurabito.wakeup import Bell

_ENDINGS: Final = frozenset({"Succeeded", "Dead", "Cancelled"})


class SharedState:
    """The state of a queue, and the critical section in which it changes.

        with shared as now:
            shared.table.insert(tasks, now)

    What the section did is made known after it. To look only, `shared.lock` is enough.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        # Held for a few microseconds at a time and never across an await: heartbeats come from another thread.
        self.lock = threading.Lock()
        self.log = EventLog()
        self.table = TaskTable(self.log)
        self.workers = WorkerTable()
        self.arrivals = Bell()
        self.interrupts = Bell()
        self.happened = Bell()
        self.awaited: defaultdict[str, list[Bell]] = defaultdict(list)
        """A bell for each wait for a task: with thousands of them, each hears only of its own."""

    def __enter__(self) -> int:
        self.lock.acquire()
        return self.clock.now()

    def __exit__(self, *_: object) -> None:
        pending = self.table.take_events()
        ended = self._bells_of(pending)
        self.lock.release()
        self._make_known(pending, ended)

    def find(self, task_id: UUID | str) -> TaskRow:
        """The row of a task; raises TaskNotFound."""
        parsed = parse_id(task_id)
        row = self.table.records.get(parsed.hex) if parsed else None
        if row is None:
            raise TaskNotFound(f"no task has the id {task_id}; it may be finished and purged")
        return row

    def living_types(self) -> frozenset[str]:
        """The types that a living worker runs."""
        return self.workers.types(self.clock.now())

    def _make_known(self, pending: PendingEvents, ended: list[Bell]) -> None:
        if pending.events:
            pending.log()
            self.happened.ring()
        for bell in ended:
            bell.ring()
        if pending.arrived:
            self.arrivals.ring()
        if pending.interrupted:
            self.interrupts.ring()

    def _bells_of(self, pending: PendingEvents) -> list[Bell]:
        if not self.awaited:
            return []
        ended = [fact[0] for name, facts in pending.events if name in _ENDINGS for fact in facts]
        return [bell for task in ended for bell in self.awaited.get(task, ())]
