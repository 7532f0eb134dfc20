"""One sync: every record that lacks something, five at a time, from the first to the last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from kurabito.clock import Clock, to_datetime
from kurabito.db import Connection, Database
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.metadata import pending
from kurabito.metadata.errors import BgmtvError, TmdbError
from kurabito.metadata.lookup import look_up
from kurabito.metadata.pending import Lookup, needs_poster_sync, needs_tmdb_sync
from kurabito.metadata.posters.downloads import PosterDownloads
from kurabito.metadata.records import Metadata
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.metadata.write_batch import Finding, WriteBatch

SYNC_CONCURRENCY: Final = 5

_log = get_logger(__name__)


@dataclass(slots=True)
class Synced:
    """What a sync came to."""

    records: int = 0
    posters: int = 0
    posters_failed: int = 0
    ids: int = 0
    ids_not_found: int = 0
    ids_failed: int = 0


class Sync:
    """A sync under way. What fails for one record is told and left for the next sync; the others go on."""

    def __init__(
        self, database: Database, downloads: PosterDownloads, tmdb: TmdbClient, bangumi: BangumiClient, clock: Clock
    ) -> None:
        self._database = database
        self._downloads = downloads
        self._tmdb = tmdb
        self._bangumi = bangumi
        self._clock = clock
        self._findings = WriteBatch(database, clock)
        self._has_index = False
        self._asks_tmdb = tmdb.is_on
        self._asks_bgm = True
        self._synced = Synced()

    async def run(self, report: Callable[[int, int], object]) -> Synced:
        """Go through the records; `report` is told how many of how many are done."""
        self._has_index = await self._database.read(offline.is_there)
        total = await self._database.read(lambda conn: pending.count_metadata_to_sync(conn, ids=self._knows_ids))
        records, turn = self._records(), asyncio.Lock()

        async def work() -> None:
            while True:
                async with turn:
                    record = await anext(records, None)
                if record is None:
                    return
                await self._fill_in(record)
                self._synced.records += 1
                report(self._synced.records, max(total, self._synced.records))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(SYNC_CONCURRENCY):
                    group.create_task(work())
        finally:
            await self._findings.write()
        return self._synced

    @property
    def _knows_ids(self) -> bool:
        return self._has_index or self._tmdb.is_on

    async def _records(self) -> AsyncIterator[Metadata]:
        """The pending work, a chunk at a time: a large collection is never in memory as a whole."""
        after = 0
        while True:
            chunk = await self._database.read(
                lambda conn, after=after: pending.get_metadata_to_sync(conn, after=after, ids=self._knows_ids)  # type: ignore[misc]
            )
            if not chunk:
                return
            for record in chunk:
                yield record
            after = chunk[-1].id

    async def _fill_in(self, record: Metadata) -> None:
        tasks: list[Awaitable[object]] = []
        if needs_poster_sync(record):
            tasks.append(self._fetch_poster(record.id, record.details.poster_url or ""))
        if needs_tmdb_sync(record, to_datetime(self._clock.now())):
            tasks.append(self._find_id(record))
        await asyncio.gather(*tasks)

    async def _fetch_poster(self, metadata_id: int, url: str) -> None:
        fetched = await fetch_poster(self._downloads, self._findings.note, metadata_id, url)
        self._synced.posters += fetched
        self._synced.posters_failed += not fetched

    async def _find_id(self, record: Metadata) -> None:
        try:
            found = await self._offline(record) or await self._online(record)
        except (TmdbError, BgmtvError) as error:
            self._leave_alone(error)
            self._synced.ids_failed += 1
            return
        except Exception as error:  # noqa: BLE001 - one record must not stop the others
            _log.error("id not looked up", metadata_id=record.id, exc_info=error)
            self._synced.ids_failed += 1
            return
        if found is None:
            return
        self._synced.ids += found.tmdb_id is not None
        self._synced.ids_not_found += found.tmdb_id is None
        if found.poster_url and not record.details.poster_url:
            await self._fetch_poster(record.id, found.poster_url)

    async def _offline(self, record: Metadata) -> Lookup | None:
        """What the index says; None when it does not know the id."""
        if not self._has_index:
            return None
        (entry,) = await self._database.read(lambda conn: offline.find_entries(conn, [record.details]))
        if entry is None:
            return None
        ids = entry.ids
        found = None
        if ids.tmdb_id is not None:
            poster = None if record.details.poster_url else await self._poster_at_bgm(ids.bgm_id)
            found = Lookup(ids.tmdb_id, ids.tmdb_kind, ids.tmdb_season, poster)

        def keep(conn: Connection) -> None:
            pending.keep_ids(conn, record.id, ids)
            if found is not None:
                pending.keep_lookup(conn, record, found)

        await self._findings.note(keep)
        return found

    async def _poster_at_bgm(self, bgm_id: int | None) -> str | None:
        """The index has no pictures; bgm.tv has."""
        if bgm_id is None:
            return None
        if not self._asks_bgm:
            raise BgmtvError("bgm.tv did not answer before, and is not asked again in this sync")
        found = await self._bangumi.subject(bgm_id)
        return None if found is None else found.poster_url

    def _leave_alone(self, error: TmdbError | BgmtvError) -> None:
        """Stop lookups for this sync: a service that does not respond now will not respond to the next thousand either.

        The lookups are not spent by it, so the next sync makes them.
        """
        asks = self._asks_tmdb if isinstance(error, TmdbError) else self._asks_bgm
        if asks:
            _log.warning("lookups stopped for this sync", code=error.code, problem=str(error))
        if isinstance(error, TmdbError):
            self._asks_tmdb = False
        else:
            self._asks_bgm = False

    async def _online(self, record: Metadata) -> Lookup | None:
        """What TMDB says; None when it is not asked."""
        if not self._asks_tmdb:
            return None
        details = record.details
        found = await look_up(self._tmdb, details.title_japanese or "", details.year, details.kind)
        await self._findings.note(lambda conn: pending.keep_lookup(conn, record, found))
        return found


async def fetch_poster(
    downloads: PosterDownloads, write: Callable[[Finding], Awaitable[object]], metadata_id: int, url: str
) -> bool:
    """Fetch the poster of a record and write down where it is; false when that failed, and is left for a later sync."""
    try:
        path = await downloads.fetch(url)
        await write(lambda conn: pending.keep_poster(conn, metadata_id, url, path))
    except KurabitoError as error:
        _log.warning("poster not fetched", metadata_id=metadata_id, code=error.code, problem=str(error))
        return False
    except Exception as error:  # noqa: BLE001 - one record must not stop the others
        _log.error("poster not fetched", metadata_id=metadata_id, exc_info=error)
        return False
    return True
