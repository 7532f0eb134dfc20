"""Jobs: leased rows of several kinds, each with an executor that knows how to do it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

from kurabito.dataplane.leasing.leased_row import LeasedRow, Stopped
from kurabito.dataplane.leasing.runner import LeasedWork
from kurabito.db.leases import Columns, Given
from kurabito.errors import KurabitoError, LeaseLost
from kurabito.logs import get_logger
from kurabito.protocol.enums import JobKind, JobStatus
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS, PROGRESS_COLUMNS, PROGRESS_VALUES

_log = get_logger(__name__)


class JobFailed(KurabitoError):
    """The job cannot be done, and to try it again would not help."""

    code = "job_failed"

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error_code = code


class LeasedJob(LeasedRow):
    """The right to work on one job.

    job.write(lambda conn: store.note(conn, rows))      # raises LeaseLost when the job is another's by now
    job.report(processed=500, progress=0.25)            # written with the next heartbeat
    """

    progress_values: ClassVar[Given] = PROGRESS_VALUES
    progress_columns: ClassVar[Columns] = PROGRESS_COLUMNS
    _progress: tuple[int, float] = (0, 0.0)

    @property
    def kind(self) -> JobKind:
        """What is to be done."""
        return JobKind(self.values["kind"])

    @property
    def library_id(self) -> int:
        """The library that it is about."""
        return self.values["library_id"]  # type: ignore[no-any-return]

    @property
    def dry_run(self) -> bool:
        """True when nothing may be changed on the disks."""
        return bool(self.values["dry_run"])

    @cached_property
    def payload(self) -> dict[str, Any]:
        """What else its kind needs; raises JobFailed when it is no JSON object."""
        try:
            payload = json.loads(self.values["payload"])
        except ValueError:
            payload = None
        if not isinstance(payload, dict):
            raise JobFailed(ErrorCode.WORKER_FAILURE, "the job's payload is no JSON object; ask for a new job")
        return payload

    def progress(self) -> tuple[int, float]:
        """How far the job is."""
        return self._progress

    def report(self, processed: int, progress: float) -> None:
        """Say how far the job is: so many items, and the fraction of the whole."""
        self._progress = processed, min(1.0, progress)

    def finish(self, status: JobStatus, code: ErrorCode | None = None, message: str | None = None) -> None:
        """Write how the job ended; raises LeaseLost when that is for another to say."""
        progress = 1.0 if status is JobStatus.COMPLETED else self._progress[1]
        ended = (status.value, progress, code and code.value, message)
        self.settle(FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)


Executor = Callable[[LeasedJob], None]
"""Does one job. What it raises is how the job failed; a `JobFailed` says under which code."""


class JobWork(LeasedWork[LeasedJob]):
    """Does jobs of the kinds that it has an executor for."""

    spec = JOBS
    noun = "job"
    row_type = LeasedJob

    def __init__(self, executors: Mapping[JobKind, Executor]) -> None:
        self.executors = executors
        kinds = ", ".join(f"'{kind}'" for kind in executors)
        self.only = f"kind IN ({kinds})"

    @property
    def name(self) -> str:
        return "+".join(self.executors)

    def do(self, job: LeasedJob) -> None:
        _log.info("job started", job=job.id, kind=job.kind, library=job.library_id)
        try:
            self.executors[job.kind](job)
            job.finish(JobStatus.COMPLETED)
        except (LeaseLost, Stopped):
            raise
        except JobFailed as failed:
            job.finish(JobStatus.FAILED, failed.error_code, str(failed))
        except Exception as problem:  # noqa: BLE001 - whatever it was, the job failed and the next one may not
            _log.exception("job failed", job=job.id)
            job.finish(JobStatus.FAILED, ErrorCode.WORKER_FAILURE, f"{type(problem).__name__}: {problem}")
        else:
            _log.info("job completed", job=job.id)
