"""A queue in the memory of one process: for tests, for small programs, and as the reference of how a queue behaves.

Here is what a program asks. The worker's side is in `work.py`.
"""

from __future__ import annotations

import builtins
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Final, Self, TypeVar, Unpack
from uuid import UUID

from kurabito.clock import SECOND, Clock, SystemClock, to_datetime
from kurabito.errors import InvalidInput
from kurabito.runtime.events import TaskEvent
from kurabito.runtime.history import history_of
from kurabito.runtime.memory.rows import Records, TaskRow, with_priority
from kurabito.runtime.memory.shared_state import SharedState
from kurabito.runtime.memory.streams import follow, wait_for
from kurabito.runtime.memory.work import MemoryWork
from kurabito.runtime.model import Depth, Page, TaskOptions, TaskRecord, WorkerRecord
from kurabito.runtime.paging import check_page, cursor_after
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import MAX_PAYLOAD, PreparedTask, TaskLike, prepare, prepare_many, seconds_of

T = TypeVar("T")

_KEEP: Final = 86_400.0
# A long scan lets go of the lock after so many rows.
_STRETCH: Final = 2000


class Transaction:
    """What `transact` gives to its function: tasks that are stored when the function returns."""

    def __init__(self) -> None:
        self.tasks: list[PreparedTask] | None = []


class MemoryQueue:
    """Tasks that live as long as the process."""

    def __init__(self, *, clock: Clock | None = None, max_payload: int = MAX_PAYLOAD, keep: float = _KEEP) -> None:
        self._shared = SharedState(clock or SystemClock())
        self._table = self._shared.table
        self.work = MemoryWork(self._shared, max_payload)
        self.max_payload = max_payload
        self._keep = keep

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def enqueue(self, task_type: str, payload: Any = None, **options: Unpack[TaskOptions]) -> TaskRecord:
        prepared = prepare(task_type, payload, self.max_payload, **options)
        with self._shared as now:
            (row,) = self._table.insert([prepared], now)
            return row.record(self._shared.workers.types(now))

    async def enqueue_many(self, tasks: Iterable[TaskLike]) -> Sequence[TaskRecord]:
        prepared = prepare_many(tasks, max_payload=self.max_payload)
        with self._shared as now:
            rows = self._table.insert(prepared, now)
        return Records(rows, self._shared.lock, self._shared.living_types)

    async def transact(self, fn: Callable[[Any], T]) -> T:
        """Run a plain function, here on the event loop itself; what it enqueued is stored when it returns."""
        transaction = Transaction()
        try:
            answer = fn(transaction)
            tasks = transaction.tasks or ()
        finally:
            transaction.tasks = None
        with self._shared as now:
            self._table.insert(tasks, now)
        return answer

    def enqueue_in(self, conn: Any, task_type: str, payload: Any = None, **options: Unpack[TaskOptions]) -> TaskRecord:
        if not isinstance(conn, Transaction) or conn.tasks is None:
            raise InvalidInput(
                "conn", "a queue in memory takes only the connection that `transact` gives, while it runs"
            )
        prepared = prepare(task_type, payload, self.max_payload, **options)
        unique_key = prepared.unique_key
        twins = [other for other in conn.tasks if unique_key is not None and other.unique_key == unique_key]
        conn.tasks.append(prepared)
        with self._shared.lock:
            row = self._table.active_keys.get(unique_key) if unique_key is not None else None
            row = row or TaskRow(0, (twins or [prepared])[0], self._shared.clock.now())
            record = row.record(self._shared.living_types())
        return with_priority(record, max(task.priority for task in (prepared, *twins)))

    async def cancel(self, task_id: UUID | str) -> TaskRecord:
        with self._shared as now:
            row = self._shared.find(task_id)
            self._table.cancel(row, now)
            return row.record(self._shared.workers.types(now))

    async def retry(self, task_id: UUID | str) -> TaskRecord:
        with self._shared as now:
            row = self._shared.find(task_id)
            self._table.retry(row, now)
            return row.record(self._shared.workers.types(now))

    async def purge(self, *, older_than: float | timedelta | None = None) -> int:
        seconds = seconds_of("older_than", self._keep if older_than is None else older_than)
        if seconds < 0:
            raise InvalidInput("older_than", f"must not be negative, got {seconds} s")
        limit = self._shared.clock.now() - round(seconds * SECOND)

        def old(row: TaskRow) -> bool:
            return row.finished_at is not None and row.finished_at <= limit

        with self._shared.lock:
            rows = self._table.newest_last[:]
        # Looked through without the lock and asked again with it: the queue may be large and goes on meanwhile.
        candidates = [row for row in rows if old(row)]
        with self._shared.lock:
            return self._table.forget(candidates, old)

    async def get(self, task_id: UUID | str) -> TaskRecord:
        with self._shared.lock:
            return self._shared.find(task_id).record(self._shared.living_types())

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
            with self._shared.lock:
                living = self._shared.living_types()
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
        with self._shared.lock:
            return dict(self._table.counts)

    async def depths(self) -> builtins.list[Depth]:
        counted: dict[tuple[str, TaskState], tuple[int, int]] = {}
        before: int | None = None
        while before != 0:
            with self._shared.lock:
                rows, before = self._stretch(before)
                for row in rows:
                    count, _ = counted.get((row.task_type, row.state), (0, 0))
                    counted[row.task_type, row.state] = (count + 1, row.created_at)
        return [Depth(*group, count, to_datetime(oldest)) for group, (count, oldest) in sorted(counted.items())]

    async def history(self, task_id: UUID | str) -> builtins.list[TaskEvent]:
        return history_of(await self.get(task_id))

    async def wait(self, task_id: UUID | str, timeout: float | None = None) -> TaskRecord:
        return await wait_for(self._shared, task_id, timeout)

    def events(self, *, after: str | None = None) -> AsyncIterator[TaskEvent]:
        log = self._shared.log
        with self._shared.lock:
            begin = log.end() if after is None else log.after(after)
        return follow(self._shared, begin)

    async def workers(self) -> builtins.list[WorkerRecord]:
        with self._shared.lock:
            return self._shared.workers.workers(self._shared.clock.now())

    async def ping(self) -> None:
        return None

    def _stretch(self, before: int | None) -> tuple[builtins.list[TaskRow], int]:
        """Some rows with keys below `before`, newest first, and where the next stretch begins; 0 at the end."""
        rows = self._table.newest_last
        end = len(rows) if before is None else bisect_left(rows, before, key=lambda row: row.key)
        begin = max(0, end - _STRETCH)
        return rows[begin:end][::-1], rows[begin].key if begin else 0
