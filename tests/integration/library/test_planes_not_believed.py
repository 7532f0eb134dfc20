"""A data plane may be any program, so that what it wrote is looked at before it is believed."""

from __future__ import annotations

from typing import Any

import pytest

from kurabito.app.compose.library import LibraryParts
from kurabito.clock import ManualClock
from kurabito.library import hashes
from kurabito.library.hashes import REST
from kurabito.library.loop import Reconciler
from kurabito.library.scans.queue import TaskPriority
from kurabito.library.tasks import HASH
from kurabito.runtime import TaskState
from kurabito.runtime.sql.queue import SqlQueue

ADD_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, algorithm, created_at, updated_at, last_scanned_at) "
    "VALUES (:id, :name, :name, :algorithm, :now, :now, 1)"
)
ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, needs_hash, hash_algorithm, content_hash, "
    "created_at, updated_at) VALUES (:library, :path, 1, 1, :needs_hash, :algorithm, :hash, :now, :now)"
)
END_JOB = (
    "UPDATE jobs SET status = 'completed', worker_id = 'foreign#1', started_at = created_at, finished_at = :now, "
    "processed_items = 7, progress = 1 WHERE status = 'pending'"
)
JOBS = "SELECT status, error_code FROM jobs ORDER BY created_at, id"
SESSIONS = "SELECT status, error_code, finished_at IS NOT NULL FROM scan_sessions"
SETTLED = "UPDATE library_files SET needs_hash = 0, updated_at = :now"


@pytest.fixture
def reconciler(parts: LibraryParts, queue: SqlQueue, clock: ManualClock) -> Reconciler:
    return Reconciler(queue, clock=clock)


async def run(queue: SqlQueue, sql: str, **values: Any) -> None:
    await queue.database.write(lambda conn: conn.run(sql, values))


async def ask(queue: SqlQueue, sql: str) -> list[tuple[Any, ...]]:
    return await queue.database.read(lambda conn: conn.all(sql))


async def add_library(queue: SqlQueue, library: int = 1, algorithm: str = "blake3") -> None:
    await run(queue, ADD_LIBRARY, id=library, name=f"/library {library}", algorithm=algorithm)


async def add_file(queue: SqlQueue, path: str, library: int = 1, algorithm: str | None = None) -> None:
    hashed = None if algorithm is None else b"h" * 32
    values = {"library": library, "path": path, "needs_hash": int(hashed is None), "algorithm": algorithm}
    await run(queue, ADD_FILE, **values, hash=hashed)


async def test_two_hashes_that_settle_nothing_end_their_task(
    queue: SqlQueue, reconciler: Reconciler, clock: ManualClock
) -> None:
    await add_library(queue)
    await add_file(queue, "a.mkv")
    for _ in range(10):
        await reconciler.tick()
        await run(queue, END_JOB)
        clock.advance(1)
    (task,) = await queue.list(task_type=HASH)
    assert task.state is TaskState.DEAD
    assert task.last_error is not None
    assert "NO_PROGRESS" in task.last_error
    assert await ask(queue, JOBS) == [("completed", "NO_PROGRESS"), ("completed", None)]
    clock.advance(REST.total_seconds())
    await reconciler.tick()
    assert len(list(await queue.list(task_type=HASH))) == 2


async def test_hashes_that_settle_something_go_on(queue: SqlQueue, reconciler: Reconciler, clock: ManualClock) -> None:
    await add_library(queue)
    for number in range(5):
        await add_file(queue, f"{number}.mkv")
    for number in range(5):
        await reconciler.tick()
        clock.advance(1)
        await run(queue, f"{SETTLED} WHERE relative_path = '{number}.mkv'")
        await run(queue, END_JOB)
    await reconciler.tick()
    (task,) = await queue.list(task_type=HASH)
    assert task.state is TaskState.SUCCEEDED


async def test_a_hash_that_reads_a_very_large_file_may_settle_nothing_for_hours(
    queue: SqlQueue, reconciler: Reconciler, clock: ManualClock
) -> None:
    await add_library(queue)
    await add_file(queue, "large.mkv")
    for _ in range(5):
        await reconciler.tick()
        clock.advance(60)
        await run(queue, END_JOB)
    await reconciler.tick()
    (task,) = await queue.list(task_type=HASH)
    assert task.state is TaskState.RUNNING


async def test_the_session_of_a_cancelled_scan_is_ended_by_the_control_plane(
    queue: SqlQueue, parts: LibraryParts, reconciler: Reconciler
) -> None:
    await add_library(queue)
    task_id = await parts.scans.submit_task(1, TaskPriority.NORMAL)
    await reconciler.tick()
    await run(
        queue,
        "INSERT INTO scan_sessions (job_id, library_id, started_at) SELECT id, 1, :now FROM jobs",
    )
    await run(queue, "UPDATE jobs SET status = 'running', worker_id = 'plane#1', lease_expires_at = :now + 60000000")
    await reconciler.tick()
    assert [row[:2] for row in await ask(queue, SESSIONS)] == [("running", None)]
    await parts.scans.cancel_task(task_id)
    await reconciler.tick()
    ((status, code, ended),) = await ask(queue, SESSIONS)
    assert (status, code, bool(ended)) == ("failed", "SCAN_ABANDONED", True)


async def test_files_of_another_algorithm_are_hashed_again(
    queue: SqlQueue, reconciler: Reconciler, clock: ManualClock
) -> None:
    await add_library(queue, 1, "blake3")
    await add_library(queue, 2, "sha256")
    await add_file(queue, "right.mkv", 1, "blake3")
    await add_file(queue, "wrong.mkv", 1, "sha256")
    await add_file(queue, "right too.mkv", 2, "sha256")
    assert await hashes.rehash_foreign(queue) == 1
    waiting = "SELECT relative_path, hash_algorithm, content_hash FROM library_files WHERE needs_hash = 1"
    assert await ask(queue, waiting) == [("wrong.mkv", None, None)]
    # The keeper changed the setting.
    await run(queue, "UPDATE library_roots SET algorithm = 'blake3'")
    await reconciler.tick()
    assert [path for path, *_ in await ask(queue, f"{waiting} ORDER BY id")] == ["wrong.mkv", "right too.mkv"]
    assert await hashes.rehash_foreign(queue) == 0
