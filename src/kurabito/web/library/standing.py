"""Where a library stands: what is under way in it, and what the last scan came to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from kurabito.library.jobs import Job, Jobs
from kurabito.library.removal import LibraryRemoval
from kurabito.library.scans.queue import ScanQueueService, ScanTask
from kurabito.library.scans.sessions import PastScan
from kurabito.library.service import LibraryService, LibrarySummary
from kurabito.protocol.enums import JobKind, JobStatus
from kurabito.protocol.planes import Planes
from kurabito.runtime import TaskRecord


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """One library at one moment."""

    kept: LibrarySummary
    scan: ScanTask | None
    """The scan that waits or runs."""
    hashing: Job | None
    """The reading of its files that is under way."""
    past: Sequence[PastScan]
    """Scans that are over, the newest first."""
    has_plane: bool
    """Whether anybody is there who touches the disks."""
    removal: TaskRecord | None = None
    """The task that removes it."""

    @property
    def is_leaving(self) -> bool:
        return self.kept.library.removing_since is not None

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
    def tone(self) -> str:
        """The state of a task that looks like it."""
        if self.is_leaving:
            return "dead" if self.removal is None else "running"
        if self.scan is not None:
            return "running" if self.scan.started_at else "queued"
        if self.hashing is not None:
            return "running"
        if self.last is None or self.last.status is JobStatus.CANCELLED:
            return "cancelled"
        if self.last.status is JobStatus.FAILED:
            return "dead"
        return "retry_scheduled" if self.last.error_code else "succeeded"


class Standings:
    """Looks at libraries from all sides."""

    def __init__(
        self, libraries: LibraryService, removal: LibraryRemoval, scans: ScanQueueService, jobs: Jobs, planes: Planes
    ) -> None:
        self._libraries = libraries
        self._removal = removal
        self._scans = scans
        self._jobs = jobs
        self._planes = planes

    async def of(self, kept: Sequence[LibrarySummary], *, past: int = 1) -> list[LibraryStatus]:
        """Where these libraries stand, each with so many of its last scans."""
        waiting, running, hashing, planes, scanned = await asyncio.gather(
            self._scans.list_pending(),
            self._scans.list_running(),
            self._jobs.list(kind=JobKind.HASH, status=JobStatus.RUNNING),
            self._planes.living(),
            self._libraries.past_scans([one.library.id for one in kept], past),
        )
        scans = {scan.library_id: scan for scan in (*waiting, *running)}
        reading = {job.library_id: job for job in hashing}
        leaving = [one.library.id for one in kept if one.library.removing_since is not None]
        removals = {one: await self._removal.under_way(one) for one in leaving}
        return [
            LibraryStatus(
                one,
                scans.get(one.library.id),
                reading.get(one.library.id),
                scanned[one.library.id],
                bool(planes),
                removals.get(one.library.id),
            )
            for one in kept
        ]
