"""The half of a queue in a database that only looks."""

from __future__ import annotations

import asyncio
import builtins
import json
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from kurabito.clock import to_datetime
from kurabito.db.port import Connection, Database
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.events import TaskEvent
from kurabito.runtime.history import history_of
from kurabito.runtime.model import Depth, Page, TaskRecord, WorkerRecord
from kurabito.runtime.outcomes import Claim
from kurabito.runtime.paging import check_page, cursor_after
from kurabito.runtime.sql.records import record_of
from kurabito.runtime.sql.store import TaskStore
from kurabito.runtime.sql.streams import EventStream, Waiters
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import parse_id
from kurabito.wakeup import Bell

_NEWEST: Final = 2**63 - 1


class SqlReads:
    """What can be asked about tasks, and how they are watched."""

    def __init__(self, database: Database, store: TaskStore) -> None:
        self.database = database
        self._store = store
        self._changes = Bell()
        """Rings when something happened to a task, here or, as far as it is noticed, in another process."""
        self._waiters = Waiters(self._changes, self._finished_among)
        self._starting: set[asyncio.Future[Any]] = set()

    async def get(self, task_id: UUID | str) -> TaskRecord:
        known = known_id(task_id)
        return await self.database.read(lambda conn: self._store.record(conn, known))

    async def list(
        self,
        *,
        state: TaskState | str | None = None,
        task_type: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TaskRecord]:
        asked = check_page(state, limit, cursor)
        before = _NEWEST if asked.before is None else asked.before
        states = [] if asked.state is None else [asked.state.value]

        def look(conn: Connection) -> Page[TaskRecord]:
            rows = self._store.page(conn, states, task_type, before, limit + 1)
            records = self._store.marked(conn, [record_of(row) for row in rows[:limit]])
            return Page(records, cursor_after(rows[limit - 1][0]) if len(rows) > limit else None)

        return await self.database.read(look)

    async def counts_by_state(self) -> dict[TaskState, int]:
        return await self.database.read(self._store.counts)

    async def depths(self) -> builtins.list[Depth]:
        return await self.database.read(self._store.depths)

    async def held(self, task_id: UUID | str, owner: str) -> Claim:
        known = known_id(task_id)
        return await self.database.read(lambda conn: self._store.held(conn, known, owner))

    async def history(self, task_id: UUID | str) -> builtins.list[TaskEvent]:
        return history_of(await self.get(task_id))

    async def wait(self, task_id: UUID | str, timeout: float | None = None) -> TaskRecord:
        record = await self.get(task_id)
        if record.finished:
            return record
        await self._waiters.wait(record.id, timeout)
        return await self.get(record.id)

    def events(self, *, after: str | None = None) -> EventStream:
        stream = EventStream(self.database, self._store, self._changes, after)
        self._starting.add(stream.starting)
        stream.starting.add_done_callback(self._starting.discard)
        return stream

    async def workers(self) -> builtins.list[WorkerRecord]:
        rows = await self.database.read(lambda conn: conn.all(self._store.sql.living_workers))
        return [
            WorkerRecord(name, tuple(json.loads(types)), concurrency, to_datetime(started), to_datetime(heard))
            for name, types, concurrency, started, heard in rows
        ]

    async def ping(self) -> None:
        await self.database.read(lambda conn: conn.one("SELECT 1"))

    async def _finished_among(self, ids: Sequence[UUID]) -> set[UUID]:
        return await self.database.read(lambda conn: self._store.finished_among(conn, ids))


def known_id(task_id: UUID | str) -> UUID:
    """The id as a UUID; what is none can name no task."""
    known = parse_id(task_id)
    if known is None:
        raise TaskNotFound(f"no task has the id {task_id!r}; an id is a UUID")
    return known
