"""Library status: what happens in a library now, or what the last scan came to, in one word."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kurabito.library.jobs import Job, Jobs
from kurabito.library.removal import LibraryRemoval
from kurabito.library.scans.queue import ScanQueueService, ScanTask, TaskStatus
from kurabito.library.scans.sessions import PastScan
from kurabito.library.service import LibraryService, LibrarySummary
from kurabito.protocol.enums import JobKind, JobStatus
from kurabito.protocol.planes import Planes
from kurabito.runtime import TaskRecord


class LibraryStatus(StrEnum):
    """What happens now comes first, then the outcome of the last scan."""

    REMOVING = "removing"
    REMOVAL_STOPPED = "removal_stopped"
    """Its removal was begun, and no task goes on with it."""
    WAITING = "waiting"
    """A scan waits for its turn."""
    SCANNING = "scanning"
    HASHING = "hashing"
    NEVER_SCANNED = "never_scanned"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INCOMPLETE = "incomplete"
    """The last scan came to its end, and could not read everything."""
    SCANNED = "scanned"


@dataclass(frozen=True, slots=True)
class LibraryReport:
    """One library at one moment."""

    summary: LibrarySummary
    scan: ScanTask | None
    """The scan that waits or runs."""
    hashing: Job | None
    """The hash job that runs."""
    past: Sequence[PastScan]
    """Scans that are over, the newest first."""
    has_plane: bool
    """Whether a data plane runs that could scan it."""
    removal: TaskRecord | None = None
    """The task that removes it."""

    @property
    def is_leaving(self) -> bool:
        return self.summary.library.removing_since is not None

    @property
    def last(self) -> PastScan | None:
        return self.past[0] if self.past else None

    @property
    def task_id(self) -> str | None:
        """The task whose progress is shown."""
        if self.removal is not None:
            return str(self.removal.id)
        if self.scan is not None:
            return str(self.scan.id)
        return None if self.hashing is None else str(self.hashing.task_id)

    @property
    def status(self) -> LibraryStatus:
        if self.is_leaving:
            return LibraryStatus.REMOVAL_STOPPED if self.removal is None else LibraryStatus.REMOVING
        if self.scan is not None:
            return LibraryStatus.SCANNING if self.scan.status is TaskStatus.RUNNING else LibraryStatus.WAITING
        if self.hashing is not None:
            return LibraryStatus.HASHING
        return LibraryStatus.NEVER_SCANNED if self.last is None else scan_outcome(self.last)


class LibraryReports:
    """Makes reports of libraries, from the queue, the jobs and the scans that are over."""

    def __init__(
        self, libraries: LibraryService, removal: LibraryRemoval, scans: ScanQueueService, jobs: Jobs, planes: Planes
    ) -> None:
        self._libraries = libraries
        self._removal = removal
        self._scans = scans
        self._jobs = jobs
        self._planes = planes

    async def one(self, summary: LibrarySummary) -> LibraryReport:
        """The report of one library."""
        (report,) = await self.of([summary])
        return report

    async def of(self, summaries: Sequence[LibrarySummary], *, past: int = 1) -> list[LibraryReport]:
        """Reports of these libraries, each with so many of its last scans."""
        waiting, running, hashing, planes, scanned = await asyncio.gather(
            self._scans.list_pending(),
            self._scans.list_running(),
            self._jobs.list(kind=JobKind.HASH, status=JobStatus.RUNNING),
            self._planes.living(),
            self._libraries.past_scans([one.library.id for one in summaries], past),
        )
        scans = {scan.library_id: scan for scan in (*waiting, *running)}
        reading = {job.library_id: job for job in hashing}
        leaving = [one.library.id for one in summaries if one.library.removing_since is not None]
        removals = {one: await self._removal.under_way(one) for one in leaving}
        return [
            LibraryReport(
                one,
                scans.get(one.library.id),
                reading.get(one.library.id),
                scanned[one.library.id],
                bool(planes),
                removals.get(one.library.id),
            )
            for one in summaries
        ]


def scan_outcome(scan: PastScan) -> LibraryStatus:
    """What a scan that is over came to."""
    if scan.status is JobStatus.COMPLETED:
        return LibraryStatus.INCOMPLETE if scan.error_code else LibraryStatus.SCANNED
    return LibraryStatus.CANCELLED if scan.status is JobStatus.CANCELLED else LibraryStatus.FAILED
