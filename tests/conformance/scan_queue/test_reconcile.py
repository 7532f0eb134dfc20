"""Tasks and jobs tell the same story, whatever happens to either."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import to_datetime
from kurabito.db import leases
from kurabito.library.errors import JobConflict
from kurabito.library.jobs import Jobs
from kurabito.library.loop import Reconciler
from kurabito.library.scans.queue import LeftOut, ScanQueueService, TaskPriority, TaskProgress, TaskResult, TaskStatus
from kurabito.library.tasks import HASH, SCAN, hash_key
from kurabito.protocol.enums import JobKind
from kurabito.protocol.leased.jobs import JOBS
from kurabito.runtime import Registry, TaskState, Worker
from kurabito.runtime.errors import TaskFinished, TaskNotFound
from kurabito.runtime.tasks.followups import FollowUp

if TYPE_CHECKING:
    from tests.conformance.scan_queue.conftest import Desk

NORMAL, HIGH = TaskPriority.NORMAL, TaskPriority.HIGH
HASH_FOLLOWS = FollowUp(
    after=SCAN,
    then=HASH,
    why="a test",
    payloads=lambda result: [{"library_id": result["library_id"]}],
    unique_key=hash_key,
)
ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, needs_hash, hash_retry_after, created_at, "
    "updated_at) VALUES (:library, 'a.mkv', 1, 1, 1, :retry_after, :now, :now)"
)


async def jobs_of(desk: Desk) -> list[tuple[Any, ...]]:
    return await desk.rows("SELECT kind, status, library_id FROM jobs ORDER BY created_at, id")


async def lose_worker(desk: Desk) -> None:
    """A data plane takes the job and is never heard of again."""
    assert await desk.plane.begin() is not None
    desk.clock.advance(31)
    await desk.settle()


async def test_many_scans_wait_and_one_has_a_job(desk: Desk) -> None:
    for library in (1, 2, 3):
        await desk.scans.submit_task(library, NORMAL)
    assert await jobs_of(desk) == []
    await desk.settle()
    assert await jobs_of(desk) == [("scan", "pending", 1)]
    assert [task.library_id for task in await desk.scans.list_running()] == [1]
    assert [task.library_id for task in await desk.scans.list_pending()] == [2, 3]


async def test_two_processes_that_reconcile_at_once_make_one_job(desk: Desk) -> None:
    for library in (1, 2, 3, 4):
        await desk.scans.submit_task(library, NORMAL)
    others = [Reconciler(desk.queue, clock=desk.clock) for _ in range(6)]
    await asyncio.gather(*(other.step() for other in others))
    assert await jobs_of(desk) == [("scan", "pending", 1)]
    assert len(await desk.scans.list_running()) == 1


async def test_what_a_scan_found_is_its_result(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(7, HIGH)
    await desk.settle()
    claimed = await desk.plane.begin()
    assert claimed is not None
    await desk.plane.note(claimed[0], 7, files=2)
    assert (await desk.task(task_id)).progress is None
    await desk.plane.note(claimed[0], 7, files=3, folders=2, total=10, added=4, removed=1)
    assert (await desk.task(task_id)).progress == TaskProgress(5, 10)
    await desk.plane.finish(claimed[0])
    desk.clock.advance(5)
    await desk.settle()
    task = await desk.task(task_id)
    assert (task.status, task.result, task.error) == (TaskStatus.COMPLETED, TaskResult(4, 1, 0), None)
    assert task.progress == TaskProgress(5, 10)
    assert task.completed_at == to_datetime(desk.clock.now())
    assert not await desk.reconciler.step()


async def test_a_scan_that_left_something_out_says_so(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(7, HIGH)
    await desk.settle()
    claimed = await desk.plane.begin()
    assert claimed is not None
    await desk.plane.note(claimed[0], 7, files=3, errors=2, message="2 folders or files could not be read")
    assert (await desk.task(task_id)).left_out is None
    await desk.plane.finish(claimed[0])
    await desk.settle()
    task = await desk.task(task_id)
    assert (task.status, task.result) == (TaskStatus.COMPLETED, TaskResult(0, 0, 0))
    assert task.left_out == LeftOut(2, "2 folders or files could not be read")
    assert (await desk.queue.get(task_id)).result["left_out"]["count"] == 2


async def test_progress_is_told_to_whoever_follows_the_tasks(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(7, HIGH)
    await desk.reconciler.tick()
    claimed = await desk.plane.begin()
    assert claimed is not None
    await desk.plane.note(claimed[0], 7, files=3, total=10)
    for _ in range(2):
        desk.clock.advance(1)
        await desk.reconciler.tick()
    record = await desk.queue.get(task_id)
    assert record.progress is not None
    assert (record.progress.done, record.progress.total) == (3, 10)
    assert await desk.rows("SELECT count(*) FROM task_events WHERE name = 'Progressed'") == [(1,)]


async def test_folders_that_nobody_knows_are_counted(desk: Desk) -> None:
    asked = []

    class Matcher:
        async def match(self, library_id: int, job_id: str) -> int:
            asked.append((library_id, job_id))
            return 3

    desk.reconciler = Reconciler(desk.queue, matcher=Matcher(), clock=desk.clock)
    task_id = await desk.scans.submit_task(7, NORMAL)
    await desk.settle()
    assert asked == []
    await desk.plane.work()
    await desk.settle()
    assert (await desk.task(task_id)).result == TaskResult(0, 0, 3)
    assert asked == [(7, (await desk.rows("SELECT id FROM jobs"))[0][0])]


async def test_a_scan_that_cannot_be_matched_now_holds_up_no_other(desk: Desk) -> None:
    class Matcher:
        works = False

        async def match(self, library_id: int, job_id: str) -> int:
            if not self.works:
                raise ConnectionError("not now")
            return 0

    matcher = Matcher()
    desk.reconciler = Reconciler(desk.queue, matcher=matcher, clock=desk.clock)
    first = await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    await desk.plane.work()
    await desk.scans.submit_task(2, NORMAL)
    await desk.settle()
    assert [task.library_id for task in await desk.scans.list_running()] == [1, 2]
    assert (await jobs_of(desk))[1] == ("scan", "pending", 2)
    matcher.works = True
    await desk.settle()
    assert (await desk.task(first)).status is TaskStatus.COMPLETED


async def test_a_scan_that_fails_says_why_and_the_next_one_comes(desk: Desk) -> None:
    failing = await desk.scans.submit_task(1, NORMAL)
    await desk.scans.submit_task(2, NORMAL)
    await desk.settle()
    await desk.plane.work("failed", "ROOT_EMPTY")
    await desk.settle()
    task = await desk.task(failing)
    assert (task.status, task.error) == (TaskStatus.FAILED, "ROOT_EMPTY: because of ROOT_EMPTY")
    assert [running.library_id for running in await desk.scans.list_running()] == [2]
    assert await desk.scans.get_library_task(1) is None
    assert await desk.scans.submit_task(1, NORMAL) != failing


async def test_a_lost_worker_does_not_end_the_scan_and_the_third_does(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    for lost in (1, 2):
        await lose_worker(desk)
        assert await jobs_of(desk) == [("scan", "pending", 1)]
        assert await desk.rows("SELECT lost_leases, error_code, worker_id FROM jobs") == [(lost, None, None)]
        assert (await desk.task(task_id)).status is TaskStatus.RUNNING
    await lose_worker(desk)
    task = await desk.task(task_id)
    assert task.status is TaskStatus.FAILED
    assert (task.error or "").startswith("WORKER_LOST: 3 workers were lost")
    assert await desk.rows("SELECT status, error_code, lost_leases FROM jobs") == [("failed", "WORKER_LOST", 3)]


async def test_a_plane_that_ends_in_good_order_is_not_counted(desk: Desk) -> None:
    await desk.scans.submit_task(1, NORMAL)
    for _ in range(4):
        await desk.settle()
        await desk.plane.work("retryable")
    await desk.settle()
    assert await desk.rows("SELECT status, lost_leases FROM jobs") == [("pending", 0)]


async def test_a_job_that_lost_its_worker_goes_before_tasks_that_wait(desk: Desk) -> None:
    first = await desk.scans.submit_task(1, NORMAL)
    await desk.scans.submit_task(2, HIGH)
    await desk.scans.cancel_task((await desk.scans.list_pending())[0].id)
    await desk.settle()
    await desk.scans.submit_task(2, HIGH)
    await lose_worker(desk)
    assert [task.id for task in await desk.scans.list_running()] == [first]
    assert await jobs_of(desk) == [("scan", "pending", 1)]


async def test_a_lost_delete_needs_no_slot(desk: Desk) -> None:
    await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    add = "INSERT INTO jobs (id, kind, status, error_code, created_at, updated_at) VALUES ('d', 'delete', 'retryable', 'LEASE_EXPIRED', :now, :now)"
    await desk.queue.database.write(lambda conn: conn.run(add))
    await desk.settle()
    assert sorted(await jobs_of(desk)) == [("delete", "pending", None), ("scan", "pending", 1)]
    assert await desk.rows("SELECT lost_leases FROM jobs WHERE id = 'd'") == [(1,)]


async def test_a_delete_for_somebody_elses_task_is_left_alone(desk: Desk) -> None:
    add = (
        "INSERT INTO jobs (id, kind, status, task_id, created_at, updated_at) "
        "VALUES ('d', 'delete', 'pending', '0197a2c4-0000-7000-8000-000000000000', :now, :now)"
    )
    await desk.queue.database.write(lambda conn: conn.run(add))
    assert not await desk.reconciler.step()
    assert await jobs_of(desk) == [("delete", "pending", None)]


async def test_cancelling_a_running_scan_cancels_its_job(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    assert await desk.plane.begin() is not None
    await desk.scans.cancel_task(task_id)
    assert await jobs_of(desk) == [("scan", "cancelled", 1)]
    assert (await desk.task(task_id)).status is TaskStatus.CANCELLED


async def test_a_scan_cancelled_as_a_task_takes_its_job_along(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    await desk.queue.cancel(task_id)
    await desk.settle()
    assert await jobs_of(desk) == [("scan", "cancelled", 1)]


async def test_a_job_cancelled_by_hand_takes_its_scan_along(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    ((job_id,),) = await desk.rows("SELECT id FROM jobs")
    jobs = Jobs(desk.queue.database)
    await jobs.cancel(job_id)
    await desk.settle()
    assert (await desk.task(task_id)).status is TaskStatus.CANCELLED
    with pytest.raises(JobConflict):
        await jobs.cancel(job_id)


async def test_a_finished_scan_asks_for_a_hash_once(desk: Desk) -> None:
    desk.reconciler = Reconciler(desk.queue, follow_ups=[HASH_FOLLOWS], clock=desk.clock)
    await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    await desk.plane.work()
    await desk.settle()
    assert await jobs_of(desk) == [("scan", "completed", 1), ("hash", "pending", 1)]
    desk.clock.advance(1)
    await desk.plane.work()
    await desk.settle()
    assert [task.state for task in await desk.queue.list(task_type=HASH)] == [TaskState.SUCCEEDED]


async def add_unhashed(desk: Desk, library: int, retry_after: int | None = None) -> None:
    values = {"library": library, "retry_after": retry_after}
    await desk.queue.database.write(lambda conn: conn.run(ADD_FILE, values))


async def test_a_hash_with_files_left_goes_to_the_back(desk: Desk) -> None:
    await add_unhashed(desk, 1)
    task = await desk.queue.enqueue(HASH, {"library_id": 1})
    await desk.settle()
    desk.clock.advance(1)
    await desk.scans.submit_task(2, NORMAL)
    order = []
    for _ in range(3):
        claimed = await desk.plane.begin()
        assert claimed is not None
        # As long as a hash goes on when more is left to read.
        desk.clock.advance(29)
        await desk.plane.finish(claimed[0])
        order.append(claimed[2])
        await desk.settle()
    assert order == [1, 2, 1]
    assert (await desk.queue.get(task.id)).state is TaskState.RUNNING
    await desk.queue.database.write(lambda conn: conn.run("UPDATE library_files SET needs_hash = 0"))
    await desk.plane.work()
    await desk.settle()
    done = await desk.queue.get(task.id)
    assert (done.state, done.result) == (TaskState.SUCCEEDED, {"library_id": 1, "hashed_count": 0})


async def test_a_hash_makes_way_for_a_scan_that_somebody_asked_for(desk: Desk) -> None:
    await add_unhashed(desk, 1)
    task = await desk.queue.enqueue(HASH, {"library_id": 1})
    await desk.settle()
    hashing = await desk.plane.begin()
    assert hashing is not None
    desk.clock.advance(1)
    await desk.scans.submit_task(3, NORMAL)
    await desk.settle()
    assert await jobs_of(desk) == [("hash", "running", 1)]
    await desk.scans.submit_task(2, HIGH)
    await desk.settle()
    assert await jobs_of(desk) == [("hash", "cancelled", 1), ("scan", "pending", 2)]
    assert await desk.rows("SELECT error_code FROM jobs WHERE kind = 'hash'") == [("GAVE_WAY",)]
    # The hash waits behind whatever waited before it, and goes on.
    assert (await desk.queue.get(task.id)).state is TaskState.QUEUED
    order = []
    for _ in range(3):
        desk.clock.advance(1)
        order.append(await desk.plane.work())
        await desk.settle()
    assert order == [2, 3, 1]


async def test_a_hash_that_was_asked_for_as_a_job_makes_no_way(desk: Desk) -> None:
    await desk.queue.database.write(
        lambda conn: conn.run(
            "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'a', '/a', 1, 1)"
        )
    )
    await Jobs(desk.queue.database).admit(JobKind.HASH, 1)
    await desk.scans.submit_task(2, HIGH)
    await desk.settle()
    assert await jobs_of(desk) == [("hash", "pending", 1)]


async def test_a_file_that_is_to_be_tried_later_keeps_no_hash_going(desk: Desk) -> None:
    await add_unhashed(desk, 1, retry_after=desk.clock.now() + 60_000_000)
    task = await desk.queue.enqueue(HASH, {"library_id": 1})
    await desk.settle()
    await desk.plane.work()
    await desk.settle()
    assert (await desk.queue.get(task.id)).state is TaskState.SUCCEEDED


async def test_a_job_that_vanished_fails_its_task(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    await desk.queue.database.write(lambda conn: conn.run("DELETE FROM jobs"))
    await desk.settle()
    assert "its job is gone" in ((await desk.task(task_id)).error or "")


@pytest.mark.parametrize("payload", [None, "x", {}, {"library_id": "1"}, {"library_id": -1}, b"\x00"])
async def test_a_task_about_no_library_fails_and_holds_nobody_up(desk: Desk, payload: Any) -> None:
    odd = await desk.queue.enqueue(SCAN, payload, priority=5)
    await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    record = await desk.queue.get(odd.id)
    assert record.state is TaskState.DEAD
    assert "which library" in (record.last_error or "")
    assert [task.library_id for task in await desk.scans.list_running()] == [1]


async def test_no_worker_claims_what_the_data_plane_does(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(1, NORMAL)
    claimed = await desk.queue.work.claim("anybody", {SCAN: 5, HASH: 5}, 5)
    assert claimed.tasks == []
    assert (await desk.task(task_id)).status is TaskStatus.PENDING


async def test_retrying_a_scan_that_is_over_asks_for_a_new_one(desk: Desk) -> None:
    task_id = await desk.scans.submit_task(1, HIGH)
    await desk.scans.cancel_task(task_id)
    again = await desk.queue.retry(task_id)
    assert again.id != task_id
    assert (await desk.task(task_id)).status is TaskStatus.CANCELLED
    new = await desk.task(again.id)
    assert (new.library_id, new.priority, new.status) == (1, HIGH, TaskStatus.PENDING)


async def test_a_task_of_another_kind_is_no_scan(desk: Desk) -> None:
    other = await desk.queue.enqueue("work")
    assert await desk.scans.get_task(other.id) is None
    with pytest.raises(TaskNotFound):
        await desk.scans.cancel_task(other.id)
    await desk.queue.cancel(other.id)
    with pytest.raises(TaskNotFound):
        await desk.scans.cancel_task(other.id)


async def test_the_loop_runs_by_itself_and_ends_when_told(desk: Desk) -> None:
    """Also beside an ordinary worker, which leaves these tasks alone."""
    scans = ScanQueueService(desk.queue, desk.reconciler)
    async with Worker(desk.queue, Registry(), concurrency=1):
        task_id = await scans.submit_task(1, HIGH)
        async with asyncio.timeout(PATIENCE):
            while not (claimed := await desk.plane.begin()):
                desk.clock.advance(1)
                await asyncio.sleep(0.01)
        assert [task.no_worker for task in await desk.queue.list(task_type=SCAN)] == [False]
        await desk.plane.finish(claimed[0])
        async with asyncio.timeout(PATIENCE):
            while (await desk.task(task_id)).status is not TaskStatus.COMPLETED:
                desk.clock.advance(1)
                await asyncio.sleep(0.01)
    await scans.shutdown()
    assert await desk.queue.workers() == []
    with pytest.raises(TaskFinished):
        await scans.cancel_task(task_id)


async def test_stale_jobs_are_recovered_by_whoever_looks(desk: Desk) -> None:
    await desk.scans.submit_task(1, NORMAL)
    await desk.settle()
    await desk.queue.database.write(lambda conn: leases.claim(conn, JOBS, "dead#1", lease=1_000_000, limit=1))
    desk.clock.advance(1)
    assert await Jobs(desk.queue.database).recover_stale() == 1
    assert await jobs_of(desk) == [("scan", "retryable", 1)]
