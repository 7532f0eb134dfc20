"""What the data plane writes about a scan while it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kurabito.db import Connection, Queries
from kurabito.library import jobs

_SQL: Final = Queries("kurabito.library", "sessions.sql")


@dataclass(frozen=True, slots=True)
class ScanSession:
    """How far a scan is, and what it found."""

    scanned_paths: int
    """A path is one entry of a folder: a file or a folder."""
    total_paths: int | None
    """None while it is not known."""
    added_count: int
    removed_count: int


def of_job(conn: Connection, job_id: str) -> ScanSession | None:
    """The latest session of a job; None before the data plane began one."""
    row = conn.one(_SQL.of_job, {"job_id": job_id})
    return None if row is None else ScanSession(*row)


def of_task(conn: Connection, task_id: UUID) -> ScanSession | None:
    """The latest session of a task."""
    job = jobs.of_task(conn, task_id)
    return None if job is None else of_job(conn, job.id)
