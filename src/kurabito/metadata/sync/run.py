"""The parts of a sync in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kurabito.clock import Clock
from kurabito.db import Database
from kurabito.metadata import pending
from kurabito.metadata.posters.downloads import PosterDownloads
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.metadata.sync.lookups import Lookups
from kurabito.metadata.sync.offline_ids import give_offline_ids
from kurabito.metadata.sync.poster_lookups import PosterLookups
from kurabito.metadata.sync.posters import PosterLane
from kurabito.metadata.sync.progress import Synced, SyncProgress
from kurabito.metadata.sync.turns import TmdbTurns
from kurabito.metadata.sync.write_batch import WriteBatch


class Sync:
    """A sync under way. What fails for one record is told and left for the next sync; the others go on."""

    def __init__(
        self,
        database: Database,
        downloads: PosterDownloads,
        tmdb: TmdbClient,
        bangumi: BangumiClient,
        clock: Clock,
        lookups_turn: asyncio.Lock,
    ) -> None:
        self._database = database
        self._downloads = downloads
        self._tmdb = TmdbTurns(tmdb)
        self._bangumi = bangumi
        self._clock = clock
        self._findings = WriteBatch(database, clock)
        self._lookups_turn = lookups_turn
        """Held by the sync that asks TMDB for ids, so that two never ask for the same ones."""

    async def run(self, report: Callable[[int, int], object]) -> Synced:
        """Fill in ids and posters; `report` is told how many of how many records are done."""
        progress = SyncProgress(report)
        await self._begin(progress)
        posters = PosterLane(self._database, self._downloads, self._findings, progress)
        lookups = Lookups(self._database, self._tmdb, self._findings, progress, self._clock, posters)
        more = PosterLookups(self._database, self._bangumi, self._tmdb, self._findings, progress, posters)

        async def ask() -> None:
            try:
                async with self._lookups_turn:
                    await lookups.run()
                await more.run()
            finally:
                posters.close()

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(ask())
                group.create_task(posters.run())
        finally:
            await self._findings.write()
        return progress.end()

    async def run_ids(self, report: Callable[[int, int], object]) -> Synced:
        """Fill in ids alone, for records that cannot wait for the posters of others."""
        progress = SyncProgress(report)
        await self._begin(progress)
        try:
            async with self._lookups_turn:
                await Lookups(self._database, self._tmdb, self._findings, progress, self._clock).run()
        finally:
            await self._findings.write()
        return progress.end()

    async def _begin(self, progress: SyncProgress) -> None:
        if await self._database.read(offline.is_there):
            await give_offline_ids(self._database, self._clock, progress)
        progress.expect(await self._database.read(lambda conn: pending.count_work(conn, ids=self._tmdb.is_on)))
