"""Jobs: one scan or hash at a time, pages without gaps, and what a person may do about one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kurabito.app.compose.library import LibraryParts
from kurabito.clock import ManualClock
from kurabito.errors import InvalidInput
from kurabito.library.errors import JobConflict, JobNotFound, LibraryNotFound
from kurabito.library.libraries import LibrarySettings
from kurabito.protocol.enums import JobKind, JobStatus
from kurabito.runtime.sql.queue import SqlQueue

ADD = "INSERT INTO jobs (id, kind, status, created_at, updated_at) VALUES (:id, :kind, :status, :at, :at)"


async def add(queue: SqlQueue, job_id: str, at: int, kind: str = "delete", status: str = "completed") -> None:
    values = {"id": job_id, "kind": kind, "status": status, "at": at}
    await queue.database.write(lambda conn: conn.run(ADD, values))


@pytest.fixture
async def library(parts: LibraryParts, tmp_path: Path) -> int:
    return (await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))).library.id


async def test_one_scan_or_hash_at_a_time(parts: LibraryParts, library: int) -> None:
    wanted = [JobKind.SCAN, JobKind.HASH] * 3
    outcomes = await asyncio.gather(*(parts.jobs.admit(kind, library) for kind in wanted), return_exceptions=True)
    admitted = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    assert len(admitted) == 1
    assert all(isinstance(outcome, JobConflict) for outcome in outcomes if outcome not in admitted)
    assert (admitted[0].status, admitted[0].library_id, admitted[0].task_id) == (JobStatus.PENDING, library, None)
    assert (await parts.jobs.cancel(admitted[0].id)).status is JobStatus.CANCELLED
    await parts.jobs.admit(JobKind.HASH, library)


@pytest.mark.parametrize("kind", [JobKind.DELETE, JobKind.THUMBNAIL])
async def test_other_kinds_are_not_made_by_hand(parts: LibraryParts, library: int, kind: JobKind) -> None:
    with pytest.raises(InvalidInput, match="kind: must be scan or hash"):
        await parts.jobs.admit(kind, library)


async def test_a_job_needs_a_library(parts: LibraryParts) -> None:
    with pytest.raises(LibraryNotFound):
        await parts.jobs.admit(JobKind.SCAN, 7)


async def test_pages_have_every_job_once_also_those_of_one_moment(
    parts: LibraryParts, queue: SqlQueue, clock: ManualClock
) -> None:
    now = clock.now()
    made = [(f"job-{number:02}", now + number // 4) for number in range(13)]
    for job_id, at in made:
        await add(queue, job_id, at)
    seen: list[str] = []
    cursor = None
    while True:
        page = await parts.jobs.list(limit=3, cursor=cursor)
        seen += [job.id for job in page]
        # Whatever comes meanwhile is newer, and shifts nothing.
        await add(queue, f"new-{len(seen)}", now + 100 + len(seen))
        if (cursor := page.next_cursor) is None:
            break
        assert cursor == page.items[-1].id
    assert seen == [job_id for job_id, _ in sorted(made, key=lambda job: (job[1], job[0]), reverse=True)]


async def test_a_cursor_whose_job_is_gone_is_refused(parts: LibraryParts) -> None:
    with pytest.raises(InvalidInput, match="cursor: no job has the id 'gone'"):
        await parts.jobs.list(cursor="gone")


async def test_jobs_are_found_by_status_kind_and_library(parts: LibraryParts, queue: SqlQueue, library: int) -> None:
    job = await parts.jobs.admit(JobKind.SCAN, library)
    await add(queue, "other", 1)
    for filters in ({"status": JobStatus.PENDING}, {"kind": JobKind.SCAN}, {"library_id": library}):
        assert [found.id for found in await parts.jobs.list(**filters)] == [job.id]
    assert len(await parts.jobs.list()) == 2


@pytest.mark.parametrize("status", ["retryable", "failed", "cancelled"])
async def test_a_job_that_did_not_complete_can_be_reset(parts: LibraryParts, queue: SqlQueue, status: str) -> None:
    await add(queue, "a", 1, "scan", status)
    job = await parts.jobs.reset("a")
    assert (job.status, job.error_code, job.lost_leases, job.finished_at) == (JobStatus.PENDING, None, 0, None)


@pytest.mark.parametrize("status", ["pending", "running", "completed"])
async def test_no_other_job_can_be_reset(parts: LibraryParts, queue: SqlQueue, status: str) -> None:
    await add(queue, "a", 1, "scan", status)
    with pytest.raises(JobConflict, match=f"is {status}"):
        await parts.jobs.reset("a")


async def test_a_job_cannot_be_reset_while_the_slot_is_taken(
    parts: LibraryParts, queue: SqlQueue, library: int
) -> None:
    await add(queue, "a", 1, "hash", "failed")
    await parts.jobs.admit(JobKind.SCAN, library)
    with pytest.raises(JobConflict, match="another scan or hash"):
        await parts.jobs.reset("a")
    assert (await parts.jobs.get("a")).status is JobStatus.FAILED


async def test_an_unknown_job_is_not_found(parts: LibraryParts) -> None:
    for ask in (parts.jobs.get, parts.jobs.cancel, parts.jobs.reset):
        with pytest.raises(JobNotFound):
            await ask("nobody")
