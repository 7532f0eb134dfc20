"""Files that wait to be read are read, whoever marked them, without a scan of their own library."""

from __future__ import annotations

from typing import Any

import pytest

from kurabito.app.compose.library import LibraryParts
from kurabito.clock import SECOND, ManualClock
from kurabito.db import Connection, Dialect
from kurabito.library.hashes import REST
from kurabito.library.libraries import _SQL
from kurabito.library.loop import Reconciler
from kurabito.library.scans.queue import TaskPriority
from kurabito.library.tasks import HASH, library_of
from kurabito.runtime import TaskState
from kurabito.runtime.sql.queue import SqlQueue

ADD_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at, last_scanned_at) "
    "VALUES (:id, :name, :name, :now, :now, :scanned)"
)
ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, needs_hash, is_missing, hash_error_count, "
    "hash_retry_after, created_at, updated_at) "
    "VALUES (:library, :path, 1, 1, :needs_hash, :is_missing, :errors, :retry_after, :now, :now)"
)
END_JOBS = "UPDATE jobs SET status = :status, error_code = 'ROOT_UNAVAILABLE', error_message = 'not mounted'"


async def add_library(queue: SqlQueue, library: int, *, scanned: bool = True) -> None:
    values = {"id": library, "name": f"library {library}", "scanned": 1 if scanned else None}
    await queue.database.write(lambda conn: conn.run(ADD_LIBRARY, values))


async def add_file(queue: SqlQueue, library: int, **cells: Any) -> None:
    values = {"path": "a", "needs_hash": 1, "is_missing": 0, "errors": 0, "retry_after": None, **cells}
    await queue.database.write(lambda conn: conn.run(ADD_FILE, {"library": library, **values}))


async def hashes(queue: SqlQueue) -> list[tuple[int | None, TaskState]]:
    return [(library_of(task), task.state) for task in list(await queue.list(task_type=HASH))[::-1]]


@pytest.fixture
def reconciler(parts: LibraryParts, queue: SqlQueue, clock: ManualClock) -> Reconciler:
    return Reconciler(queue, clock=clock)


async def test_every_library_with_files_to_read_gets_a_hash(queue: SqlQueue, reconciler: Reconciler) -> None:
    for library in (1, 2, 3):
        await add_library(queue, library)
    await add_library(queue, 4, scanned=False)
    await add_file(queue, 1)
    await add_file(queue, 2, needs_hash=0)
    await add_file(queue, 2, path="b", is_missing=1)
    await add_file(queue, 3)
    await add_file(queue, 4)
    for _ in range(3):
        await reconciler.tick()
    assert await hashes(queue) == [(1, TaskState.RUNNING), (3, TaskState.QUEUED)]


async def test_a_failed_read_is_tried_again_when_its_time_comes(
    queue: SqlQueue, reconciler: Reconciler, clock: ManualClock
) -> None:
    await add_library(queue, 1)
    await add_file(queue, 1, errors=1, retry_after=clock.now() + 60 * SECOND)
    await add_library(queue, 2)
    await add_file(queue, 2, errors=0, retry_after=clock.now() + 60 * SECOND)
    await reconciler.tick()
    clock.advance(59)
    await reconciler.tick()
    assert await hashes(queue) == []
    clock.advance(1)
    await reconciler.tick()
    # What changed in the second library only a scan can tell.
    assert await hashes(queue) == [(1, TaskState.RUNNING)]


async def test_a_scan_that_is_under_way_is_followed_by_its_own_hash(
    queue: SqlQueue, parts: LibraryParts, reconciler: Reconciler
) -> None:
    await add_library(queue, 1)
    await add_file(queue, 1)
    await parts.scans.submit_task(1, TaskPriority.NORMAL)
    await reconciler.tick()
    assert await hashes(queue) == []


@pytest.mark.parametrize(("status", "ended"), [("failed", TaskState.DEAD), ("cancelled", TaskState.CANCELLED)])
async def test_a_hash_that_came_to_nothing_is_not_begun_again_at_once(
    queue: SqlQueue, reconciler: Reconciler, clock: ManualClock, status: str, ended: TaskState
) -> None:
    await add_library(queue, 1)
    await add_file(queue, 1)
    await reconciler.tick()
    await queue.database.write(lambda conn: conn.run(END_JOBS, {"status": status}))
    for _ in range(3):
        clock.advance(REST.total_seconds() / 4)
        await reconciler.tick()
    assert await hashes(queue) == [(1, ended)]
    clock.advance(REST.total_seconds())
    await reconciler.tick()
    assert await hashes(queue) == [(1, ended), (1, TaskState.RUNNING)]


async def test_a_library_that_is_let_go_gets_no_hash_meanwhile(
    queue: SqlQueue, parts: LibraryParts, reconciler: Reconciler
) -> None:
    await add_library(queue, 1)
    await add_file(queue, 1)
    # Its files are forgotten bit by bit after this, and a job would be in the way.
    await parts.removal.begin(1)
    await reconciler.tick()
    assert await hashes(queue) == []


@pytest.mark.parametrize("analyzed", [False, True])
async def test_the_question_costs_two_looks_for_each_library(
    queue: SqlQueue, parts: LibraryParts, analyzed: bool
) -> None:
    def plan(conn: Connection) -> list[str]:
        for library in range(1, 4):
            conn.run(ADD_LIBRARY, {"id": library, "name": f"library {library}", "scanned": 1})
        values = {"library": 1, "needs_hash": 1, "is_missing": 0, "errors": 1, "retry_after": 2**60}
        for number in range(2000):
            conn.run(ADD_FILE, {**values, "path": str(number)})
        if analyzed:
            conn.script("ANALYZE library_files")
        explain = "EXPLAIN QUERY PLAN " if conn.dialect is Dialect.SQLITE else "EXPLAIN "
        return [str(row[-1]) for row in conn.all(explain + _SQL.with_work.text(conn.dialect))]

    found = await queue.database.write(plan)
    for index in ("ix_library_files_unread", "ix_library_files_read_again"):
        assert any(index in step for step in found), found
    assert not [step for step in found if "SCAN library_files" in step or "Seq Scan on library_files" in step]
