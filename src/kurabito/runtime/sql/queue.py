"""A queue in a database: the port, over a store whose functions run on the database's own threads.

Here is what programs ask for. What only looks is in `reading.py`, what workers need in `working.py`.
"""

from __future__ import annotations

import asyncio
import builtins
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from uuid import UUID

from kurabito.clock import SECOND
from kurabito.db.migrate import RUNTIME, has_set, migrate
from kurabito.db.port import Connection, Database
from kurabito.errors import DatabaseUnavailable, InvalidInput
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.outcomes import microseconds
from kurabito.runtime.sql.delegation import TaskSnapshot, TaskTransaction
from kurabito.runtime.sql.reading import known_id
from kurabito.runtime.sql.records import StoredRecords
from kurabito.runtime.sql.store import INTERRUPT, STATEMENT_ROWS, TaskStore, Told
from kurabito.runtime.sql.working import WorkSide
from kurabito.runtime.states import RETRYABLE
from kurabito.runtime.tasks.intake import MAX_PAYLOAD, PreparedTask, TaskLike, prepare, prepare_many, seconds_of
from kurabito.runtime.worker.log import log_events

T = TypeVar("T")

KEEP: Final = 86_400.0
_KEEP_EVENTS: Final = 3600 * SECOND
_KEEP_WORKERS: Final = 3600 * SECOND


class SqlQueue(WorkSide):
    """Tasks that survive the process."""

    def __init__(
        self,
        database: Database,
        store: TaskStore,
        *,
        max_payload: int = MAX_PAYLOAD,
        keep: float = KEEP,
        create: bool = True,
    ) -> None:
        super().__init__(database, store)
        self.max_payload = max_payload
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
        record = await self._change(lambda conn, told: self._store.add_one(conn, prepared, told))
        self.arrivals.ring()
        return record

    async def enqueue_many(self, tasks: Iterable[TaskLike]) -> Sequence[TaskRecord]:
        prepared = await self._prepare(list(tasks))
        stored = StoredRecords(prepared)
        done = 0
        while done < len(prepared):
            done = await self._change(partial(self._load, prepared, done, stored))
            self.arrivals.ring()
        return stored

    async def transact(self, fn: Callable[[Any], T]) -> T:
        answer = await self._change(lambda conn, _: conn.with_raw(fn))
        self.arrivals.ring()
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
        prepared = prepare(
            task_type, payload, priority, unique_key, delay, run_at, max_attempts, content_type, self.max_payload
        )
        # Logged before the commit, which is the caller's and which we do not see.
        told: Told = []
        record = self._store.add_one(self.database.wrap(conn), prepared, told)
        for name, facts in told:
            log_events(name, facts)
        return record

    async def cancel(self, task_id: UUID | str) -> TaskRecord:
        known = known_id(task_id)
        record, was_running = await self._change(lambda conn, told: self._store.cancel(conn, known, told))
        if was_running:
            self.interrupts.ring()
        return record

    async def retry(self, task_id: UUID | str) -> TaskRecord:
        known = known_id(task_id)
        record = await self._change(lambda conn, told: self._retry(conn, known, told))
        self.arrivals.ring()
        return record

    async def purge(self, *, older_than: float | timedelta | None = None) -> int:
        seconds = seconds_of("older_than", self._keep if older_than is None else older_than)
        if seconds < 0:
            raise InvalidInput("older_than", f"must not be negative, got {seconds} s")
        purged = 0
        while batch := await self.database.write(lambda conn: self._store.purge(conn, microseconds(seconds))):
            purged += batch
        await self.database.write(lambda conn: conn.run(self._store.sql.trim_events, {"age": _KEEP_EVENTS}))
        await self.database.write(lambda conn: conn.run(self._store.sql.forget_workers, {"age": _KEEP_WORKERS}))
        return purged

    def delegate(self, task_types: Iterable[str]) -> None:
        """Let no worker claim tasks of these types here: somebody conducts them."""
        self._reserved |= frozenset(task_types)

    async def delegate_read(self, fn: Callable[[TaskSnapshot], T]) -> T:
        """Run a plain function that only looks, at tasks and whatever else is in the database, at one moment."""
        return await self.database.read(lambda conn: fn(TaskSnapshot(self._store, conn)))

    async def delegate_write(self, fn: Callable[[TaskTransaction], T]) -> T:
        """Run a plain function in one transaction that may start and settle tasks without a lease."""

        def work(conn: Connection, told: Told) -> tuple[T, bool]:
            return fn(TaskTransaction(self._store, conn, told)), any(name != "Progressed" for name, _ in told)

        answer, moved = await self._change(work)
        if moved:
            self.arrivals.ring()
        return answer

    def _connect(self) -> None:
        self.database.open()
        try:
            names = self._store.names
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

    def _hear(self, text: str) -> None:
        if text == INTERRUPT:
            self.interrupts.ring()
        else:
            self.arrivals.ring()
        self._changes.ring()

    def _retry(self, conn: Connection, task_id: UUID, told: Told) -> TaskRecord:
        if self._reserved:
            before = self._store.record(conn, task_id)
            if before.task_type in self._reserved and before.state in RETRYABLE:
                # What is conducted stays over once it is: it is asked for anew.
                again = prepare(
                    before.task_type,
                    before.payload,
                    before.priority,
                    before.unique_key,
                    max_attempts=before.max_attempts,
                    content_type=before.content_type,
                )
                return self._store.add_one(conn, again, told)
        return self._store.retry(conn, task_id, told)

    async def _prepare(self, tasks: builtins.list[TaskLike]) -> builtins.list[PreparedTask]:
        prepare_all = partial(prepare_many, tasks, max_payload=self.max_payload)
        # A large load would keep the event loop from everything else.
        return await asyncio.to_thread(prepare_all) if len(tasks) > STATEMENT_ROWS else prepare_all()

    def _load(
        self, tasks: Sequence[PreparedTask], start: int, stored: StoredRecords, conn: Connection, told: Told
    ) -> int:
        """Store tasks, a thousand by a statement, until the transaction has lasted long enough; where it got to."""
        stored.living_types = self._store.living_types(conn)
        until = time.monotonic() + self._store.longest_load
        while start < len(tasks) and time.monotonic() < until:
            some = tasks[start : start + STATEMENT_ROWS]
            stored.note(start, len(some), conn.now(), self._store.add(conn, some, told))
            start += len(some)
        return start
