"""A watched library is scanned when something in it changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.support.waiting import PATIENCE

from kurabito.app.compose.library import LibraryParts
from kurabito.library.libraries import LibrarySettings
from kurabito.library.scans.watcher import Watcher
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.wakeup import Bell


@asynccontextmanager
async def watching(queue: SqlQueue, changed: Bell, submit: Callable[[int], Awaitable[object]]) -> AsyncIterator[None]:
    watcher = Watcher(queue.database, submit, changed, quiet=0.05, longest=0.5)
    task = asyncio.create_task(watcher.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_change_asks_for_a_scan_until_nobody_watches(
    parts: LibraryParts, queue: SqlQueue, tmp_path: Path
) -> None:
    asked: asyncio.Queue[int] = asyncio.Queue()
    changed = Bell()

    async def change_until_asked(folder: Path) -> int:
        """Watching begins some time after the library says so."""
        number = 0
        async with asyncio.timeout(PATIENCE):
            while asked.empty():
                number += 1
                (folder / f"{number}.mkv").touch()
                await asyncio.sleep(0.05)
        return asked.get_nowait()

    films = await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films", watched=True))
    (tmp_path / "series" / "deep").mkdir()
    series = await parts.libraries.create(str(tmp_path / "series"), LibrarySettings(name="Series"))
    async with watching(queue, changed, asked.put):
        assert await change_until_asked(tmp_path / "films") == films.library.id
        await parts.libraries.change(films.library.id, {"watched": False})
        await parts.libraries.change(series.library.id, {"watched": True})
        changed.ring()
        while not asked.empty():
            asked.get_nowait()
        found = await change_until_asked(tmp_path / "series" / "deep")
        while found == films.library.id:
            # What changed before it was let alone.
            found = await change_until_asked(tmp_path / "series" / "deep")
        assert found == series.library.id
