"""What a program asks of what is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from kurabito.catalog import series
from kurabito.db import Connection, Database
from kurabito.downloads.search.live_searches import RunningSearches
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.downloads.wanted import backfill, store
from kurabito.downloads.wanted.backfill import Backfill
from kurabito.downloads.wanted.search import SEARCH
from kurabito.downloads.wanted.store import WantedEpisode
from kurabito.runtime.delegation import DelegatedTasks


class WantedList:
    """What is wanted in one database."""

    def __init__(self, database: Database, queue: DelegatedTasks, search: ReleaseSearch) -> None:
        self._database = database
        self._queue = queue
        self._search = search
        # A page that is loaded again costs no requests.
        self._running = RunningSearches(search)

    async def everything(self, *, series_id: int | None = None, limit: int = 500) -> list[WantedEpisode]:
        """What is missing and what could be better, the newest first."""
        return await self._database.read(lambda conn: store.wanted(conn, series_id=series_id, limit=limit))

    async def search(self, episode_ids: Iterable[int] | None = None) -> int:
        """Have these searched for soon, or all that is wanted; how many are. What is not wanted is left out."""

        def write(conn: Connection) -> int:
            wanted = {one.id for one in store.wanted(conn)}
            chosen = wanted if episode_ids is None else wanted & set(episode_ids)
            store.ask(conn, chosen)
            return len(chosen)

        asked = await self._database.write(write)
        if asked:
            await self._queue.enqueue(SEARCH, None, unique_key=SEARCH)
        return asked

    async def count_asking(self) -> int:
        """How many episodes have a release that is so large, or the disk so full, that it is not taken unasked."""
        return await self._database.read(store.count_asking)

    async def is_automatic(self) -> bool:
        """Whether everything that is wanted is searched for automatically."""
        return await self._database.read(store.is_automatic)

    async def set_automatic(self, is_on: bool) -> None:
        """Switch the automatic search on or off, for shows that say nothing else."""
        await self._database.write(lambda conn: store.set_automatic(conn, is_on))

    async def series_automatic(self, series_id: int) -> bool | None:
        """Whether it is switched on or off for one show; None is as for all."""
        return await self._database.read(lambda conn: store.series_automatic(conn, series_id))

    async def set_series_automatic(self, series_id: int, is_on: bool | None) -> None:
        """Switch it on or off for one show, None is as for all; raises SeriesNotFound."""

        def write(conn: Connection) -> None:
            series.find(conn, series_id)
            store.set_series_automatic(conn, series_id, is_on)

        await self._database.write(write)

    async def backfill(self, series_id: int) -> Backfill:
        """What would be fetched of a show; nothing is. Raises SeriesNotFound.

        Where no list says which episodes there are, what is found says so.
        """
        missing = {one.number for one in await self.everything(series_id=series_id)}
        is_listed = await self._database.read(lambda conn: store.is_listed(conn, series_id))
        is_over = await self._database.read(lambda conn: store.is_over(conn, series_id))
        query = await self._search.for_series(series_id)
        releases = await self._running.whole(query)
        if not is_listed:
            missing |= backfill.numbers_found(releases, series_id)
        return backfill.plan(releases, series_id, missing, is_over=is_over)

    async def backfill_within(self, series_id: int, seconds: float) -> Backfill | None:
        """The same, or None while the search for it takes longer than that; it goes on, and another call has its results."""
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await self.backfill(series_id)
        except TimeoutError:
            if limit.expired():
                return None
            raise
