"""A queue in a database: what a program asks. Its worker's side is in `work.py`."""

from __future__ import annotations

import asyncio
import builtins
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, TypeVar, Unpack
from uuid import UUID

from kurabito.clock import SECOND
from kurabito.db.migrate import RUNTIME, has_set, migrate
from kurabito.db.port import Connection, Database
from kurabito.errors import DatabaseUnavailable, InvalidInput
from kurabito.runtime.delegation import TaskSnapshot, TaskTransaction
from kurabito.runtime.events import PendingEvents, TaskEvent
from kurabito.runtime.history import history_of
from kurabito.runtime.model import Depth, Page, TaskOptions, TaskRecord, WorkerRecord
from kurabito.runtime.outcomes import microseconds
from kurabito.runtime.paging import BIGGEST_ID, check_page, cursor_after
from kurabito.runtime.sql.delegation import SqlSnapshot, SqlTransaction
from kurabito.runtime.sql.records import StoredRecords, record_of, worker_of
from kurabito.runtime.sql.store import STATEMENT_ROWS, Changes, TaskStore
from kurabito.runtime.sql.streams import EventStream, Waiters
from kurabito.runtime.sql.work import SqlWork
from kurabito.runtime.states import TaskState, may_retry
from kurabito.runtime.tasks.intake import PreparedTask, TaskLike, known_id, prepare, prepare_many, seconds_of

T = TypeVar("T")

KEEP: Final = 86_400.0
_KEEP_EVENTS: Final = 3600 * SECOND
_KEEP_WORKERS: Final = 3600 * SECOND


class SqlQueue:
    """Tasks that survive the process."""

    def __init__(
        self,
        changes: Changes,
        store: TaskStore,
        work: SqlWork,
        hear: Callable[[str], None],
        *,
        keep: float = KEEP,
        create: bool = True,
    ) -> None:
        self.database: Database = changes.database
        self.max_payload = work.max_payload
        self.work = work
        self._changes = changes
        self._store = store
        self._lookup = store.lookup
        self._hear = hear
        """Told in any thread what another process did."""
        self._waiters = Waiters(changes.happened, self._finished_among)
        self._keep = keep
        self._create = create
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._connect)
        self._open.callback(self._waiters.close)
        await self._open.enter_async_context(self.database.watching(self._hear))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()
        await asyncio.to_thread(self.database.close)

    async def enqueue(self, task_type: str, payload: Any = None, **options: Unpack[TaskOptions]) -> TaskRecord:
        prepared = prepare(task_type, payload, self.max_payload, **options)
        return await self._changes.run(lambda conn, pending: self._store.add_one(conn, prepared, pending))

    async def enqueue_many(self, tasks: Iterable[TaskLike]) -> Sequence[TaskRecord]:
        prepared = await self._prepare(list(tasks))
        stored = StoredRecords(prepared)
        done = 0
        while done < len(prepared):
            done = await self._changes.run(partial(self._load, prepared, done, stored))
        return stored

    async def transact(self, fn: Callable[[Any], T]) -> T:
        def work(conn: Connection, pending: PendingEvents) -> T:
            # What the function does is its own affair; it may well have enqueued something.
            pending.arrived = True
            return conn.with_raw(fn)

        return await self._changes.run(work)

    def enqueue_in(self, conn: Any, task_type: str, payload: Any = None, **options: Unpack[TaskOptions]) -> TaskRecord:
        prepared = prepare(task_type, payload, self.max_payload, **options)
        pending = PendingEvents()
        record = self._store.add_one(self.database.wrap(conn), prepared, pending)
        # Logged before the commit, which is the caller's and which we do not see.
        pending.log()
        return record

    async def cancel(self, task_id: UUID | str) -> TaskRecord:
        known = known_id(task_id)
        return await self._changes.run(lambda conn, pending: self._store.cancel(conn, known, pending))

    async def retry(self, task_id: UUID | str) -> TaskRecord:
        known = known_id(task_id)
        return await self._changes.run(lambda conn, pending: self._retry(conn, known, pending))

    async def purge(self, *, older_than: float | timedelta | None = None) -> int:
        seconds = seconds_of("older_than", self._keep if older_than is None else older_than)
        if seconds < 0:
            raise InvalidInput("older_than", f"must not be negative, got {seconds} s")
        purged = 0
        while batch := await self.database.write(lambda conn: self._store.purge(conn, microseconds(seconds))):
            purged += batch
        sql = self._store.tables.sql
        await self.database.write(lambda conn: conn.run(sql.trim_events, {"age": _KEEP_EVENTS}))
        await self.database.write(lambda conn: conn.run(sql.forget_workers, {"age": _KEEP_WORKERS}))
        return purged

    async def get(self, task_id: UUID | str) -> TaskRecord:
        known = known_id(task_id)
        return await self.database.read(lambda conn: self._lookup.record(conn, known))

    async def list(
        self,
        *,
        state: TaskState | str | None = None,
        task_type: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TaskRecord]:
        asked = check_page(state, limit, cursor)
        before = BIGGEST_ID if asked.before is None else asked.before
        states = [] if asked.state is None else [asked.state.value]

        def look(conn: Connection) -> Page[TaskRecord]:
            rows = self._lookup.page(conn, states, task_type, before, limit + 1)
            records = self._lookup.marked(conn, [record_of(row) for row in rows[:limit]])
            return Page(records, cursor_after(rows[limit - 1].seq) if len(rows) > limit else None)

        return await self.database.read(look)

    async def counts_by_state(self) -> dict[TaskState, int]:
        return await self.database.read(self._lookup.counts)

    async def depths(self) -> builtins.list[Depth]:
        return await self.database.read(self._lookup.depths)

    async def history(self, task_id: UUID | str) -> builtins.list[TaskEvent]:
        return history_of(await self.get(task_id))

    async def wait(self, task_id: UUID | str, timeout: float | None = None) -> TaskRecord:
        record = await self.get(task_id)
        if record.finished:
            return record
        await self._waiters.wait(record.id, timeout)
        return await self.get(record.id)

    def events(self, *, after: str | None = None) -> EventStream:
        return EventStream(self._changes, self._store.tables, after)

    async def workers(self) -> builtins.list[WorkerRecord]:
        rows = await self.database.read(lambda conn: conn.all(self._store.tables.sql.living_workers))
        return [worker_of(*row) for row in rows]

    async def ping(self) -> None:
        await self.database.read(lambda conn: conn.one("SELECT 1"))

    def delegate(self, task_types: Iterable[str]) -> None:
        self.work.delegated |= frozenset(task_types)

    async def delegate_read(self, fn: Callable[[TaskSnapshot], T]) -> T:
        return await self.database.read(lambda conn: fn(SqlSnapshot(self._lookup, conn)))

    async def delegate_write(self, fn: Callable[[TaskTransaction], T]) -> T:
        def work(conn: Connection, pending: PendingEvents) -> T:
            answer = fn(SqlTransaction(self._store, conn, pending))
            pending.arrived = any(name != "Progressed" for name, _ in pending.events)
            return answer

        return await self._changes.run(work)

    def _connect(self) -> None:
        self.database.open()
        try:
            names = self._store.tables.names
            if not has_set(self.database, RUNTIME, schema=names.schema):
                if not self._create:
                    raise DatabaseUnavailable(
                        "there is no queue in this database yet: the first program that uses it makes one"
                    )
                names.make_schema(self.database)
            migrate(self.database, RUNTIME, schema=names.schema)
        except BaseException:
            self.database.close()
            raise

    def _retry(self, conn: Connection, task_id: UUID, pending: PendingEvents) -> TaskRecord:
        if self.work.delegated:
            before = self._lookup.record(conn, task_id)
            if before.task_type in self.work.delegated and may_retry(before.state):
                # What is delegated stays over once it is: retrying it asks for a new task.
                again = prepare(
                    before.task_type,
                    before.payload,
                    priority=before.priority,
                    unique_key=before.unique_key,
                    max_attempts=before.max_attempts,
                    content_type=before.content_type,
                )
                return self._store.add_one(conn, again, pending)
        return self._store.retry(conn, task_id, pending)

    async def _prepare(self, tasks: builtins.list[TaskLike]) -> builtins.list[PreparedTask]:
        prepare_all = partial(prepare_many, tasks, max_payload=self.max_payload)
        # A large load would keep the event loop from everything else.
        return await asyncio.to_thread(prepare_all) if len(tasks) > STATEMENT_ROWS else prepare_all()

    def _load(
        self, tasks: Sequence[PreparedTask], start: int, stored: StoredRecords, conn: Connection, pending: PendingEvents
    ) -> int:
        """Store tasks, a thousand by a statement, until the transaction has lasted long enough; where it got to."""
        stored.living_types = self._lookup.living_types(conn)
        until = time.monotonic() + self._store.tables.longest_load
        while start < len(tasks) and time.monotonic() < until:
            some = tasks[start : start + STATEMENT_ROWS]
            stored.note(start, len(some), conn.now(), self._store.add(conn, some, pending))
            start += len(some)
        return start

    async def _finished_among(self, ids: Sequence[UUID]) -> set[UUID]:
        return await self.database.read(lambda conn: self._store.tables.finished_among(conn, ids))
