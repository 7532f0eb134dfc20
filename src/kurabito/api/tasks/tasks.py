"""Tasks: ask for one, look at them, cancel, retry."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query, Response
from pydantic import BaseModel, Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody, TaskId
from kurabito.api.paging import PAGE_BEFORE, Limit, PageAnswer
from kurabito.api.tasks.task_models import TaskAnswer
from kurabito.runtime import Queue, TaskRecord, TaskState
from kurabito.runtime.tasks.intake import PreparedTask, prepare
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

_PRIORITY: Final = 2**31
CENTURY: Final = 100 * 365 * 86_400.0
"""Seconds that a task may wait at most."""
_CURSOR: Final = r"^(0|[1-9a-f][0-9a-f]{0,14})$"


class TaskOrder(StrictBody):
    """A task that is asked for."""

    task_type: ShortText
    payload: Any = Field(None, description="any JSON; what the worker is given")
    priority: Annotated[int, Field(ge=-_PRIORITY, lt=_PRIORITY), WHOLE] = Field(0, description="the larger goes first")
    unique_key: ShortText | None = Field(
        None, description="while an active task has it, that one is answered and none is made"
    )
    delay: float | None = Field(None, ge=0, le=CENTURY, allow_inf_nan=False, description="seconds to wait first")
    max_attempts: Annotated[int, Field(ge=1, le=1_000_000), WHOLE] | None = Field(
        None, description="default: what its worker says, else 5"
    )

    def prepared(self, max_payload: int) -> PreparedTask:
        """The task, ready to be stored. Its id is known before, and so is told from that of a task with the same key."""
        return prepare(
            self.task_type,
            self.payload,
            max_payload,
            priority=self.priority,
            unique_key=self.unique_key,
            delay=self.delay,
            max_attempts=self.max_attempts,
        )


class TaskCounts(BaseModel):
    """How many tasks are in each state."""

    queued: int
    running: int
    retry_scheduled: int
    succeeded: int
    dead: int
    cancelled: int


def router(queue: Queue) -> Router:
    """The routes of the tasks in one queue."""
    routes = Router(prefix="/api/v1/tasks", tags=["tasks"])

    @routes.post(
        "",
        status_code=201,
        responses={
            200: {"model": TaskAnswer, "description": "A task with this unique key is active: here it is"},
            **documented(*WITH_BODY),
        },
    )
    async def enqueue_task(order: TaskOrder, response: Response) -> TaskAnswer:
        """Ask for a task."""
        task, is_new = await _enqueue(queue, order)
        response.status_code = 201 if is_new else 200
        return TaskAnswer.of(task)

    @routes.get("", responses=documented(422))
    async def list_tasks(
        state: TaskState | None = None,
        task_type: Annotated[ShortText | None, Query()] = None,
        limit: Limit = 50,
        cursor: Annotated[str | None, Query(pattern=_CURSOR, description=PAGE_BEFORE)] = None,
    ) -> PageAnswer[TaskAnswer]:
        """Tasks, newest first, a page at a time."""
        page = await queue.list(state=state, task_type=task_type, limit=limit, cursor=cursor)
        return PageAnswer[TaskAnswer].of(page, TaskAnswer.of)

    @routes.get("/counts", responses=documented())
    async def count_tasks() -> TaskCounts:
        """How many tasks are in each state."""
        counts = await queue.counts_by_state()
        return TaskCounts(**{state.value: count for state, count in counts.items()})

    @routes.get("/{task_id}", responses=documented(404, 422))
    async def get_task(task_id: TaskId) -> TaskAnswer:
        """One task."""
        return TaskAnswer.of(await queue.get(task_id))

    @routes.post("/{task_id}/cancel", responses=documented(404, 422))
    async def cancel_task(task_id: TaskId) -> TaskAnswer:
        """Cancel a task that waits or runs; 400 when it is over already."""
        return TaskAnswer.of(await queue.cancel(task_id))

    @routes.post("/{task_id}/retry", responses=documented(404, 409, 422))
    async def retry_task(task_id: TaskId) -> TaskAnswer:
        """Put a dead or cancelled task back, its attempts at 0."""
        return TaskAnswer.of(await queue.retry(task_id))

    return routes


async def _enqueue(queue: Queue, order: TaskOrder) -> tuple[TaskRecord, bool]:
    """The task, and whether it was made for this order."""
    task = order.prepared(queue.max_payload)
    (record,) = await queue.enqueue_many([task])
    return record, record.id == task.id
