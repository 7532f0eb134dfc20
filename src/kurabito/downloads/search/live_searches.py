"""Searches that are under way: a page is shown at once, and again after each answer.

    begin ─► RunningSearch ─► changed() … changed() ─► is_done

One that is asked for again in the next minutes is the same one: a page that is loaded again costs no requests.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Final

from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.service import FoundSoFar, ReleaseSearch
from kurabito.errors import KurabitoError
from kurabito.indexers.port import SearchQuery
from kurabito.indexers.service import IndexerOutcome

_REMEMBERED: Final = 30
_KEPT: Final = 180 * SECOND
_PATIENCE: Final = 60.0


class RunningSearch:
    """One search, as far as it has come."""

    def __init__(self, query: SearchQuery, begun_at: int) -> None:
        self.query = query
        self.begun_at = begun_at
        self.outcomes: list[IndexerOutcome] = []
        self.releases: tuple[FoundRelease, ...] = ()
        self.feed_url: str | None = None
        self.error: KurabitoError | None = None
        self.is_done = False
        self._changed = asyncio.Condition()
        self._answers = 0

    async def follow(self, answers: AsyncIterator[FoundSoFar]) -> None:
        """Take the answers as they come; an error ends the search."""
        try:
            async for found in answers:
                if found.outcome is not None:
                    self.outcomes.append(found.outcome)
                self.releases, self.feed_url = found.releases, found.feed_url
                await self._tell()
        except KurabitoError as error:
            self.error = error
        finally:
            self.is_done = True
            await self._tell()

    async def changed(self, seen: int, seconds: float | None = None) -> int:
        """Wait until there is more than was seen; how much there is then, or after so many seconds."""
        async with self._changed:
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait_for(lambda: self._answers > seen or self.is_done)
            except TimeoutError:
                pass
            return self._answers

    @property
    def is_of_use(self) -> bool:
        """Whether asking again would tell nothing new soon: an indexer answered, or may still do so."""
        return not self.is_done or any(one.error is None for one in self.outcomes)

    async def _tell(self) -> None:
        async with self._changed:
            self._answers += 1
            self._changed.notify_all()


class RunningSearches:
    """The searches of one process."""

    def __init__(self, search: ReleaseSearch, clock: Clock | None = None) -> None:
        self._search = search
        self._clock = clock or SystemClock()
        self._known: OrderedDict[SearchQuery, RunningSearch] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, query: SearchQuery) -> RunningSearch:
        """The search for this, which may be under way or over already."""
        known = self._known.get(query)
        if known is not None and known.is_of_use and self._clock.now() - known.begun_at < _KEPT:
            return known
        running = RunningSearch(query, self._clock.now())
        self._known[query] = running
        self._known.move_to_end(query)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        task = asyncio.create_task(running.follow(self._search.search(query)), name="search")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return running

    async def whole(self, query: SearchQuery) -> tuple[FoundRelease, ...]:
        """Everything that the search for this finds, as it is decided now; raises what the search raises."""
        running = self.begin(query)
        while not running.is_done:
            await running.changed(len(running.outcomes), _PATIENCE)
        if running.error is not None:
            raise running.error
        return await self._search.again(running.releases)
