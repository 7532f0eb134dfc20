"""The status of a library in one word: what happens now, else what the last scan came to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kurabito.library.jobs import Job
from kurabito.library.libraries import Library, LibrarySettings
from kurabito.library.scans.queue import ScanTask, TaskStatus
from kurabito.library.scans.sessions import PastScan
from kurabito.library.service import LibrarySummary
from kurabito.library.status import LibraryReport, LibraryStatus
from kurabito.protocol.enums import JobKind, JobStatus
from kurabito.runtime import Priority, TaskEnvelope, TaskRecord, TaskState

NOW = datetime(2026, 11, 15, tzinfo=UTC)
ID = UUID(int=1)
LIBRARY = Library(1, Path("/srv/media"), LibrarySettings(name="Media"), None, NOW, NOW, None, None)
LEAVING = replace(LIBRARY, removing_since=NOW)
PAST = PastScan("job", JobStatus.COMPLETED, NOW, None, None, 0, 0, 0, 0)
WAITING = ScanTask(
    id=ID,
    library_id=1,
    priority=Priority.HIGH,
    status=TaskStatus.PENDING,
    created_at=NOW,
    started_at=None,
    completed_at=None,
    progress=None,
    result=None,
    error=None,
)
RUNNING = replace(WAITING, status=TaskStatus.RUNNING, started_at=NOW)
HASHING = Job(
    id="job",
    kind=JobKind.HASH,
    status=JobStatus.RUNNING,
    library_id=1,
    task_id=ID,
    dry_run=False,
    total_items=None,
    processed_items=0,
    progress=0.0,
    error_code=None,
    error_message=None,
    lost_leases=0,
    worker=None,
    worker_heartbeat_at=None,
    lease_expires_at=None,
    created_at=NOW,
    updated_at=NOW,
    started_at=NOW,
    finished_at=None,
    may_run=True,
)
REMOVAL = TaskRecord(
    id=ID,
    envelope=TaskEnvelope("library.remove", b"{}"),
    state=TaskState.RUNNING,
    priority=Priority.HIGH,
    unique_key=None,
    attempts=1,
    max_attempts=1,
    lost_leases=0,
    progress=None,
    result=None,
    last_error=None,
    next_run_at=None,
    created_at=NOW,
    updated_at=NOW,
)


def report(library: Library = LIBRARY, **known: Any) -> LibraryReport:
    parts: dict[str, Any] = {"scan": None, "hashing": None, "past": (), "has_plane": True}
    return LibraryReport(LibrarySummary(library, 0, 0), **(parts | known))


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (report(), LibraryStatus.NEVER_SCANNED),
        (report(past=[PAST]), LibraryStatus.SCANNED),
        (report(past=[replace(PAST, error_code="SCAN_INCOMPLETE")]), LibraryStatus.INCOMPLETE),
        (report(past=[replace(PAST, status=JobStatus.FAILED, error_code="IO_ERROR")]), LibraryStatus.FAILED),
        (report(past=[replace(PAST, status=JobStatus.CANCELLED), PAST]), LibraryStatus.CANCELLED),
        (report(hashing=HASHING, past=[PAST]), LibraryStatus.HASHING),
        (report(scan=WAITING, hashing=HASHING, past=[PAST]), LibraryStatus.WAITING),
        (report(scan=RUNNING, past=[PAST]), LibraryStatus.SCANNING),
        # A scan whose worker was lost waits again, whenever it began.
        (report(scan=replace(RUNNING, status=TaskStatus.PENDING)), LibraryStatus.WAITING),
        (report(LEAVING, scan=RUNNING, removal=REMOVAL), LibraryStatus.REMOVING),
        (report(LEAVING, past=[PAST]), LibraryStatus.REMOVAL_STOPPED),
    ],
)
def test_a_library_has_one_status(found: LibraryReport, status: LibraryStatus) -> None:
    assert found.status is status
