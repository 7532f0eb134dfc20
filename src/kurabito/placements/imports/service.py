"""Plans an import, and applies it."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Final

from kurabito.catalog.matching.clues import is_video
from kurabito.clock import Clock, SystemClock
from kurabito.db import Connection, Database
from kurabito.errors import InvalidInput
from kurabito.library import libraries
from kurabito.library.libraries import Library
from kurabito.placements.errors import ImportNotReady
from kurabito.placements.filing import planner
from kurabito.placements.filing.planner import FilingDecision
from kurabito.placements.imports import arrivals
from kurabito.placements.imports.inside import give_inside, plan_inside
from kurabito.placements.imports.model import ImportOrder, ImportPlan
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.inspections import MOST_INSPECTED
from kurabito.protocol.leased.retries import FilingStatus
from kurabito.reasons import InputReason, refused
from kurabito.wakeup import Bell

_PATIENCE: Final = 20.0
"""Seconds that a data plane has to list a folder."""
_LOOK_EVERY: Final = 1.0
_DEEPEST_PATH: Final = 4_096
_OTHER_WAY: Final = (ErrorCode.FILE_MISSING, ErrorCode.ROOT_UNAVAILABLE)
"""What is no file may be a folder, and the other way round."""
_PROBLEMS: Final = {
    ErrorCode.FILE_MISSING: (
        "is not there, or empty; links, and what is no regular file, are never imported",
        InputReason.PATH_EMPTY,
    ),
    ErrorCode.ROOT_UNAVAILABLE: (
        "is not there where a data plane runs; check the path, and whether its disk is mounted",
        InputReason.PATH_UNREACHED,
    ),
    ErrorCode.FILE_UNREADABLE: (
        "may not be read by the data plane; give it the right to, and ask again",
        InputReason.PATH_UNREADABLE,
    ),
    ErrorCode.TOO_MANY_FILES: (
        f"has more than {MOST_INSPECTED:,} files; import the folders in it one by one",
        InputReason.TOO_MANY_FILES,
    ),
    ErrorCode.PATH_ESCAPES: ("leads out of its folder", InputReason.PATH_LINK),
}
_UNLISTED: Final = ("could not be listed by a data plane", InputReason.PATH_UNREADABLE)
_SHOWN: Final = 200


class Imports:
    """Gives files to series by a person's word. `root` is the folder for downloads as the core sees it."""

    def __init__(self, database: Database, root: Path, *, reserve: int, clock: Clock | None = None) -> None:
        self._database = database
        self._root = root
        self._reserve = reserve
        self._clock = clock or SystemClock()

    async def plan(self, order: ImportOrder) -> ImportPlan:
        """What would be done; nothing is changed. Raises InvalidInput, SeriesNotFound, or ImportNotReady."""
        library = await self._library(order)
        if library is not None:
            return await self._database.read(lambda conn: plan_inside(conn, library, order))
        plan, _ = await self._arriving(order)
        return plan

    async def apply(self, order: ImportOrder) -> ImportPlan:
        """Do it; what was done. Raises the same."""
        library = await self._library(order)
        if library is not None:

            def give(conn: Connection) -> ImportPlan:
                plan = plan_inside(conn, library, order)
                give_inside(conn, plan)
                return plan

            return await self._database.write(give)
        plan, decision = await self._arriving(order)
        if plan.problem is None:
            await self._database.write(lambda conn: planner.store(conn, decision, reserve=self._reserve))
        return plan

    async def _library(self, order: ImportOrder) -> Library | None:
        """The library that the files lie in; None for the folder for downloads. Raises InvalidInput for any other place."""
        if order.kind not in arrivals.KINDS:
            problem = f"must be one of {', '.join(arrivals.KINDS)}, got {order.kind}"
            raise InvalidInput("kind", problem, refused(InputReason.CHOICE))
        path = Path(order.path)
        if not path.is_absolute() or ".." in path.parts or "\0" in order.path or len(order.path) > _DEEPEST_PATH:
            reason = refused(InputReason.PATH_NOT_WHOLE, path=order.path[:_SHOWN])
            raise InvalidInput("path", "must be a whole path without `..`", reason)
        known = await self._database.read(libraries.everything)
        inside = next((one for one in known if path.is_relative_to(one.path)), None)
        if inside is None and (path == self._root or not path.is_relative_to(self._root)):
            problem = (
                f"must lie in a library, or in the folder for downloads ({self._root}), and not be that folder itself"
            )
            raise InvalidInput("path", problem, refused(InputReason.IMPORT_PLACE, path=str(self._root)))
        return inside

    async def _arriving(self, order: ImportOrder) -> tuple[ImportPlan, FilingDecision]:
        path = Path(order.path)
        await asyncio.to_thread(_refuse_links, path, self._root)
        await self._database.read(lambda conn: arrivals.refuse_unfinished(conn, path, self._root))
        # The core sees no disk: what has the ending of a video probably is one.
        ways = [(str(path.parent), path.name), (str(path), None)]
        problem: ErrorCode | None = None
        for folder, name in ways if is_video(path.name) else ways[::-1]:
            inspection_id, found = await self._list(folder, name, order)
            if found is None:
                return await self._database.read(partial(arrivals.decide, inspection_id=inspection_id, order=order))
            problem = problem or found
            if found not in _OTHER_WAY:
                break
        said, code = _PROBLEMS.get(problem or ErrorCode.FILE_MISSING, _UNLISTED)
        facts = {"path": order.path} | ({"most": MOST_INSPECTED} if code is InputReason.TOO_MANY_FILES else {})
        raise InvalidInput("path", f"{order.path!r} {said}", refused(code, **facts))

    async def _list(self, folder: str, name: str | None, order: ImportOrder) -> tuple[int, ErrorCode | None]:
        """Have a folder, or one of its files, looked at; the inspection, and what was in its way."""
        inspection_id = await self._database.write(lambda conn: arrivals.request_list(conn, folder, name))
        problem: ErrorCode | None = ErrorCode.FILE_MISSING
        try:
            problem = await self._wait_for(inspection_id, order)
        finally:
            if problem is not None:
                await self._database.write(lambda conn: arrivals.give_up(conn, inspection_id))
        return inspection_id, problem

    async def _wait_for(self, inspection_id: int, order: ImportOrder) -> ErrorCode | None:
        news, roused = Bell(), asyncio.Event()
        ends = self._clock.monotonic() + _PATIENCE
        with news.listen(roused.set):
            async with self._database.watching(lambda _: news.ring()):
                while True:
                    roused.clear()
                    status, code = await self._database.read(lambda conn: arrivals.status_of(conn, inspection_id))
                    if status is FilingStatus.COMPLETED:
                        return None
                    if status in (FilingStatus.FAILED, FilingStatus.CANCELLED) or code is not None:
                        return code or ErrorCode.FILE_MISSING
                    if self._clock.monotonic() >= ends:
                        raise ImportNotReady(f"no data plane has listed {order.path!r} yet; start one, and ask again")
                    await self._clock.wait(roused, _LOOK_EVERY)


def _refuse_links(path: Path, root: Path) -> None:
    """Raises InvalidInput where a link leads elsewhere. What the core does not see says nothing, and is left to the data plane."""
    real = Path(os.path.realpath(path))
    if real != Path(os.path.realpath(root)) / path.relative_to(root):
        problem = f"has a link in it, which leads to {str(real)!r}; links are not followed"
        raise InvalidInput("path", problem, refused(InputReason.PATH_LINK, path=str(path)))
