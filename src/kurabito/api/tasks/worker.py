"""External workers: programs in any language that claim tasks, work, and report over HTTP.

A claim gives each task a lease token. Every later word about the task carries it, and is refused (409 `lease_lost`) once
the task was cancelled or went to another worker. `docs/worker-protocol.md` is the contract.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Depends, Request
from pydantic import BaseModel, Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody, TaskId
from kurabito.api.disconnects import watched
from kurabito.api.tasks.claims import ClaimDesk, ClaimRequest
from kurabito.api.tasks.task_models import ProgressAnswer, TaskAnswer, shown
from kurabito.api.tasks.tasks import CENTURY, TaskOrder
from kurabito.api.tasks.versions import VersionedRoute, speaks_our_version
from kurabito.clock import to_datetime
from kurabito.errors import InvalidInput
from kurabito.protocol.external import LONGEST_WAIT, MOST_CLAIMED, MOST_FOLLOW_UPS
from kurabito.runtime import Queue
from kurabito.runtime.model import Progress
from kurabito.runtime.outcomes import Claim
from kurabito.runtime.tasks.intake import PreparedTask
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

# Up to here every reader of JSON counts exactly.
_LARGEST: Final = 2**53

LeaseToken = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[!-~]+$", description="from the claim")]
Count = Annotated[int, Field(ge=0, le=_LARGEST), WHOLE]


class ClaimOrder(StrictBody):
    """What a worker would like to do."""

    worker: str = Field(pattern=r"^[A-Za-z0-9._-]{1,200}$", description="a name that no other worker has")
    task_types: list[ShortText] = Field(min_length=1, max_length=100)
    max: Annotated[int, Field(ge=1, le=MOST_CLAIMED), WHOLE] = Field(1, description="how many tasks at most")
    wait: float = Field(0.0, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds to wait for the first")


class ClaimedTask(BaseModel):
    """A task that is now the worker's, until its lease ends."""

    id: UUID
    task_type: str
    payload: Any = Field(description="the JSON itself; base64 when `content_type` is another than application/json")
    content_type: str
    attempt: int = Field(description="1 the first time")
    progress: ProgressAnswer | None = Field(description="what was reported last, also by a worker before: resume there")
    lease_token: str
    lease_expires_at: datetime

    @classmethod
    def of(cls, claim: Claim) -> ClaimedTask:
        payload, content_type = shown(claim.payload, claim.content_type)
        return cls(
            id=claim.id,
            task_type=claim.task_type,
            payload=payload,
            content_type=content_type,
            attempt=claim.attempt,
            progress=ProgressAnswer.of(claim.progress),
            lease_token=claim.owner,
            lease_expires_at=to_datetime(claim.lease_expires_at),
        )


class ClaimAnswer(BaseModel):
    """What a claim brought; no tasks when there were none in time."""

    tasks: list[ClaimedTask]
    lease_seconds: float = Field(description="how long a lease lasts: send a heartbeat at least twice as often")


class HeartbeatBody(StrictBody):
    """A sign of life, with progress when there is news of it."""

    lease_token: LeaseToken
    done: Count | None = Field(None, description="absent when there is no news")
    total: Count | None = Field(None, description="absent while it is not known")


class LeaseAnswer(BaseModel):
    """The lease, renewed."""

    lease_expires_at: datetime


class CompletionBody(StrictBody):
    """The work is done."""

    lease_token: LeaseToken
    result: Any = Field(None, description="any JSON")
    follow_ups: list[TaskOrder] = Field(
        [], max_length=MOST_FOLLOW_UPS, description="tasks that are enqueued together with this success, or not at all"
    )

    def prepared(self, max_payload: int) -> Iterator[PreparedTask]:
        """The follow-ups, ready to be stored."""
        for place, order in enumerate(self.follow_ups):
            try:
                yield order.prepared(max_payload)
            except InvalidInput as problem:
                raise type(problem)(f"follow_ups.{place}.{problem.field}", problem.problem) from problem


class SnoozeBody(StrictBody):
    """The work cannot be done yet."""

    lease_token: LeaseToken
    seconds: float = Field(ge=0, le=CENTURY, allow_inf_nan=False, description="when to try again; 0: at once")


class FailureBody(StrictBody):
    """The work could not be done."""

    lease_token: LeaseToken
    error: str = Field(min_length=1, description="what happened; the last 10,000 characters are kept")
    permanent: bool = Field(False, description="do not try again")


def router(queue: Queue, desk: ClaimDesk) -> Router:
    """The routes for external workers."""
    routes = Router(
        prefix="/api/v1/worker",
        tags=["external workers"],
        route_class=VersionedRoute,
        dependencies=[Depends(speaks_our_version)],
    )
    lost = documented(404, 409, *WITH_BODY)

    @routes.post("/claim", responses=documented(*WITH_BODY))
    async def claim_tasks(order: ClaimOrder, request: Request) -> ClaimAnswer:
        """Take tasks to work on, waiting for the first if asked to. The worker counts as living from then on."""
        wanted = ClaimRequest(order.worker, tuple(dict.fromkeys(order.task_types)), order.max, order.wait)
        async with watched(request.receive, wanted.stir) as has_left:
            claims = await desk.claim(wanted, has_left)
        return ClaimAnswer(tasks=[ClaimedTask.of(claim) for claim in claims], lease_seconds=desk.lease)

    @routes.post("/tasks/{task_id}/heartbeat", responses=lost)
    async def heartbeat(task_id: TaskId, beat: HeartbeatBody) -> LeaseAnswer:
        """Keep the task, and say how far it is. 409 says to stop: it was cancelled, or went to another worker."""
        progress = None if beat.done is None else Progress(beat.done, beat.total)
        return LeaseAnswer(lease_expires_at=to_datetime(await desk.beat(task_id, beat.lease_token, progress)))

    @routes.post("/tasks/{task_id}/complete", responses=lost)
    async def complete_task(task_id: TaskId, completion: CompletionBody) -> TaskAnswer:
        """Say that the task is done, and what is to follow it."""
        await desk.complete(task_id, completion.lease_token, completion.result, completion.prepared)
        return TaskAnswer.of(await queue.get(task_id))

    @routes.post("/tasks/{task_id}/fail", responses=lost)
    async def fail_task(task_id: TaskId, breakdown: FailureBody) -> TaskAnswer:
        """Say that the attempt failed. The task is tried again later unless it is out of attempts, or `permanent`."""
        await desk.fail(task_id, breakdown.lease_token, breakdown.error, permanent=breakdown.permanent)
        return TaskAnswer.of(await queue.get(task_id))

    @routes.post("/tasks/{task_id}/snooze", responses=lost)
    async def snooze_task(task_id: TaskId, rest: SnoozeBody) -> TaskAnswer:
        """Give the task back until later. The attempt does not count: it is no failure that it cannot be done yet."""
        await desk.snooze(task_id, rest.lease_token, rest.seconds)
        return TaskAnswer.of(await queue.get(task_id))

    return routes
