"""The loop of filing: takes the next step of every download that is complete, whenever something changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from kurabito.clock import Clock, SystemClock
from kurabito.db import Connection, Database
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.modules.path_maps import PathMap, all_path_maps
from kurabito.placements.adoption.rounds import AdoptionRounds
from kurabito.placements.descriptions import store as descriptions
from kurabito.placements.descriptions.rounds import DescriptionRounds
from kurabito.placements.filing import arrivals, placed_files, planner, store
from kurabito.placements.filing.destination import intakes
from kurabito.placements.filing.questions import decide_libraries_again
from kurabito.placements.filing.reasons import FilingReason, because
from kurabito.placements.leftovers import store as leftovers
from kurabito.protocol.enums import LibraryIntake
from kurabito.rounds import Rounds
from kurabito.wakeup import Bell

_EVERY: Final = 5.0
_AT_MOST_EVERY: Final = 1.0
"""A data plane commits many times a second, and each commit wakes us."""

_log = get_logger(__name__)


class Refuse(Protocol):
    """Has a download fail for the files that it brought, and the next release be taken."""

    def __call__(self, conn: Connection, download_id: int, files: Sequence[str]) -> None: ...


class NotePlaced(Protocol):
    """Hears which placements are done, in the transaction that notes them."""

    def __call__(self, conn: Connection, placement_ids: Sequence[int]) -> None: ...


class FilingLoop:
    """Files downloads. `root` is the folder for downloads as the core sees it; `reserve` bytes of a library's disk stay free.

    `refuse` has a download fail that brought programs instead of videos; `picture` has the content of a poster by its name;
    `note_placed` has others hear of files that are in their place.
    """

    def __init__(
        self,
        database: Database,
        root: Path,
        *,
        reserve: int,
        refuse: Refuse,
        picture: Callable[[str], bytes | None],
        note_placed: NotePlaced,
        clock: Clock | None = None,
    ) -> None:
        self._database = database
        self._root = root
        self._reserve = reserve
        self._refuse = refuse
        self._note_others = note_placed
        self._clock = clock or SystemClock()
        self._rounds = Rounds("downloads not filed", self._clock)
        self._adoption = AdoptionRounds(database)
        self._descriptions = DescriptionRounds(database, picture, reserve=reserve)
        self._news = Bell()
        self._path_maps: Mapping[int, Sequence[PathMap]] | None = None
        """As they were when folders were looked for by them; None before that."""
        self._is_reserve_followed = False
        """Whether what waits since before this process leaves as much free as the setting says now."""
        self._intakes: Mapping[int, LibraryIntake] | None = None
        """What libraries took when that was last decided by; None before that."""

    @property
    def trouble(self) -> str | None:
        """Why nothing is filed, while nothing is."""
        return self._rounds.trouble

    async def run(self) -> None:
        """Go on until cancelled."""
        roused = asyncio.Event()
        with self._news.listen(roused.set):
            async with self._database.watching(lambda _: self._news.ring()):
                while True:
                    roused.clear()
                    await self._rounds.do(self.step)
                    await self._clock.wait(asyncio.Event(), _AT_MOST_EVERY)
                    await self._clock.wait(roused, _EVERY)

    async def step(self) -> bool:
        """Take the next step of every download; whether there was anything to do."""
        await self._follow_path_maps()
        await self._follow_libraries()
        await self._follow_reserve()
        arrived = await self._request_arrivals()
        planned = await self._plan()
        placed = await self._note_placed()
        adopted = await self._adoption.step()
        described = await self._descriptions.step()
        if await self._database.read(leftovers.kept):
            await self._database.write(leftovers.leave_kept)
        return arrived or planned or placed or adopted or described

    async def _follow_path_maps(self) -> None:
        """Look for folders where path maps have them that were changed since they were not seen."""
        maps = await self._database.read(all_path_maps)
        if maps != self._path_maps:
            await self._database.write(lambda conn: arrivals.forget_moved(conn, maps))
            self._path_maps = maps

    async def _follow_libraries(self) -> None:
        """Decide again where downloads go that wait for a library, when one came, went or takes something else."""
        known = await self._database.read(intakes)
        if known != self._intakes:
            await self._database.write(decide_libraries_again)
            self._intakes = known

    async def _follow_reserve(self) -> None:
        """A keeper who had too little room may have lowered what stays free; that setting holds from the next start."""
        if not self._is_reserve_followed:
            await self._database.write(lambda conn: store.keep_free(conn, self._reserve))
            self._is_reserve_followed = True

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
        inspected = await self._database.read(lambda conn: planner.read_inspected(conn, inspection_id))
        if inspected is None:
            return
        decision = await self._decide(inspected)
        await self._database.write(partial(self._store, decision=decision))
        _log.info(
            "download planned",
            download=inspected.download_id,
            filed=len(decision.filed),
            asked=len(decision.questions),
        )

    async def _decide(self, inspected: planner.Inspected) -> planner.FilingDecision:
        """What becomes of the files of a download; a fault is a question about this one, so that no other waits for it."""
        try:
            return await self._database.read(lambda conn: planner.decide(conn, inspected))
        except KurabitoError:
            raise
        except Exception as problem:  # noqa: BLE001 - a fault of ours in this download is no reason to file no other
            _log.exception("download not planned", download=inspected.download_id)
            reason = because(FilingReason.NOT_PLANNED, problem=f"{type(problem).__name__}: {problem}")
            return planner.FilingDecision(inspected=inspected, questions=(planner.FilingQuestion(reason),))

    def _store(self, conn: Connection, decision: planner.FilingDecision) -> None:
        is_new, download_id = planner.store(conn, decision, reserve=self._reserve), decision.inspected.download_id
        if is_new and decision.unsafe and download_id is not None:
            self._refuse(conn, download_id, decision.unsafe)

    async def _note_placed(self) -> bool:
        placed = await self._database.read(placed_files.unnoted)
        if placed:
            await self._database.write(partial(self._note, placement_ids=placed))
        return bool(placed)

    def _note(self, conn: Connection, placement_ids: list[int]) -> None:
        placed_files.note(conn, placement_ids)
        descriptions.note_placed(conn, placement_ids)
        self._note_others(conn, placement_ids)
