"""A library is removed by a task, which asks before something is lost and goes on wherever it was interrupted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.support.waiting import PATIENCE

from kurabito.app.compose.library import LibraryParts
from kurabito.clock import ManualClock
from kurabito.db import Connection, Database
from kurabito.library.errors import LibraryConflict, LibraryInUse, LibraryNotFound
from kurabito.library.libraries import LibrarySettings
from kurabito.library.loop import Reconciler
from kurabito.library.obstacles import Obstacles
from kurabito.library.removal import REMOVE, LibraryRemoval, RemovalOrder
from kurabito.library.scans.queue import TaskPriority, TaskStatus
from kurabito.library.tasks import SCAN
from kurabito.protocol.enums import JobKind
from kurabito.runtime import Registry, Snooze, TaskRecord, TaskState, Worker
from kurabito.runtime.model import Progress
from kurabito.runtime.sql.queue import SqlQueue

ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (:library, :path, 1, 1, :now, :now)"
)
ADD_TRASH = (
    "INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash, "
    "trashed_at) VALUES (:id, 1, :library, 'a.mkv', '.kurabito-trash/a', 7, 'blake3', :hash, :now)"
)
ADD_DELETE = "INSERT INTO jobs (id, kind, payload, created_at, updated_at) VALUES (:id, 'delete', :payload, :now, :now)"
ADD_PLAN = (
    "INSERT INTO deletion_plans (id, mode, rules, group_count, file_count, freed_bytes, is_complete, created_at) "
    "VALUES (1, 'trash', '{}', 1, 1, 1, 1, :now)"
)
ADD_STEP = (
    "INSERT INTO deletion_steps (plan_id, position, file_id, library_id, relative_path, size_bytes, mtime_ns, hash_algorithm, "
    "content_hash, kept_file_id, kept_library_id, kept_path, kept_mtime_ns, reason) "
    "VALUES (1, 1, 1, 99, 'a', 1, 1, 'blake3', :hash, 2, :library, 'b', 1, 'oldest')"
)
LEFT = """
SELECT (SELECT count(*) FROM library_files), (SELECT count(*) FROM library_roots), (SELECT count(*) FROM scan_sessions),
       (SELECT count(*) FROM scan_findings), (SELECT count(*) FROM trash_entries), (SELECT count(*) FROM folder_matches)
"""
HASH = b"h" * 32


async def run(queue: SqlQueue, sql: str, **values: Any) -> None:
    await queue.database.write(lambda conn: conn.run(sql, values))


async def fill(queue: SqlQueue, library: int, files: int) -> None:
    def add(conn: Connection) -> None:
        for number in range(files):
            conn.run(ADD_FILE, {"library": library, "path": f"{number:06}.mkv"})

    await queue.database.write(add)


async def worked(queue: SqlQueue, removal: LibraryRemoval, task: TaskRecord) -> TaskRecord:
    """Have the task done by a worker."""
    registry = Registry()
    removal.join(registry)
    async with Worker(queue, registry, grace=0.0):
        return await queue.wait(task.id, timeout=PATIENCE)


@pytest.fixture
async def films(parts: LibraryParts, tmp_path: Path) -> int:
    return (await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))).library.id


async def test_everything_that_is_known_of_a_library_is_forgotten_and_its_files_stay(
    parts: LibraryParts, queue: SqlQueue, films: int, tmp_path: Path
) -> None:
    (tmp_path / "films" / "a.mkv").touch()
    series = (await parts.libraries.create(str(tmp_path / "series"), LibrarySettings(name="Series"))).library.id
    await fill(queue, films, 1234)
    await fill(queue, series, 1)
    for library in (films, series):
        await run(
            queue,
            "INSERT INTO scan_sessions (job_id, library_id, started_at) VALUES ('j', :library, 1)",
            library=library,
        )
        await run(
            queue,
            "INSERT INTO scan_findings (session_id, finding, file_id) SELECT max(session.id), 'added', file.id "
            "FROM scan_sessions AS session, library_files AS file WHERE file.library_id = :library GROUP BY file.id",
            library=library,
        )
        await run(queue, ADD_TRASH, id=uuid4().hex, library=library, hash=HASH)
        await run(
            queue,
            "INSERT INTO folder_matches (library_id, folder, reading, file_id, job_id, created_at, updated_at) "
            "VALUES (:library, 'a', '{}', 1, 'j', 1, 1)",
            library=library,
        )
    task = await parts.removal.begin(films, confirmed=True)
    # It is still there, and says so.
    assert (await parts.libraries.get(films)).library.removing_since is not None
    assert (await parts.removal.begin(films)).id == task.id
    done = await worked(queue, parts.removal, task)
    assert (done.state, done.result) == (TaskState.SUCCEEDED, {"library_id": films, "file_count": 1234})
    assert done.progress == Progress(1234, 1234)
    assert await queue.database.read(lambda conn: conn.all(LEFT)) == [(1, 1, 1, 1, 1, 1)]
    with pytest.raises(LibraryNotFound):
        await parts.libraries.get(films)
    with pytest.raises(LibraryNotFound):
        await parts.removal.begin(films)
    assert (tmp_path / "films" / "a.mkv").exists()


class Dying:
    """A database that is gone after some transactions."""

    def __init__(self, database: Database, transactions: int) -> None:
        self.read = database.read
        self._write = database.write
        self._left = transactions

    async def write(self, fn: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise RuntimeError("the machine is gone")
        return await self._write(fn)


async def test_a_removal_that_was_interrupted_goes_on(parts: LibraryParts, queue: SqlQueue, films: int) -> None:
    await fill(queue, films, 1000)
    task = await parts.removal.begin(films)
    interrupted: Any = LibraryRemoval(queue)
    interrupted._database = Dying(queue.database, 2)
    registry = Registry()
    registry.task(REMOVE, max_attempts=1)(interrupted.run)
    async with Worker(queue, registry, grace=0.0):
        assert (await queue.wait(task.id, timeout=PATIENCE)).state is TaskState.DEAD
    ((files, libraries, *_),) = await queue.database.read(lambda conn: conn.all(LEFT))
    assert (0 < files < 1000, libraries) == (True, 1)
    # Whoever asks again has it go on.
    assert await parts.removal.under_way(films) is None
    again = await parts.removal.begin(films)
    assert (await worked(queue, parts.removal, again)).result == {"library_id": films, "file_count": files}


async def test_nothing_is_begun_in_a_library_that_is_being_removed(
    parts: LibraryParts, queue: SqlQueue, films: int, tmp_path: Path, clock: ManualClock
) -> None:
    await parts.libraries.change(films, {"watched": True})
    await parts.removal.begin(films)
    with pytest.raises(LibraryConflict, match="'Films' is being removed"):
        await parts.libraries.change(films, {"name": "Cinema"})
    with pytest.raises(LibraryConflict, match="being removed"):
        await parts.libraries.get_staying(films)
    with pytest.raises(LibraryConflict, match="being removed"):
        await parts.jobs.admit(JobKind.SCAN, films)
    with pytest.raises(LibraryConflict, match="is being removed; wait until it is gone"):
        await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films again"))
    scan = await parts.scans.submit_task(films, TaskPriority.HIGH)
    clock.advance(7200)
    await Reconciler(queue, clock=clock).tick()
    failed = await queue.get(scan)
    assert (failed.state, failed.last_error) == (TaskState.DEAD, f"library {films} is being removed")
    assert await queue.database.read(lambda conn: conn.all("SELECT id FROM jobs")) == []


async def test_a_scan_under_way_has_to_be_given_up_knowingly(parts: LibraryParts, queue: SqlQueue, films: int) -> None:
    running = await parts.scans.submit_task(films, TaskPriority.NORMAL)
    await Reconciler(queue).step()
    with pytest.raises(LibraryInUse, match=r"a scan of the library 'Films' is running.*confirm=true"):
        await parts.removal.begin(films)
    assert await parts.removal.obstacles(films) == Obstacles(at_work=JobKind.SCAN)
    assert (await parts.libraries.get(films)).library.removing_since is None
    await parts.removal.begin(films, confirmed=True)
    assert [job.status for job in await parts.jobs.list()] == ["cancelled"]
    task = await parts.scans.get_task(running)
    assert task is not None
    assert task.status is TaskStatus.CANCELLED


async def test_a_scan_that_waits_is_cancelled_without_asking(parts: LibraryParts, queue: SqlQueue, films: int) -> None:
    waiting = await parts.scans.submit_task(films, TaskPriority.NORMAL)
    done = await worked(queue, parts.removal, await parts.removal.begin(films))
    assert done.state is TaskState.SUCCEEDED
    assert (await queue.get(waiting)).state is TaskState.CANCELLED
    assert [task.state for task in await queue.list(task_type=SCAN)] == [TaskState.CANCELLED]


async def test_files_in_the_trash_are_given_up_knowingly(parts: LibraryParts, queue: SqlQueue, films: int) -> None:
    await run(queue, ADD_TRASH, id=uuid4().hex, library=films, hash=HASH)
    await run(queue, ADD_TRASH, id=uuid4().hex, library=films + 1, hash=HASH)
    await run(
        queue, "UPDATE trash_entries SET left_at = 1, left_as = 'purged' WHERE library_id = :other", other=films + 1
    )
    with pytest.raises(LibraryInUse, match="the trash of the library 'Films' has 1 file: it stays in the folder"):
        await parts.removal.begin(films)
    assert await parts.removal.obstacles(films) == Obstacles(trashed=1, trashed_bytes=7)
    done = await worked(queue, parts.removal, await parts.removal.begin(films, confirmed=True))
    assert done.state is TaskState.SUCCEEDED


@pytest.mark.parametrize("order", ["plan", "restore", "purge"])
async def test_the_removal_waits_until_its_files_are_deleted_or_put_back(
    parts: LibraryParts, queue: SqlQueue, films: int, order: str
) -> None:
    entry = uuid4().hex
    await run(queue, ADD_PLAN)
    await run(queue, ADD_STEP, library=films, hash=HASH)
    await run(queue, ADD_TRASH, id=entry, library=films, hash=HASH)
    payload = {"plan": 1} if order == "plan" else {order: [entry]}
    await run(queue, ADD_DELETE, id="a", payload=json.dumps(payload))
    await run(queue, ADD_DELETE, id="b", payload=json.dumps({"restore": [uuid4().hex]}))
    with pytest.raises(LibraryInUse, match="are being deleted or restored"):
        await parts.removal.begin(films)
    assert (await parts.removal.obstacles(films)).deletes == 1
    task = await parts.removal.begin(films, confirmed=True)
    nobody: Any = None
    with pytest.raises(Snooze):
        await parts.removal.run(RemovalOrder(films), nobody)
    await run(queue, "UPDATE jobs SET status = 'completed' WHERE id = 'a'")
    assert (await worked(queue, parts.removal, task)).state is TaskState.SUCCEEDED


async def test_no_task_removes_what_nobody_asked_to_remove(parts: LibraryParts, queue: SqlQueue, films: int) -> None:
    task = await queue.enqueue(REMOVE, RemovalOrder(films))
    done = await worked(queue, parts.removal, task)
    assert done.state is TaskState.DEAD
    assert "use DELETE /api/v1/libraries/" in (done.last_error or "")
    assert (await parts.libraries.get(films)).library.removing_since is None
