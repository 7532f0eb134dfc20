"""Jobs: units of disk work. Here they are admitted, listed, cancelled and taken up again; the data plane executes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import AdvisoryLock, Connection, Database, Queries, leases
from kurabito.db.errors import UniqueConflict
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.errors import InvalidInput
from kurabito.library import libraries
from kurabito.library.deletion import policy
from kurabito.library.errors import DeletionNotAllowed, JobConflict, JobNotFound
from kurabito.protocol.deletion import JOB_REMOVES
from kurabito.protocol.enums import SLOT_KINDS, JobKind, JobStatus
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.jobs import JOBS
from kurabito.runtime.model import MAX_LOST_LEASES, Page
from kurabito.runtime.outcomes import worker_name
from kurabito.runtime.paging import check_limit
from kurabito.runtime.tasks.intake import new_ids
from kurabito.wakeup import Bell

_JOB: Final = ColumnList(
    "id, kind, status, library_id, task_id, dry_run, total_items, processed_items, progress, error_code, error_message, "
    "lost_leases, worker_id, worker_heartbeat_at, lease_expires_at, created_at, updated_at, started_at, finished_at, "
    f"CASE WHEN {JOB_REMOVES} THEN 1 ELSE 0 END AS removes"
)
_SQL: Final = Queries("kurabito.library", "jobs.sql", job=_JOB)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A unit of disk work at one moment."""

    id: str
    kind: JobKind
    status: JobStatus
    library_id: int | None
    task_id: UUID | None
    """The task that it is done for; None when it was asked for directly."""
    dry_run: bool
    total_items: int | None
    processed_items: int
    progress: float
    error_code: str | None
    error_message: str | None
    lost_leases: int
    worker: str | None
    worker_heartbeat_at: datetime | None
    lease_expires_at: datetime | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    may_run: bool
    """False for a job that removes something while the keeper does not let anything be removed."""

    @property
    def has_slot(self) -> bool:
        """Whether no other scan or hash may be pending or running beside it."""
        return self.kind in SLOT_KINDS and self.status in (JobStatus.PENDING, JobStatus.RUNNING)


def lock_jobs(conn: Connection) -> None:
    """Take turns with every other transaction that decides about jobs."""
    conn.lock(AdvisoryLock.JOBS)


def insert(conn: Connection, kind: JobKind, library_id: int, task_id: UUID | None = None) -> str:
    """Make a pending job; its id. Raises UniqueConflict when the slot is taken."""
    job_id = str(UUID(hex=new_ids(1)[0]))
    for_task = None if task_id is None else str(task_id)
    conn.run(_SQL.insert, {"id": job_id, "kind": kind.value, "library_id": library_id, "task_id": for_task})
    return job_id


def find(conn: Connection, job_id: str) -> Job:
    """The job; raises JobNotFound."""
    row = conn.one(_SQL.get, {"id": job_id})
    if row is None:
        raise JobNotFound(f"no job has the id {job_id!r}")
    return _job(conn, row)


def of_task(conn: Connection, task_id: UUID) -> Job | None:
    """The job that a task has or had last."""
    row = conn.one(_SQL.of_task, {"task_id": str(task_id)})
    return None if row is None else _job(conn, row)


def code_before(conn: Connection, job: Job) -> str | None:
    """The error code of the job that the task of this one had before it."""
    code: str | None = conn.value(_SQL.code_before, {"id": job.id, "task_id": str(job.task_id)})
    return code


def note_code(conn: Connection, job_id: str, code: ErrorCode, message: str) -> None:
    """Write on a job that is over what was wrong with it, beside what its data plane said."""
    conn.run(_SQL.note_code, {"id": job_id, "error_code": code.value, "error_message": message})


def active(conn: Connection) -> list[Job]:
    """The jobs that are not finished, the oldest first."""
    return sorted((_job(conn, row) for row in conn.all(_SQL.active)), key=lambda job: (job.created_at, job.id))


def cancel(conn: Connection, job_id: str) -> bool:
    """Cancel a job that is not finished. Its worker finds out at its next step; false when it was finished."""
    return conn.run(_SQL.cancel, {"id": job_id}) == 1


def give_way(conn: Connection, job_id: str, reason: str) -> bool:
    """Take a job out of the slot so that another can have it; false when it was finished."""
    return conn.run(_SQL.give_way, {"id": job_id, "error_code": ErrorCode.GAVE_WAY.value, "error_message": reason}) == 1


def requeue_or_fail(conn: Connection, job: Job) -> None:
    """Take a job out of retryable: back to pending, or failed when it has lost too many workers."""
    lost = job.lost_leases + (job.error_code == ErrorCode.LEASE_EXPIRED)
    if lost < MAX_LOST_LEASES:
        conn.run(_SQL.give_back, {"id": job.id, "lost_leases": lost})
        return
    message = f"{lost} workers were lost while they worked on it; the last time: {job.error_message}"
    values = {"lost_leases": lost, "error_code": ErrorCode.WORKER_LOST.value, "error_message": message}
    conn.run(_SQL.fail, {"id": job.id, **values})


class Jobs:
    """The jobs of one database, for async callers."""

    def __init__(self, database: Database, changed: Bell | None = None) -> None:
        self._database = database
        self._changed = changed or Bell()
        """Rung when a job was made, cancelled or taken up again by hand."""

    async def admit(self, kind: JobKind, library_id: int) -> Job:
        """Ask for a scan or hash now; raises JobConflict when one is under way."""
        if kind not in SLOT_KINDS:
            origin = "deletes come from plans" if kind is JobKind.DELETE else "thumbnails have a queue of their own"
            asked = " or ".join(one.value for one in JobKind if one in SLOT_KINDS)
            raise InvalidInput("kind", f"must be {asked}: {origin}")

        def work(conn: Connection) -> Job:
            lock_jobs(conn)
            libraries.find_staying(conn, library_id)
            return find(conn, insert(conn, kind, library_id))

        return await self._move(work, "wait for it or cancel it; a scan of a library can wait its turn instead")

    async def get(self, job_id: str) -> Job:
        """The job; raises JobNotFound."""
        return await self._database.read(lambda conn: find(conn, job_id))

    async def list(
        self,
        *,
        status: JobStatus | None = None,
        kind: JobKind | None = None,
        library_id: int | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Job]:
        """Jobs, newest first. The cursor is the id of the last job of the page before."""
        check_limit(limit)
        wanted = {"status": status and status.value, "kind": kind and kind.value, "library_id": library_id}

        def look(conn: Connection) -> Page[Job]:
            rows = _page(conn, {**wanted, "limit": limit + 1}, cursor)
            found = tuple(_job(conn, row) for row in rows[:limit])
            return Page(found, found[-1].id if len(rows) > limit else None)

        return await self._database.read(look)

    async def cancel(self, job_id: str) -> Job:
        """Cancel a job that is not finished; raises JobNotFound or JobConflict."""

        def work(conn: Connection) -> Job:
            lock_jobs(conn)
            job = find(conn, job_id)
            if not cancel(conn, job_id):
                raise JobConflict(f"job {job_id} is {job.status} already, so there is nothing to cancel")
            return find(conn, job_id)

        return await self._move(work)

    async def reset(self, job_id: str) -> Job:
        """Put a retryable, failed or cancelled job back to pending; raises JobNotFound, JobConflict or DeletionNotAllowed."""

        def work(conn: Connection) -> Job:
            lock_jobs(conn)
            job = find(conn, job_id)
            if not job.may_run:
                raise DeletionNotAllowed(
                    f"job {job_id} removes files, and nothing is removed while the setting allow_delete is off; "
                    "set KURABITO_ALLOW_DELETE=true and restart, then reset it"
                )
            # The task of one that was finished has been told so, and is not opened again.
            kept = job.task_id if job.status is JobStatus.RETRYABLE else None
            if not conn.run(_SQL.reset, {"id": job_id, "task_id": None if kept is None else str(kept)}):
                raise JobConflict(
                    f"job {job_id} is {job.status}; only a retryable, failed or cancelled one can be reset"
                )
            return find(conn, job_id)

        return await self._move(work, "wait for it or cancel it, then reset this one")

    async def recover_stale(self) -> int:
        """Take running jobs from workers that stopped renewing their leases; how many."""

        def work(conn: Connection) -> int:
            lock_jobs(conn)
            return len(leases.recover(conn, JOBS))

        recovered = await self._database.write(work)
        self._changed.ring()
        return recovered

    async def _move(self, work: Callable[[Connection], Job], advice: str = "") -> Job:
        try:
            job = await self._database.write(work)
        except UniqueConflict as taken:
            raise JobConflict(
                f"another scan or hash is pending or running, and there is one at a time; {advice}"
            ) from taken
        self._changed.ring()
        return job


def _page(conn: Connection, wanted: Mapping[str, Any], cursor: str | None) -> Sequence[Row]:
    if cursor is None:
        return conn.all(_SQL.first_page, wanted)
    created_at = conn.value(_SQL.created_at, {"id": cursor})
    if created_at is None:
        raise InvalidInput("cursor", f"no job has the id {cursor!r} any more; begin again without it")
    return conn.all(_SQL.next_page, {**wanted, "id": cursor, "created_at": created_at})


def _job(conn: Connection, row: Row) -> Job:
    job = _JOB.row(row)
    return Job(
        id=job.id,
        kind=JobKind(job.kind),
        status=JobStatus(job.status),
        library_id=job.library_id,
        task_id=None if job.task_id is None else UUID(job.task_id),
        dry_run=bool(job.dry_run),
        total_items=job.total_items,
        processed_items=job.processed_items,
        progress=job.progress,
        error_code=job.error_code,
        error_message=job.error_message,
        lost_leases=job.lost_leases,
        worker=worker_name(job.worker_id),
        worker_heartbeat_at=optional_datetime(job.worker_heartbeat_at),
        lease_expires_at=optional_datetime(job.lease_expires_at),
        created_at=to_datetime(job.created_at),
        updated_at=to_datetime(job.updated_at),
        started_at=optional_datetime(job.started_at),
        finished_at=optional_datetime(job.finished_at),
        may_run=not job.removes or policy.is_allowed(conn),
    )
