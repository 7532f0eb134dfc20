"""Where the posters are that no lookup brought: bgm.tv is asked, about once a second, and TMDB where that does not help."""

from __future__ import annotations

from functools import partial

from kurabito.db import Database
from kurabito.logs import get_logger
from kurabito.metadata import pending
from kurabito.metadata.errors import BgmtvError, TmdbError
from kurabito.metadata.records import Metadata, RecordKind, TmdbKind
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sync.lanes import five_at_a_time, in_chunks
from kurabito.metadata.sync.posters import PosterLane
from kurabito.metadata.sync.progress import SyncProgress
from kurabito.metadata.sync.turns import FailureLimit, TmdbTurns
from kurabito.metadata.sync.write_batch import WriteBatch

_log = get_logger(__name__)


class PosterLookups:
    """The records of one sync that have an id and no poster."""

    def __init__(
        self,
        database: Database,
        bangumi: BangumiClient,
        tmdb: TmdbTurns,
        findings: WriteBatch,
        progress: SyncProgress,
        posters: PosterLane,
    ) -> None:
        self._database = database
        self._bangumi = bangumi
        self._limit = FailureLimit(BgmtvError)
        self._tmdb = tmdb
        self._findings = findings
        self._progress = progress
        self._posters = posters

    async def run(self) -> None:
        """Ask for every record; a lookup that found nothing is made again after a week."""
        # What was noted is what they are found by.
        await self._findings.write()
        without_poster = partial(pending.without_poster, asks_tmdb=self._tmdb.is_on)
        await five_at_a_time(in_chunks(self._database, without_poster), self._look_up)

    async def _look_up(self, record: Metadata) -> None:
        try:
            url = await self._find(record)
        except (BgmtvError, TmdbError) as error:
            self._progress.not_answered("bgm.tv" if isinstance(error, BgmtvError) else "TMDB", error)
            self._progress.synced.posters_failed += 1
        except Exception as error:  # noqa: BLE001 - one record must not stop the others
            _log.error("poster not looked up", metadata_id=record.id, exc_info=error)
            self._progress.synced.posters_failed += 1
        else:
            await self._findings.note(lambda conn: pending.keep_poster_lookup(conn, record.id, url))
            if url is not None:
                self._posters.want(record.id, url)
        self._progress.finished(record.id)

    async def _find(self, record: Metadata) -> str | None:
        """The URL of the poster; None when none of the services that were asked has one."""
        details, failed, url = record.details, None, None
        if details.bgm_id is not None:
            try:
                url = await self._at_bgm(details.bgm_id)
            except BgmtvError as error:
                failed = error
        if url is None and details.tmdb_id is not None and self._tmdb.is_on:
            world = TmdbKind.MOVIE if details.kind is RecordKind.MOVIE else TmdbKind.TV
            url = await self._tmdb.poster_of(details.tmdb_kind or world, details.tmdb_id)
            self._progress.answered()
        if url is None and failed is not None:
            raise failed
        return url

    async def _at_bgm(self, bgm_id: int) -> str | None:
        found = await self._limit.ask(bgm_id, lambda: self._bangumi.subject(bgm_id), is_final=lambda _: False)
        self._progress.answered()
        return None if found is None else found.poster_url
