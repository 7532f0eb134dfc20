"""What somebody asked for does not wait until a very large file is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kurabito.app.compose.library import LibraryParts, open_library
from kurabito.dataplane.hashing.job import HashFiles
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.main import _runners
from kurabito.dataplane.plane import DataPlane
from kurabito.db import migrate
from kurabito.db.migrate import PRODUCT
from kurabito.library.deletion import policy
from kurabito.library.deletion.delete_jobs import order_delete_job
from kurabito.library.libraries import LibrarySettings
from kurabito.library.loop import Reconciler
from kurabito.library.scans.queue import TaskPriority, TaskStatus
from kurabito.library.tasks import hash_of
from kurabito.protocol.enums import HashPolicy, JobKind, JobStatus
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

LIMIT = 120.0


@pytest.fixture
async def queue(url: str) -> AsyncIterator[SqlQueue]:
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        await queue.database.write(lambda conn: policy.store(conn, allowed=True))
        yield queue


@asynccontextmanager
async def at_work(queue: SqlQueue, settings: Settings) -> AsyncIterator[tuple[LibraryParts, HashFiles]]:
    """The control plane and a data plane, in this process."""
    runners = _runners(settings, queue.database, "plane")
    plane = DataPlane(queue.database, runners, name="plane")
    parts = open_library(settings, queue, Reconciler(queue))
    running = asyncio.create_task(plane.run())
    (hashing,) = [
        one
        for runner in runners
        if isinstance(runner.leased, JobWork)
        for one in runner.leased.executors.values()
        if isinstance(one, HashFiles)
    ]
    try:
        yield parts, hashing
    finally:
        plane.stop()
        await running
        await parts.scans.shutdown()
        hashing._pool.close()


async def until(is_so: Callable[[], Any]) -> None:
    async with asyncio.timeout(LIMIT):
        while not await is_so():
            await asyncio.sleep(0.02)


async def test_deletes_and_scans_do_not_wait_for_a_very_large_file(queue: SqlQueue, tmp_path: Path, disk: Path) -> None:
    films = disk / "films"
    films.mkdir()
    with (films / "endless").open("wb") as file:
        file.truncate(1 << 42)
    (tmp_path / "state").mkdir()
    settings = Settings(state=tmp_path / "state", lease_seconds=10.0, heartbeat_seconds=0.2)
    async with at_work(queue, settings) as (parts, hashing):
        films_settings = LibrarySettings(name="Films", hash_policy=HashPolicy.ALL)
        library = (await parts.libraries.create(str(films), films_settings)).library.id
        first = await parts.scans.submit_task(library, TaskPriority.HIGH)

        async def is_scanned() -> bool:
            task = await parts.scans.get_task(first)
            return task is not None and task.status is TaskStatus.COMPLETED

        async def is_read() -> bool:
            return bool(await parts.jobs.list(kind=JobKind.HASH, status=JobStatus.RUNNING) and hashing._pool._busy)

        await until(is_scanned)
        await queue.delegate_write(lambda tasks: tasks.enqueue(hash_of(library)))
        await until(is_read)
        reader = next(iter(hashing._pool._processes))

        job_id = await queue.database.write(lambda conn: order_delete_job(conn, {"purge": []}, dry_run=False, total=0))

        async def is_deleted() -> bool:
            return (await parts.jobs.get(job_id)).status is JobStatus.COMPLETED

        await until(is_deleted)
        assert await is_read()

        first = await parts.scans.submit_task(library, TaskPriority.HIGH)
        await until(is_scanned)
        # Then the file is read on, by the process that has begun with it.
        await until(is_read)
        assert hashing._pool._processes == {reader}
