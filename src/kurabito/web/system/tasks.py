"""*Tasks*: every task, a page at a time, and one with all that is known of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import Request, Response

from kurabito.runtime import Queue, TaskRecord, TaskState
from kurabito.runtime.history import history_of
from kurabito.site.routing import Router
from kurabito.web.forms import fields_of
from kurabito.web.pages import Pages
from kurabito.web.system.task_names import NameTasks, no_names, runs_of

_PAGE: Final = 50


def router(pages: Pages, queue: Queue, name: NameTasks = no_names) -> Router:
    """The list, the detail, and what can be done to a task."""
    routes = Router()

    @routes.get("/tasks")
    async def tasks(request: Request) -> Response:
        asked = request.query_params
        state, task_type, cursor = (
            asked.get("state") or None,
            asked.get("type", "").strip() or None,
            asked.get("cursor"),
        )
        page, workers = await asyncio.gather(
            queue.list(state=state, task_type=task_type, limit=_PAGE, cursor=cursor), queue.workers()
        )
        known_types = {task.task_type for task in page} | {name for worker in workers for name in worker.task_types}
        return pages.show(
            request,
            "tasks.html",
            page=page,
            runs=runs_of(page),
            named=await name(page.items, pages.words(request)),
            state=TaskState(state) if state else None,
            task_type=task_type,
            cursor=cursor,
            known_types=sorted(known_types),
        )

    @routes.get("/tasks/{task_id}")
    async def task(request: Request, task_id: str) -> Response:
        found = await queue.get(task_id)
        tracebacks = {(error.at, error.attempt): error.traceback for error in found.errors}
        return pages.show(
            request,
            "task.html",
            task=found,
            named=await name([found], pages.words(request)),
            history=history_of(found),
            tracebacks=tracebacks,
        )

    @routes.post("/tasks/{task_id}/cancel")
    async def cancel(request: Request, task_id: str) -> Response:
        return await move(request, task_id, queue.cancel)

    @routes.post("/tasks/{task_id}/retry")
    async def retry(request: Request, task_id: str) -> Response:
        return await move(request, task_id, queue.retry)

    async def move(request: Request, task_id: str, change: Callable[[str], Awaitable[TaskRecord]]) -> Response:
        """Change the task and go back to where its button stood."""
        fields = await fields_of(request)
        changed = await change(task_id)
        return pages.go_back(fields, f"/tasks/{changed.id}")

    return routes
