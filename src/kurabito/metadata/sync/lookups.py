"""Ids that TMDB is asked for, five records at a time. One lookup that fails leaves the others alone."""

from __future__ import annotations

from kurabito.clock import Clock
from kurabito.db import Connection, Database
from kurabito.logs import get_logger
from kurabito.metadata import pending
from kurabito.metadata.errors import TmdbError
from kurabito.metadata.lookup import look_up, look_up_western
from kurabito.metadata.pending import Lookup
from kurabito.metadata.records import Metadata
from kurabito.metadata.sync.lanes import five_at_a_time, in_chunks, needing_lookup
from kurabito.metadata.sync.posters import PosterLane
from kurabito.metadata.sync.progress import SyncProgress
from kurabito.metadata.sync.turns import TmdbTurns
from kurabito.metadata.sync.write_batch import WriteBatch

_log = get_logger(__name__)


class Lookups:
    """The lookups of one sync."""

    def __init__(
        self,
        database: Database,
        tmdb: TmdbTurns,
        findings: WriteBatch,
        progress: SyncProgress,
        clock: Clock,
        posters: PosterLane | None = None,
    ) -> None:
        self._database = database
        self._tmdb = tmdb
        self._findings = findings
        self._progress = progress
        self._clock = clock
        self._posters = posters

    async def run(self) -> None:
        """Look up every record that needs it; what has a Japanese title first."""
        if not self._tmdb.is_on:
            return
        await five_at_a_time(needing_lookup(self._database, self._clock), self._look_up)
        await five_at_a_time(in_chunks(self._database, pending.western_to_look_up), self._look_up)

    async def _look_up(self, record: Metadata) -> None:
        synced = self._progress.synced
        try:
            found = await self._ask(record)
        except TmdbError as error:
            # The lookup is not spent, so the next sync makes it.
            self._progress.not_answered("TMDB", error)
            synced.ids_failed += 1
        except Exception as error:  # noqa: BLE001 - one record must not stop the others
            _log.error("id not looked up", metadata_id=record.id, exc_info=error)
            synced.ids_failed += 1
        else:
            self._progress.answered()
            await self._keep(record, found)
        self._progress.finished(record.id)

    async def _ask(self, record: Metadata) -> Lookup:
        details = record.details
        if details.title_japanese:
            return await look_up(self._tmdb, details.title_japanese, details.year, details.kind)
        return await look_up_western(self._tmdb, details.title_english or "", details.year, details.kind)

    async def _keep(self, record: Metadata, found: Lookup) -> None:
        def keep(conn: Connection) -> bool:
            return pending.keep_lookup(conn, record, found)

        await self._findings.note(keep)
        self._progress.synced.ids += found.tmdb_id is not None
        self._progress.synced.ids_not_found += found.tmdb_id is None
        if self._posters is not None and found.poster_url and not record.details.poster_url:
            self._posters.want(record.id, found.poster_url)
