"""The scan queue on SQLite and on PostgreSQL, with a data plane that does what a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from kurabito.clock import ManualClock
from kurabito.db import Connection, Dialect, leases, migrate
from kurabito.db.migrate import PRODUCT
from kurabito.library.loop import Reconciler
from kurabito.library.scans.queue import ScanQueueService, ScanTask
from kurabito.protocol.leased.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue

T = TypeVar("T")

BEGIN = (
    "INSERT INTO scan_sessions (job_id, library_id, total_paths, files_seen, directories_seen, added_count, removed_count, "
    "error_count, error_message, started_at) "
    "VALUES (:job_id, :library_id, :total, :files, :folders, :added, :removed, :errors, :message, :now)"
)
TABLES = ("tasks", "task_events", "task_workers", "task_schedules", "jobs", "scan_sessions", "library_roots")


class Plane:
    """A data plane's hands on the table of jobs."""

    def __init__(self, queue: SqlQueue) -> None:
        self._database = queue.database
        self._owner = "plane#1"

    async def begin(self) -> tuple[str, str, int] | None:
        """Claim the job that is pending: its id, kind and library."""
        rows = await self._database.write(lambda conn: leases.claim(conn, JOBS, self._owner, lease=30_000_000, limit=1))
        return rows[0][:3] if rows else None

    async def note(self, job_id: str, library_id: int, **cells: int | str | None) -> None:
        """Write how far the scan is, as a new session."""
        empty = {"total": None, "files": 0, "folders": 0, "added": 0, "removed": 0, "errors": 0, "message": None}
        values = {**empty, **cells, "job_id": job_id, "library_id": library_id}
        await self._database.write(lambda conn: conn.run(BEGIN, values))

    async def finish(self, job_id: str, status: str = "completed", code: str | None = None) -> None:
        """Say how the job ended."""
        rows = [(job_id, self._owner, status, 1.0, code, f"because of {code}" if code else None)]
        lost = await self._database.write(
            lambda conn: leases.finish(conn, JOBS, FINISH, rows, given=FINISH_VALUES, columns=FINISH_COLUMNS)
        )
        assert not lost

    async def work(self, status: str = "completed", code: str | None = None) -> int:
        """Do the job that is pending; its library."""
        claimed = await self.begin()
        assert claimed is not None
        await self.finish(claimed[0], status, code)
        return claimed[2]


class Desk:
    """Everything about scans over one queue; nothing happens by itself."""

    def __init__(self, queue: SqlQueue, clock: ManualClock) -> None:
        self.queue = queue
        self.clock = clock
        self.scans = ScanQueueService(queue)
        self.reconciler = Reconciler(queue, clock=clock)
        self.plane = Plane(queue)

    async def settle(self) -> None:
        """Bring tasks and jobs together until nothing moves."""
        while await self.reconciler.step():
            pass

    async def task(self, task_id: Any) -> ScanTask:
        found = await self.scans.get_task(task_id)
        assert found is not None
        return found

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return await self.queue.database.read(lambda conn: conn.all(sql))


class Ground:
    """One database for many examples, each on cleared ground."""

    def __init__(self, url: str, clock: ManualClock) -> None:
        self._runner = asyncio.Runner()
        self._opened = open_queue(url, clock=clock)
        queue = self.run(self._opened.__aenter__())
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        self.desk = Desk(queue, clock)
        self.is_quick = queue.database.dialect is Dialect.SQLITE

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def clear(self) -> None:
        self.run(self.desk.queue.database.write(_clear))

    def close(self) -> None:
        self.run(self._opened.__aexit__(None, None, None))
        self._runner.close()


def _clear(conn: Connection) -> None:
    for table in TABLES:
        conn.run(f"DELETE FROM {table}")


@pytest.fixture
def ground(url: str, clock: ManualClock) -> Iterator[Ground]:
    ground = Ground(url, clock)
    yield ground
    ground.close()


@pytest.fixture
async def desk(url: str, clock: ManualClock) -> AsyncIterator[Desk]:
    async with open_queue(url, clock=clock) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        yield Desk(queue, clock)
