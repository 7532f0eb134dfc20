"""The loop of filing: brings every download that is complete a step further, whenever something changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from kurabito.clock import Clock, SystemClock
from kurabito.db import Connection, Database
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.placements.adoption.rounds import AdoptionRounds
from kurabito.placements.filing import arrivals, placed_files, planner
from kurabito.wakeup import Bell

_EVERY: Final = 5.0
_AT_MOST_EVERY: Final = 1.0
"""A data plane commits many times a second, and each commit wakes us."""

_log = get_logger(__name__)


class Refuse(Protocol):
    """Has a download fail for the files that it brought, and the next release be taken."""

    def __call__(self, conn: Connection, download_id: int, files: Sequence[str]) -> None: ...


class FilingLoop:
    """Files downloads. `root` is the folder for downloads as the core sees it; `reserve` bytes of a library's disk stay free.

    `refuse` has a download fail that brought programs instead of videos.
    """

    def __init__(
        self, database: Database, root: Path, *, reserve: int, refuse: Refuse, clock: Clock | None = None
    ) -> None:
        self._database = database
        self._root = root
        self._reserve = reserve
        self._refuse = refuse
        self._clock = clock or SystemClock()
        self._adoption = AdoptionRounds(database)
        self._news = Bell()

    async def run(self) -> None:
        """Go on until cancelled."""
        roused = asyncio.Event()
        with self._news.listen(roused.set):
            async with self._database.watching(lambda _: self._news.ring()):
                while True:
                    roused.clear()
                    try:
                        await self.step()
                    except KurabitoError as problem:
                        _log.warning("downloads not filed", problem=str(problem))
                    except Exception:  # noqa: BLE001 - a fault must not end the loop: nothing would ever be filed again
                        _log.exception("downloads not filed")
                    await self._clock.wait(asyncio.Event(), _AT_MOST_EVERY)
                    await self._clock.wait(roused, _EVERY)

    async def step(self) -> bool:
        """Bring everything a step further; whether there was anything to do."""
        arrived = await self._request_arrivals()
        planned = await self._plan()
        placed = await self._note_placed()
        adopted = await self._adoption.step()
        return arrived or planned or placed or adopted

    async def _request_arrivals(self) -> bool:
        # A look makes no writer wait, and mostly there is nothing.
        if not await self._database.read(arrivals.arrived):
            return False

        def write(conn: Connection) -> None:
            for download in arrivals.arrived(conn):
                arrivals.request(conn, download, self._root)
            conn.notify()

        await self._database.write(write)
        return True

    async def _plan(self) -> bool:
        waiting = await self._database.read(planner.unplanned)
        for inspection_id in waiting:
            await self._plan_one(inspection_id)
        return bool(waiting)

    async def _plan_one(self, inspection_id: int) -> None:
        def decide(conn: Connection) -> planner.FilingDecision | None:
            inspected = planner.read_inspected(conn, inspection_id)
            return None if inspected is None else planner.decide(conn, inspected)

        decision = await self._database.read(decide)
        if decision is not None:
            await self._database.write(partial(self._store, decision=decision))
            _log.info(
                "download planned",
                download=decision.inspected.download_id,
                filed=len(decision.filed),
                asked=len(decision.questions),
            )

    def _store(self, conn: Connection, decision: planner.FilingDecision) -> None:
        download_id = decision.inspected.download_id
        is_new, download_id = planner.store(conn, decision, reserve=self._reserve), decision.inspected.download_id
        if is_new and decision.unsafe and download_id is not None:
            self._refuse(conn, download_id, decision.unsafe)

    async def _note_placed(self) -> bool:
        placed = await self._database.read(placed_files.unnoted)
        if placed:
            await self._database.write(lambda conn: placed_files.note(conn, placed))
        return bool(placed)
