"""The scan queue: asking for scans, watching them, cancelling them.

A scan that is asked for is a task, so it survives a restart; asking never waits for the scan itself. A library has at most
one scan that waits or runs, and asking again leads to that one. Requested scans go before those that
are automatic, and otherwise the one that has waited longest is first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from kurabito.clock import SECOND, to_datetime
from kurabito.db import Connection
from kurabito.library import jobs
from kurabito.library.loop import Reconciler
from kurabito.library.reconcile import progress_of
from kurabito.library.scans import sessions
from kurabito.library.tasks import SCAN, TASK_TYPES, library_of, scan_key, scan_of
from kurabito.runtime import Priority, TaskRecord, TaskState
from kurabito.runtime.delegation import DelegatedTasks, TaskSnapshot, TaskTransaction
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.paging import MAX_PAGE

TaskPriority = Priority
"""NORMAL for an automatic scan, HIGH for a requested one."""

KEPT_FOR: Final = timedelta(hours=24)


class TaskStatus(StrEnum):
    """Where a scan stands."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


STATUS: Final = {
    TaskState.QUEUED: TaskStatus.PENDING,
    TaskState.RETRY_SCHEDULED: TaskStatus.PENDING,
    TaskState.RUNNING: TaskStatus.RUNNING,
    TaskState.SUCCEEDED: TaskStatus.COMPLETED,
    TaskState.DEAD: TaskStatus.FAILED,
    TaskState.CANCELLED: TaskStatus.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """How far a scan is. A path is one entry of a folder."""

    scanned_paths: int
    total_paths: int


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a scan found."""

    added_count: int
    removed_count: int
    failed_scrape_count: int
    """New folders without a match."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a scan could not look at. Nothing that was not seen is taken for missing then."""

    count: int
    """How many folders and files."""
    message: str | None
    """The first few of them, why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTask:
    """A scan at one moment."""

    id: UUID
    library_id: int
    priority: int
    status: TaskStatus
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    progress: TaskProgress | None
    """None before it starts and while the total is unknown."""
    result: TaskResult | None
    left_out: LeftOut | None = None
    """None when everything was seen."""
    error: str | None


class ScanQueueService:
    """The queue of scans.

        scans = ScanQueueService(queue, Reconciler(queue))
        task_id = await scans.submit_task(library_id, TaskPriority.HIGH)

    Making one starts what brings tasks and jobs together, and `shutdown` ends that. Without a reconciler this process only
    asks and looks, and another one has it.
    """

    def __init__(self, queue: DelegatedTasks, reconciler: Reconciler | None = None) -> None:
        self._queue = queue
        queue.delegate(TASK_TYPES)
        self._reconciler = reconciler
        self._worker = None if reconciler is None else asyncio.create_task(reconciler.run(), name="reconcile")

    @property
    def trouble(self) -> str | None:
        """Why this process brings no tasks and jobs together, though it should."""
        if self._reconciler is None or self._worker is None:
            return None
        return "what brings tasks and jobs together has ended" if self._worker.done() else self._reconciler.trouble

    async def submit_task(self, library_id: int, priority: TaskPriority) -> UUID:
        """Ask for a scan; the id of the task, which may be one that waits or runs already."""
        active = await self._queue.delegate_read(lambda overview: overview.active(scan_key(library_id)))
        # A repeated request mostly changes nothing; and a read does not wait for writers.
        if active is not None and (active.state is TaskState.RUNNING or active.priority >= priority):
            return active.id
        record = await self._queue.delegate_write(lambda tasks: tasks.enqueue(scan_of(library_id, priority)))
        return record.id

    async def get_task(self, task_id: UUID) -> ScanTask | None:
        """The scan; None when there is none with that id."""
        return await self._queue.delegate_read(lambda overview: _seen(overview, task_id))

    async def get_library_task(self, library_id: int) -> ScanTask | None:
        """The scan of this library that waits or runs; None when there is none."""

        def look(overview: TaskSnapshot) -> ScanTask | None:
            record = overview.active(scan_key(library_id))
            return None if record is None else _scan_task(overview.conn, record)

        return await self._queue.delegate_read(look)

    async def cancel_task(self, task_id: UUID) -> ScanTask:
        """Cancel a scan that waits or runs, and its job with it; raises TaskNotFound or TaskFinished."""

        def work(tasks: TaskTransaction) -> ScanTask:
            jobs.lock_jobs(tasks.conn)
            if tasks.get(task_id).task_type != SCAN:
                raise TaskNotFound(f"no scan has the id {task_id}; it is a task of another kind")
            record = tasks.cancel(task_id)
            job = jobs.of_task(tasks.conn, task_id)
            if job is not None:
                jobs.cancel(tasks.conn, job.id)
            return _scan_task(tasks.conn, record)

        return await self._queue.delegate_write(work)

    async def list_pending(self) -> list[ScanTask]:
        """The scans that wait, the next one first."""
        return await self._queue.delegate_read(lambda overview: _scan_tasks(overview, overview.waiting((SCAN,))))

    async def list_running(self) -> list[ScanTask]:
        """The scans that are under way."""
        return await self._queue.delegate_read(lambda overview: _scan_tasks(overview, overview.running((SCAN,))))

    async def list_history(self, limit: int) -> list[ScanTask]:
        """The scans of the last 24 hours, asked for or finished then, the newest first; what is older is forgotten."""
        await self._forget_old()
        since = to_datetime(await self._queue.database.read(lambda conn: conn.now())) - KEPT_FOR
        found: list[TaskRecord] = []
        cursor: str | None = None
        while len(found) < limit:
            page = await self._queue.list(task_type=SCAN, limit=min(limit, MAX_PAGE), cursor=cursor)
            found += [task for task in page if _is_recent(task, since)]
            if (cursor := page.next_cursor) is None:
                break
        return await self._queue.delegate_read(lambda overview: _scan_tasks(overview, found[:limit]))

    async def shutdown(self) -> None:
        """Stop bringing tasks and jobs together. What waits or runs goes on with the next start."""
        if self._worker is None:
            return
        self._worker.cancel()
        with suppress(asyncio.CancelledError):
            await self._worker

    async def _forget_old(self) -> None:
        age = int(KEPT_FOR.total_seconds()) * SECOND
        if await self._queue.delegate_read(lambda overview: overview.has_old(SCAN, age)):
            await self._queue.delegate_write(lambda tasks: tasks.forget(SCAN, age))


def left_out_by(task: TaskRecord) -> LeftOut | None:
    """What a scan could not look at; None when it saw everything, is not over, or the task is none."""
    found = task.result if task.task_type == SCAN and task.state is TaskState.SUCCEEDED else None
    left_out = found.get("left_out") if isinstance(found, dict) else None
    return None if left_out is None else LeftOut(left_out["count"], left_out["message"])


def _is_recent(task: TaskRecord, since: datetime) -> bool:
    return task.created_at > since or (task.finished_at is not None and task.finished_at > since)


def _seen(overview: TaskSnapshot, task_id: UUID) -> ScanTask | None:
    try:
        record = overview.get(task_id)
    except TaskNotFound:
        return None
    return _scan_task(overview.conn, record) if record.task_type == SCAN else None


def _scan_tasks(overview: TaskSnapshot, records: Sequence[TaskRecord]) -> list[ScanTask]:
    return [_scan_task(overview.conn, record) for record in records]


def _scan_task(conn: Connection, record: TaskRecord) -> ScanTask:
    return ScanTask(
        id=record.id,
        # A task enqueued by another program may name no library; it fails when its turn comes.
        library_id=library_of(record) or 0,
        priority=record.priority,
        status=STATUS[record.state],
        created_at=record.created_at,
        started_at=record.started_at,
        completed_at=record.finished_at,
        progress=_progress(conn, record),
        result=_result(record),
        left_out=left_out_by(record),
        error=record.last_error if record.state is TaskState.DEAD else None,
    )


def _progress(conn: Connection, record: TaskRecord) -> TaskProgress | None:
    # What is under way is asked of the data plane's own notes; the task's row is brought up to date a little later.
    running = record.state is TaskState.RUNNING
    known = progress_of(sessions.of_task(conn, record.id)) if running else record.progress
    return None if known is None or known.total is None else TaskProgress(known.done, known.total)


def _result(record: TaskRecord) -> TaskResult | None:
    if record.state is not TaskState.SUCCEEDED or record.result is None:
        return None
    found = record.result
    return TaskResult(found["added_count"], found["removed_count"], found["failed_scrape_count"])
