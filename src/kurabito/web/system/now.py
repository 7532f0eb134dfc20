"""*Tasks*, those of now: what runs, what waits and for what, what failed and why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from fastapi import Request, Response

from kurabito.runtime import Queue, TaskRecord, TaskState
from kurabito.site.routing import Router
from kurabito.web.pages import Pages
from kurabito.web.system.task_names import NameTasks, is_routine_task, no_names

_MOST: Final = 20


def router(pages: Pages, queue: Queue, name: NameTasks = no_names) -> Router:
    """The overview of the tasks."""
    routes = Router()

    @routes.get("/now")
    async def now(request: Request) -> Response:
        counts, running, queued, scheduled, dead = await asyncio.gather(
            queue.counts_by_state(),
            queue.list(state=TaskState.RUNNING, limit=_MOST),
            queue.list(state=TaskState.QUEUED, limit=_MOST),
            queue.list(state=TaskState.RETRY_SCHEDULED, limit=_MOST),
            queue.list(state=TaskState.DEAD, limit=_MOST),
        )
        waiting = sorted([*queued, *scheduled], key=_in_order)
        running_ones, routine_running = _apart(running)
        waiting_ones, routine_waiting = _apart(waiting)
        return pages.show(
            request,
            "now.html",
            counts=counts,
            running=running_ones,
            routine_running=routine_running,
            waiting=waiting_ones[:_MOST],
            routine_waiting=routine_waiting,
            named=await name([*running, *waiting, *dead], pages.words(request)),
            all_waiting=counts[TaskState.QUEUED] + counts[TaskState.RETRY_SCHEDULED],
            failed=dead.items,
            nothing=not any(counts.values()),
        )

    return routes


def _apart(tasks: Iterable[TaskRecord]) -> tuple[list[TaskRecord], list[TaskRecord]]:
    """What is of interest, and the polls and checks."""
    listed = list(tasks)
    return [task for task in listed if not is_routine_task(task)], [task for task in listed if is_routine_task(task)]


def _in_order(task: TaskRecord) -> tuple[bool, bool, datetime]:
    """Those that no worker runs first, as they alone wait for a person; then as they will be run."""
    return not task.no_worker, task.next_run_at is not None, task.next_run_at or task.created_at
