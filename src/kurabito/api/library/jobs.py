"""Jobs: units of disk work, and what a person may do about them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from fastapi import Path, Query
from pydantic import BaseModel, Field

from kurabito.api.bodies import WHOLE, StrictBody
from kurabito.api.paging import PAGE_BEFORE, Limit, PageAnswer
from kurabito.library.jobs import Job, Jobs
from kurabito.protocol.enums import JobKind, JobStatus
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

LibraryNumber = Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]
JobId = Annotated[str, Path(description="the job's id")]


class JobOrder(StrictBody):
    """A job that is asked for."""

    kind: Literal[JobKind.SCAN, JobKind.HASH] = Field(
        description="the other kinds are not made this way: deletes come from plans"
    )
    library_id: LibraryNumber


class JobAnswer(BaseModel):
    """A job at one moment. Times are UTC."""

    id: str
    kind: JobKind
    status: JobStatus
    library_id: int | None
    task_id: UUID | None = Field(description="the task that it is done for; null when it was asked for directly")
    dry_run: bool
    total_items: int | None
    processed_items: int
    progress: float = Field(description="from 0 to 1")
    error_code: str | None = Field(description="stable; what an interface translates")
    error_message: str | None
    lost_leases: int = Field(description="how many workers were lost on it")
    worker: str | None = Field(description="the data plane that has it, or had it last")
    worker_heartbeat_at: datetime | None
    lease_expires_at: datetime | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    may_run: bool = Field(description="false for a job that removes files while `allow_delete` is off: it waits")

    @classmethod
    def of(cls, job: Job) -> Self:
        return cls(**{name: getattr(job, name) for name in cls.model_fields})


class Recovered(BaseModel):
    """How many jobs were taken from workers that are gone."""

    recovered: int


def router(jobs: Jobs) -> Router:
    """The routes of the jobs."""
    routes = Router(prefix="/api/v1/jobs", tags=["jobs"])

    @routes.post("", status_code=201, responses=documented(404, 409, *WITH_BODY))
    async def create_job(order: JobOrder) -> JobAnswer:
        """Ask for a scan or hash now; 409 while another one is pending or running."""
        return JobAnswer.of(await jobs.admit(order.kind, order.library_id))

    @routes.get("", responses=documented(422))
    async def list_jobs(
        status: JobStatus | None = None,
        kind: JobKind | None = None,
        library_id: Annotated[int | None, Query(ge=1, le=BIGGEST_ID)] = None,
        limit: Limit = 50,
        cursor: Annotated[str | None, Query(max_length=200, description=PAGE_BEFORE)] = None,
    ) -> PageAnswer[JobAnswer]:
        """Jobs, newest first, a page at a time."""
        page = await jobs.list(status=status, kind=kind, library_id=library_id, limit=limit, cursor=cursor)
        return PageAnswer[JobAnswer].of(page, JobAnswer.of)

    @routes.post("/recover-stale", responses=documented())
    async def recover_stale_jobs() -> Recovered:
        """Take running jobs from workers that stopped renewing their leases, so that others go on with them."""
        return Recovered(recovered=await jobs.recover_stale())

    @routes.get("/{job_id}", responses=documented(404, 422))
    async def get_job(job_id: JobId) -> JobAnswer:
        """One job."""
        return JobAnswer.of(await jobs.get(job_id))

    @routes.post("/{job_id}/cancel", responses=documented(404, 409, 422))
    async def cancel_job(job_id: JobId) -> JobAnswer:
        """Cancel a job that is not finished; its worker stops at its next step."""
        return JobAnswer.of(await jobs.cancel(job_id))

    @routes.post("/{job_id}/reset", responses=documented(404, 409, 422))
    async def reset_job(job_id: JobId) -> JobAnswer:
        """Put a retryable, failed or cancelled job back to pending; 409 while another scan or hash has the slot."""
        return JobAnswer.of(await jobs.reset(job_id))

    return routes
