"""What can be asked of an in-memory queue without changing it."""

from __future__ import annotations

import asyncio
import builtins
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from kurabito.clock import SECOND, Clock, to_datetime
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.events import TaskEvent, unpack
from kurabito.runtime.history import history_of
from kurabito.runtime.memory.event_log import EventLog, LogPosition
from kurabito.runtime.memory.rows import TaskRow
from kurabito.runtime.memory.table import TaskTable
from kurabito.runtime.memory.worker_table import WorkerTable
from kurabito.runtime.model import Depth, Page, TaskRecord, WorkerRecord
from kurabito.runtime.outcomes import Claim, lease_lost
from kurabito.runtime.paging import check_page, cursor_after
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import parse_id
from kurabito.wakeup import Bell

# A long scan lets go of the lock after so many rows.
_STRETCH: Final = 2000


class MemoryReads:
    """The questions, and the state that they are about."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Held for a few microseconds at a time and never across an await: heartbeats come from another thread.
        self._lock = threading.Lock()
        self._log = EventLog()
        self._table = TaskTable(self._log)
        self._attendance = WorkerTable()
        self._happened = Bell()
        self._awaited: defaultdict[str, builtins.list[Bell]] = defaultdict(builtins.list)

    async def get(self, task_id: UUID | str) -> TaskRecord:
        with self._lock:
            return self._find(task_id).record(self._living_types())

    async def list(
        self,
        *,
        state: TaskState | str | None = None,
        task_type: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TaskRecord]:
        wanted, limit, before = check_page(state, limit, cursor)
        found: builtins.list[tuple[int, TaskRecord]] = []
        while before != 0 and len(found) <= limit:
            with self._lock:
                living = self._living_types()
                rows, before = self._stretch(before)
                for row in rows:
                    if (wanted is None or row.state is wanted) and (task_type is None or row.task_type == task_type):
                        found.append((row.key, row.record(living)))
                        # One more than asked for tells that there is another page.
                        if len(found) > limit:
                            break
        items = tuple(record for _, record in found[:limit])
        return Page(items, cursor_after(found[limit - 1][0]) if len(found) > limit else None)

    async def counts_by_state(self) -> dict[TaskState, int]:
        with self._lock:
            return dict(self._table.counts)

    async def depths(self) -> builtins.list[Depth]:
        counted: dict[tuple[str, TaskState], tuple[int, int]] = {}
        before: int | None = None
        while before != 0:
            with self._lock:
                rows, before = self._stretch(before)
                for row in rows:
                    count, _ = counted.get((row.task_type, row.state), (0, 0))
                    counted[row.task_type, row.state] = (count + 1, row.created_at)
        return [Depth(*group, count, to_datetime(oldest)) for group, (count, oldest) in sorted(counted.items())]

    async def held(self, task_id: UUID | str, owner: str) -> Claim:
        with self._lock:
            row = self._find(task_id)
            if row.state is not TaskState.RUNNING or row.owner != owner or row.lease_expires_at is None:
                raise lease_lost(row.record(self._living_types()))
            return row.claim(owner, row.lease_expires_at)

    async def history(self, task_id: UUID | str) -> builtins.list[TaskEvent]:
        return history_of(await self.get(task_id))

    async def wait(self, task_id: UUID | str, timeout: float | None = None) -> TaskRecord:
        until = None if timeout is None else self._clock.now() + round(timeout * SECOND)
        ended = asyncio.Event()
        with self._awaiting(task_id) as bell, bell.listen(ended.set):
            while not (record := await self.get(task_id)).finished:
                if until is None:
                    await ended.wait()
                elif not await self._clock.wait(ended, (until - self._clock.now()) / SECOND):
                    raise TimeoutError(f"task {record.id} is still {record.state} after {timeout} s")
                ended.clear()
            return record

    def events(self, *, after: str | None = None) -> AsyncIterator[TaskEvent]:
        with self._lock:
            begin = self._log.end() if after is None else self._log.after(after)
        return self._follow(begin)

    async def workers(self) -> builtins.list[WorkerRecord]:
        with self._lock:
            return self._attendance.workers(self._clock.now())

    async def ping(self) -> None:
        return None

    def _find(self, task_id: UUID | str) -> TaskRow:
        parsed = parse_id(task_id)
        row = self._table.records.get(parsed.hex) if parsed else None
        if row is None:
            raise TaskNotFound(f"no task has the id {task_id}; it may be finished and purged")
        return row

    def _living_types(self) -> frozenset[str]:
        return self._attendance.types(self._clock.now())

    def _stretch(self, before: int | None) -> tuple[builtins.list[TaskRow], int]:
        """Some rows with keys below `before`, newest first, and where the next stretch begins; 0 at the end."""
        rows = self._table.newest_last
        end = len(rows) if before is None else bisect_left(rows, before, key=lambda row: row.key)
        begin = max(0, end - _STRETCH)
        return rows[begin:end][::-1], rows[begin].key if begin else 0

    @contextmanager
    def _awaiting(self, task_id: UUID | str) -> Iterator[Bell]:
        """A bell that rings when this task ends: with thousands of waits, each hears only of its own."""
        bell = Bell()
        with self._lock:
            task = self._find(task_id).hex
            self._awaited[task].append(bell)
        try:
            yield bell
        finally:
            with self._lock:
                self._awaited[task].remove(bell)
                if not self._awaited[task]:
                    del self._awaited[task]

    async def _follow(self, position: LogPosition) -> AsyncIterator[TaskEvent]:
        news = asyncio.Event()
        with self._happened.listen(news.set):
            while True:
                news.clear()
                with self._lock:
                    batches = self._log.since(position)
                for number, name, at, facts in batches:
                    begin = position.place if number == position.number else 0
                    position = LogPosition(number, len(facts))
                    for event in unpack(name, at, facts, str(number), begin):
                        yield event
                if not batches:
                    await news.wait()
                    continue
                position = LogPosition(position.number + 1, 0)
