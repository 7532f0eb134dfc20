"""A queue in the memory of one process: for tests, for small programs, and as the reference of how a queue behaves."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from uuid import UUID

from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.errors import InvalidInput
from kurabito.runtime.memory import leasing
from kurabito.runtime.memory.reading import MemoryReads
from kurabito.runtime.memory.rows import Records, TaskRow, with_priority
from kurabito.runtime.memory.table import PendingEvents
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.outcomes import Claim, Settlement, microseconds
from kurabito.runtime.port import Beat, Claimed, Presence
from kurabito.runtime.tasks.intake import MAX_PAYLOAD, PreparedTask, TaskLike, prepare, prepare_many, seconds_of
from kurabito.runtime.worker.log import log_events
from kurabito.wakeup import Bell

T = TypeVar("T")

_KEEP: Final = 86_400.0
_ENDINGS: Final = frozenset({"Succeeded", "Dead", "Cancelled"})


class Transaction:
    """What `transact` gives to its function: tasks that are stored when the function returns."""

    def __init__(self) -> None:
        self.tasks: list[PreparedTask] | None = []


class MemoryQueue(MemoryReads):
    """Tasks that live as long as the process."""

    def __init__(self, *, clock: Clock | None = None, max_payload: int = MAX_PAYLOAD, keep: float = _KEEP) -> None:
        super().__init__(clock or SystemClock())
        self.arrivals = Bell()
        self.interrupts = Bell()
        self.max_payload = max_payload
        self._keep = keep
        self._ticks: dict[str, int] = {}
        self._change = _Change(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

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
        prepared = prepare(
            task_type, payload, priority, unique_key, delay, run_at, max_attempts, content_type, self.max_payload
        )
        with self._change as now:
            (row,) = self._table.insert([prepared], now)
            return row.record(self._attendance.types(now))

    async def enqueue_many(self, tasks: Iterable[TaskLike]) -> Sequence[TaskRecord]:
        prepared = prepare_many(tasks, max_payload=self.max_payload)
        with self._change as now:
            rows = self._table.insert(prepared, now)
        return Records(rows, self._lock, self._living_types)

    async def transact(self, fn: Callable[[Any], T]) -> T:
        """Run a plain function, here on the event loop itself; what it enqueued is stored when it returns."""
        transaction = Transaction()
        try:
            answer = fn(transaction)
            tasks = transaction.tasks or ()
        finally:
            transaction.tasks = None
        with self._change as now:
            self._table.insert(tasks, now)
        return answer

    def enqueue_in(
        self,
        conn: Any,
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
        if not isinstance(conn, Transaction) or conn.tasks is None:
            raise InvalidInput(
                "conn", "a queue in memory takes only the connection that `transact` gives, while it runs"
            )
        prepared = prepare(
            task_type, payload, priority, unique_key, delay, run_at, max_attempts, content_type, self.max_payload
        )
        twins = [other for other in conn.tasks if unique_key is not None and other.unique_key == unique_key]
        conn.tasks.append(prepared)
        with self._lock:
            row = self._table.active_keys.get(unique_key) if unique_key is not None else None
            row = row or TaskRow(0, (twins or [prepared])[0], self._clock.now())
            record = row.record(self._living_types())
        return with_priority(record, max(task.priority for task in (prepared, *twins)))

    async def cancel(self, task_id: UUID | str) -> TaskRecord:
        with self._change as now:
            row = self._find(task_id)
            self._table.cancel(row, now)
            return row.record(self._attendance.types(now))

    async def retry(self, task_id: UUID | str) -> TaskRecord:
        with self._change as now:
            row = self._find(task_id)
            self._table.retry(row, now)
            return row.record(self._attendance.types(now))

    async def purge(self, *, older_than: float | timedelta | None = None) -> int:
        seconds = seconds_of("older_than", self._keep if older_than is None else older_than)
        if seconds < 0:
            raise InvalidInput("older_than", f"must not be negative, got {seconds} s")
        limit = self._clock.now() - round(seconds * SECOND)

        def old(row: TaskRow) -> bool:
            return row.finished_at is not None and row.finished_at <= limit

        with self._lock:
            rows = self._table.newest_last[:]
        # Looked through without the lock and asked again with it: the queue may be large and goes on meanwhile.
        candidates = [row for row in rows if old(row)]
        with self._lock:
            return self._table.forget(candidates, old)

    async def claim(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        *,
        lease: float = 30.0,
        settling: Sequence[Settlement] = (),
    ) -> Claimed:
        return self.claim_now(worker, capacity, limit, lease=lease, settling=settling)

    def claim_now(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        *,
        lease: float = 30.0,
        settling: Sequence[Settlement] = (),
    ) -> Claimed:
        owner = leasing.new_owner(worker)
        with self._change as now:
            lost = leasing.settle(self._table, settling, now) if settling else []
            claims = leasing.claim(self._table, owner, capacity, limit, now, microseconds(lease))
            due = self._table.scheduled.head()
        return Claimed(claims, lost, None if due is None else max(0, due[0] - now) / SECOND)

    async def settle(self, settling: Sequence[Settlement]) -> builtins.list[Claim]:
        with self._change as now:
            return leasing.settle(self._table, settling, now)

    def heartbeat(
        self, beats: Sequence[Beat], *, lease: float = 30.0, presence: Presence | None = None
    ) -> builtins.list[Claim]:
        with self._change as now:
            if presence is not None:
                self._attendance.sign(presence, now, microseconds(lease))
            return leasing.beat(self._table, beats, now, microseconds(lease))

    async def promote(self) -> int:
        with self._change as now:
            return self._table.promote(now)

    async def recover(self) -> int:
        with self._change as now:
            return leasing.recover(self._table, now)

    async def expire_worker(self, name: str) -> int:
        with self._change as now:
            return leasing.expire(self._table, name, now)

    async def now(self) -> int:
        return self._clock.now()

    async def fire(self, schedule: str, tick: int, task: PreparedTask, *, next_tick: int | None = None) -> bool:
        with self._change as now:
            last = self._ticks.setdefault(schedule, tick)
            if next_tick is not None and last > next_tick:
                self._ticks[schedule] = last = tick
            if tick <= last:
                return False
            self._ticks[schedule] = tick
            self._table.insert([task], now)
            return True

    def depart(self, worker: str) -> None:
        with self._lock:
            self._attendance.leave(worker)

    def _make_known(self, news: PendingEvents, ended: builtins.list[Bell]) -> None:
        for name, facts in news.events:
            log_events(name, facts)
        if news.events:
            self._happened.ring()
        for bell in ended:
            bell.ring()
        if news.arrived:
            self.arrivals.ring()
        if news.interrupted:
            self.interrupts.ring()

    def _bells_of(self, news: PendingEvents) -> builtins.list[Bell]:
        if not self._awaited:
            return []
        ended = [fact[0] for name, facts in news.events if name in _ENDINGS for fact in facts]
        return [bell for task in ended for bell in self._awaited.get(task, ())]


class _Change:
    """A short critical section at one moment; what it did is made known after it."""

    __slots__ = ("_queue",)

    def __init__(self, queue: MemoryQueue) -> None:
        self._queue = queue

    def __enter__(self) -> int:
        self._queue._lock.acquire()
        return self._queue._clock.now()

    def __exit__(self, *_: object) -> None:
        queue = self._queue
        news = queue._table.take_events()
        ended = queue._bells_of(news)
        queue._lock.release()
        queue._make_known(news, ended)
