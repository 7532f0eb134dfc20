"""The line of work that does jobs: claims one, runs what its kind needs, and writes how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kurabito.clock import SECOND
from kurabito.dataplane.leasing.lease_keeper import LeaseKeeper
from kurabito.dataplane.leasing.leased_job import LeasedJob
from kurabito.dataplane.leasing.leased_row import HEARTBEAT, LEASE, Stopped
from kurabito.db import Connection, Database, leases
from kurabito.errors import KurabitoError, LeaseLost
from kurabito.logs import get_logger
from kurabito.protocol.enums import JobKind, JobStatus
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.jobs import JOBS, pending_query

Executor = Callable[[LeasedJob], None]
"""Does one job. What it raises is how the job failed; a `JobFailed` says under which code."""

_log = get_logger(__name__)


class JobFailed(KurabitoError):
    """The job cannot be done, and trying again would not help by itself."""

    code = "job_failed"

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error_code = code


class JobLine:
    """Claims jobs of the kinds it has an executor for, one at a time."""

    def __init__(
        self,
        database: Database,
        executors: Mapping[JobKind, Executor],
        *,
        name: str,
        lease: float = LEASE,
        heartbeat: float = HEARTBEAT,
    ) -> None:
        self.name = "+".join(executors)
        self._database = database
        self._executors = executors
        self._plane = name
        self._lease = lease
        self._heart = LeaseKeeper(heartbeat)
        self._job: LeasedJob | None = None
        self._stopping = False

    def work(self) -> bool:
        """Do one job; false when there is none."""
        job = None if self._stopping else self._claim()
        if job is None:
            return False
        self._job = job
        try:
            with self._heart, job:
                self._run(job)
        finally:
            self._job = None
        return True

    def stop(self) -> None:
        """Give the job back at its next step, and take no other."""
        self._stopping = True
        if (job := self._job) is not None:
            job.stop()

    def _claim(self) -> LeasedJob | None:
        owner = leases.new_owner(self._plane)

        def claim(conn: Connection) -> LeasedJob | None:
            # Whoever looks for work also sees to what others left lying.
            leases.recover(conn, JOBS)
            first = pending_query(tuple(self._executors), conn.dialect)
            rows = leases.claim(conn, JOBS, owner, lease=round(self._lease * SECOND), limit=1, candidates=first)
            if not rows:
                return None
            return LeasedJob(self._database, owner, rows[0], heart=self._heart, lease=self._lease)

        return self._database.write_blocking(claim)

    def _run(self, job: LeasedJob) -> None:
        _log.info("job started", job=job.id, kind=job.kind, library=job.library_id)
        try:
            self._executors[job.kind](job)
            job.finish(JobStatus.COMPLETED)
        except LeaseLost as lost:
            _log.warning("job lost", job=job.id, problem=str(lost))
        except Stopped:
            self._finish(job, JobStatus.RETRYABLE, None, None)
        except JobFailed as failed:
            self._finish(job, JobStatus.FAILED, failed.error_code, str(failed))
        except Exception as problem:  # noqa: BLE001 - whatever it was, the job failed and the next one may not
            _log.exception("job failed", job=job.id)
            self._finish(job, JobStatus.FAILED, ErrorCode.WORKER_FAILURE, f"{type(problem).__name__}: {problem}")
        else:
            _log.info("job completed", job=job.id)

    def _finish(self, job: LeasedJob, status: JobStatus, code: ErrorCode | None, message: str | None) -> None:
        try:
            job.finish(status, code, message)
        except LeaseLost as lost:
            _log.warning("job lost", job=job.id, problem=str(lost))
