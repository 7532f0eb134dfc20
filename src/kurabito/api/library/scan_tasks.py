"""The scan queue: scans that wait, run, or are over."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel, Field

from kurabito.api.bodies import TaskId
from kurabito.library.scans.queue import ScanQueueService, ScanTask, TaskStatus
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.paging import MAX_PAGE
from kurabito.runtime.tasks.intake import parse_id
from kurabito.site.errors import documented
from kurabito.site.routing import Router


class ScanProgressAnswer(BaseModel):
    """How far a scan is. A path is one entry of a folder."""

    scanned_paths: int
    total_paths: int


class ScanResultAnswer(BaseModel):
    """What a scan found."""

    added_count: int
    removed_count: int
    failed_scrape_count: int = Field(description="new folders without a match")


class LeftOutAnswer(BaseModel):
    """What a scan could not look at. Nothing that was not seen is taken for missing then."""

    count: int = Field(description="how many folders and files")
    message: str | None = Field(description="the first few of them, why, and what to do, in English")


class ScanTaskAnswer(BaseModel):
    """A scan at one moment. Times are UTC."""

    id: UUID
    library_id: int
    priority: int = Field(description="the larger goes first: 0 for automatic scans, 1 for requested ones")
    status: TaskStatus
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    progress: ScanProgressAnswer | None = Field(description="null while the total is unknown")
    result: ScanResultAnswer | None
    left_out: LeftOutAnswer | None = Field(description="null when the scan saw everything, or is not over")
    error: str | None

    @classmethod
    def of(cls, task: ScanTask) -> Self:
        progress, result, left_out = task.progress, task.result, task.left_out
        return cls(
            id=task.id,
            library_id=task.library_id,
            priority=task.priority,
            status=task.status,
            created_at=task.created_at,
            started_at=task.started_at,
            completed_at=task.completed_at,
            progress=progress
            and ScanProgressAnswer(scanned_paths=progress.scanned_paths, total_paths=progress.total_paths),
            result=result
            and ScanResultAnswer(
                added_count=result.added_count,
                removed_count=result.removed_count,
                failed_scrape_count=result.failed_scrape_count,
            ),
            left_out=left_out and LeftOutAnswer(count=left_out.count, message=left_out.message),
            error=task.error,
        )


class ScanQueueAnswer(BaseModel):
    """The scans of the last 24 hours, each in one place."""

    pending: list[ScanTaskAnswer] = Field(description="the next one first")
    running: list[ScanTaskAnswer]
    history: list[ScanTaskAnswer] = Field(description="what is over, the newest first")


def router(scans: ScanQueueService) -> Router:
    """The routes of the scan queue."""
    routes = Router(prefix="/api/v1/scan-tasks", tags=["libraries"])

    @routes.get("", responses=documented(422))
    async def list_scan_tasks(
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="how much history")] = 50,
    ) -> ScanQueueAnswer:
        """Every scan that waits or runs, and what is over since yesterday."""
        pending, running = await scans.list_pending(), await scans.list_running()
        shown = {task.id for task in (*pending, *running)}
        history = [task for task in await scans.list_history(limit + len(shown)) if task.id not in shown]
        return ScanQueueAnswer(
            pending=[ScanTaskAnswer.of(task) for task in pending],
            running=[ScanTaskAnswer.of(task) for task in running],
            history=[ScanTaskAnswer.of(task) for task in history[:limit]],
        )

    @routes.get("/{task_id}", responses=documented(404, 422))
    async def get_scan_task(task_id: TaskId) -> ScanTaskAnswer:
        """One scan."""
        task = await scans.get_task(_known(task_id))
        if task is None:
            raise _not_found(task_id)
        return ScanTaskAnswer.of(task)

    @routes.delete("/{task_id}", responses=documented(404, 422))
    async def cancel_scan_task(task_id: TaskId) -> ScanTaskAnswer:
        """Cancel a scan that waits or runs; 400 when it is over already."""
        return ScanTaskAnswer.of(await scans.cancel_task(_known(task_id)))

    return routes


def _known(task_id: str) -> UUID:
    known = parse_id(task_id)
    if known is None:
        raise _not_found(task_id)
    return known


def _not_found(task_id: str) -> TaskNotFound:
    return TaskNotFound(f"no scan has the id {task_id!r}; it may have been forgotten after a day")
