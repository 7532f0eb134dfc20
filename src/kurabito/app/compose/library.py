"""The library's parts over one open queue."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from kurabito.library.jobs import Jobs
from kurabito.library.loop import Reconciler
from kurabito.library.removal import LibraryRemoval
from kurabito.library.scans.queue import ScanQueueService, TaskPriority
from kurabito.library.scans.watcher import Watcher
from kurabito.library.service import LibraryService
from kurabito.library.status import LibraryReports
from kurabito.protocol.planes import DataPlanes
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.settings import Settings
from kurabito.wakeup import Bell


@dataclass(frozen=True, slots=True)
class LibraryParts:
    """What there is to ask about libraries."""

    libraries: LibraryService
    removal: LibraryRemoval
    jobs: Jobs
    scans: ScanQueueService
    watcher: Watcher
    reports: LibraryReports


def open_library(settings: Settings, queue: DelegatedTasks, reconciler: Reconciler | None = None) -> LibraryParts:
    """The library over one queue. With a reconciler this process also brings tasks and jobs together."""
    # A user who adds a folder, or cancels a job, wants to see it at once.
    changed = Bell() if reconciler is None else reconciler.changed
    scans = ScanQueueService(queue, reconciler)

    async def submit(library_id: int) -> UUID:
        return await scans.submit_task(library_id, TaskPriority.NORMAL)

    reserved = {"state folder": settings.state}
    if settings.download_root is not None:
        reserved["download root"] = settings.download_root
    libraries, removal = LibraryService(queue, reserved, changed), LibraryRemoval(queue, changed)
    jobs = Jobs(queue.database, changed)
    return LibraryParts(
        libraries,
        removal,
        jobs,
        scans,
        Watcher(queue.database, submit, changed),
        LibraryReports(libraries, removal, scans, jobs, DataPlanes(queue.database)),
    )
