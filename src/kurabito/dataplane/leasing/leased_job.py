"""A job that this process holds the lease of."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from kurabito.dataplane.leasing.lease_keeper import LeaseKeeper
from kurabito.dataplane.leasing.leased_row import LEASE, LeasedRow
from kurabito.db import Connection, Database, leases
from kurabito.db.leases import Columns, Given
from kurabito.protocol.enums import JobKind, JobStatus
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS, PROGRESS_COLUMNS, PROGRESS_VALUES


class LeasedJob(LeasedRow):
    """The right to work on one job; use it as a context.

    with job:
        job.write(lambda conn: store.note(conn, rows))      # raises LeaseLost when the job is another's by now
        job.report(processed=500, progress=0.25)            # told with the next heartbeat
    """

    noun = "job"
    told: ClassVar[Given] = PROGRESS_VALUES
    told_columns: ClassVar[Columns] = PROGRESS_COLUMNS

    def __init__(
        self,
        database: Database,
        owner: str,
        row: tuple[Any, ...],
        *,
        heart: LeaseKeeper,
        lease: float = LEASE,
    ) -> None:
        key, kind, self.library_id, dry_run, payload = row
        super().__init__(database, JOBS, key, owner, heart=heart, lease=lease)
        self.kind = JobKind(kind)
        self.dry_run = bool(dry_run)
        self.payload: dict[str, Any] = json.loads(payload)
        self._processed = 0
        self._progress = 0.0

    def progress(self) -> tuple[Any, ...]:
        """How far the job is."""
        return self._processed, self._progress

    def report(self, processed: int, progress: float) -> None:
        """Say how far the job is: so many items, and the fraction of the whole."""
        self._processed, self._progress = processed, min(1.0, progress)

    def finish(self, status: JobStatus, code: ErrorCode | None = None, message: str | None = None) -> None:
        """Write how the job ended; raises LeaseLost when that is for another to say."""
        progress = 1.0 if status is JobStatus.COMPLETED else self._progress
        ended = [(self.id, self.owner, status.value, progress, code and code.value, message)]

        def write(conn: Connection) -> None:
            self.renew(conn)
            leases.finish(conn, JOBS, FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)

        self._database.write_blocking(write)
