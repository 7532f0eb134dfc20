"""What a program asks of what is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kurabito.catalog import series
from kurabito.db import Connection, Database
from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.downloads.wanted import backfill, store
from kurabito.downloads.wanted.backfill import Backfill
from kurabito.downloads.wanted.search import SEARCH
from kurabito.downloads.wanted.store import WantedEpisode
from kurabito.runtime.delegation import DelegatedTasks


class WantedEpisodes:
    """What is wanted in one database."""

    def __init__(self, database: Database, queue: DelegatedTasks, search: ReleaseSearch) -> None:
        self._database = database
        self._queue = queue
        self._search = search

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

    async def is_automatic(self) -> bool:
        """Whether everything that is wanted is searched for automatically."""
        return await self._database.read(store.is_automatic)

    async def set_automatic(self, wanted_so: bool) -> None:
        """Switch the automatic search on or off, for shows that say nothing else."""
        await self._database.write(lambda conn: store.set_automatic(conn, wanted_so))

    async def set_series_automatic(self, series_id: int, wanted_so: bool | None) -> None:
        """Switch it on or off for one show, None is as for all; raises SeriesNotFound."""

        def write(conn: Connection) -> None:
            series.find(conn, series_id)
            store.set_series_automatic(conn, series_id, wanted_so)

        await self._database.write(write)

    async def backfill(self, series_id: int) -> Backfill:
        """What would be fetched of a show; nothing is. Raises SeriesNotFound."""
        missing = await self.everything(series_id=series_id)
        is_over = await self._database.read(lambda conn: store.is_over(conn, series_id))
        query = await self._search.for_series(series_id)
        releases: Sequence[FoundRelease] = ()
        async for found in self._search.search(query):
            releases = found.releases
        return backfill.plan(releases, series_id, {one.number for one in missing}, is_over=is_over)
