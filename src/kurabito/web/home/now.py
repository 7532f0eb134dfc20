"""*Now*: what runs, what waits and for what, what failed and why."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Final

from fastapi import APIRouter, Request, Response

from kurabito.runtime import Queue, TaskRecord, TaskState
from kurabito.web.pages import Pages

_MOST: Final = 20


def router(pages: Pages, queue: Queue) -> APIRouter:
    """The first page."""
    routes = APIRouter()

    @routes.get("/")
    async def now(request: Request) -> Response:
        counts, running, queued, scheduled, dead = await asyncio.gather(
            queue.counts_by_state(),
            queue.list(state=TaskState.RUNNING, limit=_MOST),
            queue.list(state=TaskState.QUEUED, limit=_MOST),
            queue.list(state=TaskState.RETRY_SCHEDULED, limit=_MOST),
            queue.list(state=TaskState.DEAD, limit=_MOST),
        )
        waiting = sorted([*queued, *scheduled], key=_in_order)
        return pages.show(
            request,
            "now.html",
            counts=counts,
            running=running.items,
            waiting=waiting[:_MOST],
            all_waiting=counts[TaskState.QUEUED] + counts[TaskState.RETRY_SCHEDULED],
            failed=dead.items,
            nothing=not any(counts.values()),
        )

    return routes


def _in_order(task: TaskRecord) -> tuple[bool, bool, datetime]:
    """Those that no worker runs first, as they alone wait for a person; then as they will be run."""
    return not task.no_worker, task.next_run_at is not None, task.next_run_at or task.created_at
