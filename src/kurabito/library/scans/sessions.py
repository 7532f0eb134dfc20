"""What the data plane writes about a scan while it goes on, and what is left of it when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.library import jobs
from kurabito.protocol.enums import JobStatus
from kurabito.protocol.error_codes import ErrorCode

_ABANDONED: Final = (
    "scan_sessions.status = 'running' AND NOT EXISTS (SELECT 1 FROM jobs "
    "WHERE jobs.id = scan_sessions.job_id AND jobs.status IN ('pending', 'running', 'retryable'))"
)
"""SQL: whether the session of a scan runs on although its job is over."""
_SQL: Final = Queries("kurabito.library.scans", "sessions.sql", abandoned=_ABANDONED)


@dataclass(frozen=True, slots=True)
class ScanSession:
    """How far a scan is, and what it found."""

    scanned_paths: int
    """A path is one entry of a folder: a file or a folder."""
    total_paths: int | None
    """None while it is not known."""
    added_count: int
    removed_count: int
    error_count: int = 0
    """Files and folders that are there and could not be looked at."""
    error_message: str | None = None
    """Which ones, and why: the first few."""


@dataclass(frozen=True, slots=True)
class PastScan:
    """A scan that is over: how it ended and what was other than before."""

    job_id: str
    status: JobStatus
    ended_at: datetime
    error_code: str | None
    """Why it failed; or, when it was completed, that not everything could be read."""
    error_message: str | None
    added_count: int
    changed_count: int
    moved_count: int
    removed_count: int


def of_job(conn: Connection, job_id: str) -> ScanSession | None:
    """The latest session of a job; None before the data plane began one."""
    row = conn.one(_SQL.of_job, {"job_id": job_id})
    return None if row is None else ScanSession(*row)


def of_task(conn: Connection, task_id: UUID) -> ScanSession | None:
    """The latest session of a task."""
    job = jobs.of_task(conn, task_id)
    return None if job is None else of_job(conn, job.id)


def has_abandoned(conn: Connection) -> bool:
    """Whether a session runs on although its job is over."""
    return conn.one(_SQL.has_abandoned) is not None


def end_abandoned(conn: Connection) -> bool:
    """End the sessions of jobs that are over: a data plane that lost its lease may not write any more, so this falls to us."""
    message = "its job ended before the scan did: it was cancelled, or lost its workers"
    return conn.run(_SQL.end_abandoned, {"code": ErrorCode.SCAN_ABANDONED.value, "message": message}) > 0


def recent(conn: Connection, library_id: int, limit: int) -> list[PastScan]:
    """The last scans of a library that are over, the newest first. They outlive their tasks."""
    return [_past(*row) for row in conn.all(_SQL.recent, {"library_id": library_id, "limit": limit})]


def _past(
    job_id: str,
    status: str,
    ended: int,
    code: str | None,
    message: str | None,
    *counts: int,
) -> PastScan:
    return PastScan(job_id, JobStatus(status), to_datetime(ended), code, message, *counts)
