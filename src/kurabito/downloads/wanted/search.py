"""Searches for what is wanted, one episode after the other, and takes the best that is found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from kurabito import logs
from kurabito.db import Database
from kurabito.downloads.dispatch.room import Room
from kurabito.downloads.errors import DownloadError
from kurabito.downloads.reasons import DispatchCause
from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.downloads.wanted import backfill, store
from kurabito.downloads.wanted.pauses import SearchOutcome, asks_first
from kurabito.downloads.wanted.store import WantedEpisode
from kurabito.errors import KurabitoError
from kurabito.http.errors import OutboundError
from kurabito.indexers.errors import IndexerError
from kurabito.runtime import Registry

log = logs.get_logger(__name__)

EXPECT: Final = "wanted.expect"
SEARCH: Final = "wanted.search"
_EXPECTED_EVERY: Final = 3_600.0
_SEARCHED_EVERY: Final = 60.0
_AT_ONCE: Final = 10
"""Searches of one task, so that none runs for long."""


class WantedSearch:
    """Looks for what is wanted. Nothing is searched for that a keeper did not ask for or switch on."""

    def __init__(self, database: Database, search: ReleaseSearch, grabs: ReleaseGrabs, room: Room) -> None:
        self._database = database
        self._search = search
        self._grabs = grabs
        self._room = room

    def join(self, registry: Registry) -> None:
        """Have episodes expected every hour, and searched for every minute as far as the limit goes."""
        registry.task(EXPECT)(self.expect)
        registry.every(_EXPECTED_EVERY, EXPECT, unique_key=EXPECT)
        registry.task(SEARCH)(self.run)
        registry.every(_SEARCHED_EVERY, SEARCH, unique_key=SEARCH)

    async def expect(self) -> None:
        """Learn from the records which episodes were shown."""
        await self._database.write(store.expect)

    async def run(self) -> int:
        """Search for what is due; how many searches that were."""
        searched: set[int] = set()
        count = 0
        for _ in range(_AT_ONCE):
            waiting = [one for one in await self._database.read(store.due) if one.id not in searched]
            if not waiting:
                break
            first = waiting[0]
            if not first.is_asked and not await self._database.write(store.may_ask):
                break
            count += 1
            searched |= await self._look_for(first)
        return count

    async def _look_for(self, first: WantedEpisode) -> set[int]:
        """Search for an episode, and where its season is over for all that is missing of it; the episodes that it was about."""
        own = first.series_id
        missing = await self._database.read(lambda conn: store.wanted(conn, series_id=own))
        is_over = await self._database.read(lambda conn: store.is_over(conn, own))
        wanted = [one for one in missing if one.id == first.id or (is_over and one.is_asked >= first.is_asked)]
        episode = first.number if len(wanted) == 1 else None
        releases, has_answer, is_whole = await self._found(own, episode)
        plan = backfill.plan(releases, own, {one.number for one in wanted}, is_over=len(wanted) > 1)
        taken = await self._take(plan.releases)
        nothing = SearchOutcome.NOTHING if has_answer else SearchOutcome.NO_ANSWER
        by_outcome: dict[SearchOutcome, list[WantedEpisode]] = defaultdict(list)
        for one in wanted:
            by_outcome[taken.get(plan.bringing(one.number), nothing)].append(one)
        for outcome, episodes in by_outcome.items():
            await self._database.write(
                lambda conn, episodes=episodes, outcome=outcome: store.note(conn, episodes, outcome, is_whole=is_whole)  # type: ignore[misc]
            )
        log.info("wanted episodes searched for", series=own, episodes=len(wanted), outcomes=sorted(by_outcome))
        return {one.id for one in wanted}

    async def _found(self, series_id: int, episode: float | None) -> tuple[Sequence[FoundRelease], bool, bool]:
        """What the indexers have, whether any of them answered, and whether all did."""
        query = await self._search.for_series(series_id, episode)
        releases: Sequence[FoundRelease] = ()
        answered: list[bool] = []
        async for found in self._search.search(query):
            releases = found.releases
            answered.append(found.outcome is not None and found.outcome.error is None)
        return releases, any(answered), all(answered)

    async def _take(self, releases: Sequence[FoundRelease]) -> dict[str | None, SearchOutcome]:
        """Grab what may be taken unasked; what came of each release, by its key."""
        taken: dict[str | None, SearchOutcome] = {}
        free = await self._room.free()
        for one in releases:
            try:
                size = await self._grabs.size_of(one)
                asks = asks_first(size, free)
                if asks is None:
                    await self._grabs.grab(one.key, DispatchCause.SEARCHED)
                    free = None if free is None else free - (size or 0)
                taken[one.key] = asks or SearchOutcome.GRABBED
            except (DownloadError, IndexerError, OutboundError) as error:
                log.info("release not grabbed", problem=_code(error))
                taken[one.key] = SearchOutcome.FAILED
        return taken


def _code(error: KurabitoError) -> str:
    return error.code
