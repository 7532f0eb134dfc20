"""Scans because something changed: the files of watched libraries are watched, and a scan follows once they rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from kurabito.clock import Clock, SystemClock
from kurabito.db import Database
from kurabito.errors import KurabitoError
from kurabito.library import libraries
from kurabito.library.libraries import Library
from kurabito.logs import get_logger
from kurabito.wakeup import Bell

QUIET: Final = 10.0
"""Seconds without a change after which a scan is worth its while: a copy under way is not looked at file by file."""
LONGEST: Final = 300.0
"""Seconds after which a scan comes even if the changes do not end."""
_LOOK_EVERY: Final = 10.0
_TRY_AGAIN: Final = 60.0

_log = get_logger(__name__)

Place = tuple[int, Path]


class Watcher:
    """Watches the libraries that ask for it, and calls `submit` with the id of one that has changed."""

    def __init__(
        self,
        database: Database,
        submit: Callable[[int], Awaitable[object]],
        changed: Bell,
        *,
        quiet: float = QUIET,
        longest: float = LONGEST,
        clock: Clock | None = None,
    ) -> None:
        self._database = database
        self._submit = submit
        self._changed = changed
        """Rings when there may be another library to watch, or one less."""
        self._quiet = round(quiet * 1000)
        self._longest = round(longest * 1000)
        self._clock = clock or SystemClock()
        self._watching: dict[Place, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Go on until cancelled."""
        roused = asyncio.Event()
        with self._changed.listen(roused.set):
            try:
                while True:
                    roused.clear()
                    await self._look()
                    await self._clock.wait(roused, _LOOK_EVERY)
            finally:
                await self._end(list(self._watching))

    async def _look(self) -> None:
        """Begin and end watching as the libraries say."""
        try:
            wanted = {_place(library) for library in await self._database.read(libraries.watched)}
        except KurabitoError as problem:
            _log.warning("libraries to watch not read", problem=str(problem))
            return
        ended = [place for place, task in self._watching.items() if place not in wanted or task.done()]
        await self._end(ended)
        for place in wanted - self._watching.keys():
            self._watching[place] = asyncio.create_task(self._watch(*place), name=f"watch library {place[0]}")

    async def _end(self, places: list[Place]) -> None:
        tasks = [self._watching.pop(place) for place in places]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, library_id: int, path: Path) -> None:
        # Only where something is watched: it brings a compiled part with it.
        from watchfiles import awatch

        changes = awatch(
            path, watch_filter=None, step=self._quiet, debounce=self._longest, ignore_permission_denied=True
        )
        _log.info("library watched", library=library_id, path=str(path))
        try:
            async for batch in changes:
                _log.info("library changed", library=library_id, changes=len(batch))
                await self._submit(library_id)
        except Exception as problem:  # noqa: BLE001 - a folder that is gone for a while is watched again when it is back
            _log.warning("library not watched", library=library_id, problem=str(problem), again_in=_TRY_AGAIN)
            await self._clock.wait(asyncio.Event(), _TRY_AGAIN)


def _place(library: Library) -> Place:
    return library.id, library.path
