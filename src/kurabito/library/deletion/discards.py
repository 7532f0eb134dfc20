"""Files that their keeper deletes: they go to the trash, whether a copy of them is there or not, and come back with one click."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kurabito.db import Connection, Database, Queries
from kurabito.errors import InvalidInput
from kurabito.library.deletion.delete_jobs import order_delete_job
from kurabito.library.errors import DeletionNotAllowed, TrashConflict, TrashNotFound
from kurabito.protocol.enums import JobStatus

MOST: Final = 1000
"""Files that are deleted at once."""
_JOB: Final = re.compile(r"[0-9a-f-]{36}")
_SQL: Final = Queries("kurabito.library.deletion", "discards.sql")


@dataclass(frozen=True, slots=True)
class Discarding:
    """What became of files that were deleted."""

    job_id: str
    status: JobStatus
    files: int
    """That were to go."""
    entries: tuple[str, ...]
    """Those that lie in the trash."""
    refusals: tuple[tuple[str, str, str], ...]
    """Path, code and message of each that could not be moved."""

    @property
    def is_under_way(self) -> bool:
        return not self.status.finished


class Discards:
    """Deletes files of one database's libraries. Unless `allowed`, none."""

    def __init__(self, database: Database, *, allowed: bool) -> None:
        self._database = database
        self.allowed = allowed

    async def discard(self, file_ids: Sequence[int]) -> str:
        """Order that files go to the trash; returns the id of the job. Raises DeletionNotAllowed, InvalidInput, TrashConflict."""
        if not self.allowed:
            raise DeletionNotAllowed("nothing is removed while the setting allow_delete is off; switch it on first")
        wanted = list(dict.fromkeys(file_ids))
        if not 0 < len(wanted) <= MOST:
            raise InvalidInput("file_ids", f"name from 1 to {MOST} files")
        return await self._database.write(lambda conn: _discard(conn, wanted))

    async def outcome(self, job_id: str) -> Discarding | None:
        """What became of what was deleted; None when there is no such job, or it is forgotten."""
        if not _JOB.fullmatch(job_id):
            return None
        return await self._database.read(lambda conn: _outcome(conn, job_id))

    async def undo(self, job_id: str) -> str | None:
        """Order that what was deleted is put back; the id of the job, None when nothing of it is in the trash."""
        found = await self.outcome(job_id)
        if found is None:
            raise TrashNotFound(f"nothing was deleted by a job {job_id[:50]!r}")
        entries = list(found.entries)
        if not entries:
            return None
        return await self._database.write(
            lambda conn: order_delete_job(conn, {"restore": entries}, dry_run=False, total=len(entries))
        )


def _discard(conn: Connection, file_ids: list[int]) -> str:
    rows = conn.all(_SQL.files, {"ids": file_ids})
    if len(rows) < len(file_ids):
        raise TrashConflict("a file is not there any more, or is in the trash already; load the page again")
    named = ("file_id", "library_id", "path", "size_bytes", "mtime_ns")
    files = [dict(zip(named, row, strict=True)) for row in rows]
    return order_delete_job(conn, {"discard": files}, dry_run=False, total=len(files))


def _outcome(conn: Connection, job_id: str) -> Discarding | None:
    job = conn.one(_SQL.job, {"id": job_id, "ordered": '{"discard"%'})
    if job is None:
        return None
    status, total = job
    entries = tuple(entry for (entry,) in conn.all(_SQL.entries, {"id": job_id}))
    refusals = tuple((path, code, message or "") for path, code, message in conn.all(_SQL.refusals, {"id": job_id}))
    return Discarding(job_id, JobStatus(status), total, entries, refusals)
