"""Scans that come by themselves."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from kurabito.app.compose.library import LibraryParts
from kurabito.clock import ManualClock
from kurabito.library.libraries import LibrarySettings
from kurabito.library.scans.queue import TaskPriority
from kurabito.library.scans.schedules import submit_due
from kurabito.runtime.sql.queue import SqlQueue


async def hourly(parts: LibraryParts, tmp_path: Path) -> int:
    settings = LibrarySettings(name="Films", scan_interval=timedelta(hours=1))
    return (await parts.libraries.create(str(tmp_path / "films"), settings)).library.id


async def test_a_scan_comes_after_each_interval_and_goes_behind_those_asked_for(
    parts: LibraryParts, queue: SqlQueue, tmp_path: Path, clock: ManualClock
) -> None:
    library = await hourly(parts, tmp_path)
    await parts.libraries.create(str(tmp_path / "series"), LibrarySettings(name="Series"))
    clock.advance(3599)
    assert await submit_due(queue) == 0
    clock.advance(1)
    assert await submit_due(queue) == 1
    assert await submit_due(queue) == 0
    (task,) = await parts.scans.list_pending()
    assert (task.library_id, task.priority) == (library, TaskPriority.NORMAL)
    clock.advance(3600)
    assert await submit_due(queue) == 1
    # It still waits, so there is no second one.
    assert [waiting.id for waiting in await parts.scans.list_pending()] == [task.id]


async def test_a_firing_is_one_processs_own(
    parts: LibraryParts, queue: SqlQueue, tmp_path: Path, clock: ManualClock
) -> None:
    await hourly(parts, tmp_path)
    clock.advance(3600)
    assert sum(await asyncio.gather(*(submit_due(queue) for _ in range(5)))) == 1


async def test_what_became_due_while_nothing_ran_is_done_once(
    parts: LibraryParts, queue: SqlQueue, tmp_path: Path, clock: ManualClock
) -> None:
    await hourly(parts, tmp_path)
    clock.advance(10 * 3600)
    assert await submit_due(queue) == 1
    clock.advance(3599)
    assert await submit_due(queue) == 0
