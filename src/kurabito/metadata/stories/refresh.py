"""The task that follows every sync: asks for episodes, summaries and backdrops of the records that are due.

What airs is asked for once a day, what has ended every three months. A run spends no more than a budget of requests for each
host; the records that are left come with the next run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Final

from kurabito.clock import SECOND, Clock, to_datetime
from kurabito.db import Connection, Database
from kurabito.http.retries import PASSING
from kurabito.logs import get_logger
from kurabito.metadata import episodes
from kurabito.metadata.episodes import EpisodeSource, KnownEpisode, key_of
from kurabito.metadata.errors import (
    BgmtvError,
    PosterBadStatus,
    PosterError,
    PosterNotStored,
    PosterUnreachable,
    TmdbError,
)
from kurabito.metadata.franchises import episodes_known
from kurabito.metadata.posters.downloads import PosterDownloads
from kurabito.metadata.records import Details, Metadata, RecordKind
from kurabito.metadata.sources.bangumi import BangumiClient, episode_pages
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.metadata.stories import store
from kurabito.metadata.stories.sources import TmdbStory, ask_tmdb, requests_for
from kurabito.runtime import Registry, TaskContext

STORIES: Final = "metadata.stories"
TMDB_BUDGET: Final = 800
BGM_BUDGET: Final = 300
"""Requests of one run; one a second makes five minutes."""
_CHUNK: Final = 50
_TROUBLES: Final = 3
"""So many failures in a row, and a host is left alone until the next run."""
_DAY: Final = 24 * 3600 * SECOND
_AIRING: Final = _DAY
_FAR_OFF: Final = 7 * _DAY
_ENDED: Final = 90 * _DAY
_AFTER_FAILURE: Final = 3600 * SECOND
_SETTLED: Final = timedelta(days=14)
"""A show is over when nothing came for so long."""

_log = get_logger(__name__)


@dataclass(slots=True)
class StoriesRefreshed:
    """What a run came to."""

    records: int = 0
    failed: int = 0
    left: int = 0
    """Records that are due, and for which the budget of a host, or its patience, was used up."""
    backdrops: int = 0
    backdrops_failed: int = 0


class HostBudget:
    """The requests that one run may send to a host; none more after several failures in a row."""

    def __init__(self, requests: int) -> None:
        self._left = requests
        self._troubles = 0

    def spend(self, requests: int) -> bool:
        """Whether so many requests may be sent; they are then spent."""
        if self._troubles >= _TROUBLES or requests > self._left:
            return False
        self._left -= requests
        return True

    @contextmanager
    def request(self) -> Iterator[None]:
        """Note whether the host answered what is asked within."""
        try:
            yield
        except (BgmtvError, TmdbError):
            self._troubles += 1
            raise
        self._troubles = 0


class StoryRefresh:
    """Asks for what is told of the records beside their posters and ids."""

    def __init__(
        self, database: Database, downloads: PosterDownloads, tmdb: TmdbClient, bangumi: BangumiClient, clock: Clock
    ) -> None:
        self._database = database
        self._downloads = downloads
        self._tmdb = tmdb
        self._bangumi = bangumi
        self._clock = clock

    def join(self, registry: Registry) -> None:
        """Register the task."""
        registry.task(STORIES, concurrency=1)(self.refresh)

    async def refresh(self, ctx: TaskContext) -> StoriesRefreshed:
        """Ask for every record that is due. Each is written at once, so that a crash repeats one record at most."""
        done, budgets = StoriesRefreshed(), {"tmdb": HostBudget(TMDB_BUDGET), "bgm": HostBudget(BGM_BUDGET)}
        after = 0
        while due := await self._database.read(partial(store.due_records, after=after, limit=_CHUNK)):
            for record in due:
                await self._refresh(record, budgets, done)
                await ctx.report(done.records + done.failed)
            after = due[-1].id
        await self._fetch_backdrops(done)
        return done

    async def _fetch_backdrops(self, done: StoriesRefreshed) -> None:
        after = in_a_row = 0
        while remote := await self._database.read(partial(store.remote_backdrops, after=after, limit=_CHUNK)):
            for metadata_id, url in remote:
                in_a_row = 0 if await self._fetch_backdrop(metadata_id, url, done) else in_a_row + 1
                if in_a_row >= _TROUBLES:
                    return
            after = remote[-1][0]

    async def _refresh(self, record: Metadata, budgets: dict[str, HostBudget], done: StoriesRefreshed) -> None:
        details = record.details
        asks_tmdb = self._tmdb.is_on and details.tmdb_id is not None
        asks_bgm = details.bgm_id is not None and details.kind is not RecordKind.MOVIE
        may_bgm = not asks_bgm or budgets["bgm"].spend(episode_pages(details))
        if not may_bgm or (asks_tmdb and not budgets["tmdb"].spend(requests_for(details))):
            done.left += 1
            return
        try:
            listed = await self._ask_bgm(details, budgets["bgm"]) if asks_bgm else None
            told = await self._ask_tmdb(details, budgets["tmdb"]) if asks_tmdb else TmdbStory()
        except (TmdbError, BgmtvError) as error:
            done.failed += 1
            _log.warning("story not refreshed", metadata_id=record.id, code=error.code, problem=str(error))
            put_off = partial(store.note_failure, metadata_id=record.id, first_after=_AFTER_FAILURE, most_after=_AIRING)
            await self._database.write(put_off)
            return
        await self._database.write(partial(_keep, record=record, told=told, listed=listed))
        done.records += 1

    async def _ask_bgm(self, details: Details, budget: HostBudget) -> list[KnownEpisode]:
        assert details.bgm_id is not None
        with budget.request():
            return await self._bangumi.episodes(details.bgm_id)

    async def _ask_tmdb(self, details: Details, budget: HostBudget) -> TmdbStory:
        with budget.request():
            return await ask_tmdb(self._tmdb, details)

    async def _fetch_backdrop(self, metadata_id: int, url: str, done: StoriesRefreshed) -> bool:
        """Fetch one; false when that could not be tried, and is left to the next run."""
        try:
            path: str | None = await self._downloads.fetch(url)
            done.backdrops += 1
        except PosterError as error:
            done.backdrops_failed += 1
            _log.warning("backdrop not fetched", metadata_id=metadata_id, code=error.code, problem=str(error))
            if _may_pass(error):
                return False
            path = None
        await self._database.write(partial(store.keep_backdrop, metadata_id=metadata_id, url=url, path=path))
        return True


def _may_pass(error: PosterError) -> bool:
    """Whether the disk or the host is the trouble, and not the picture."""
    if isinstance(error, PosterBadStatus):
        return error.answered in PASSING or error.answered >= 500
    return isinstance(error, PosterNotStored | PosterUnreachable)


def _keep(conn: Connection, record: Metadata, told: TmdbStory, listed: Sequence[KnownEpisode] | None) -> None:
    """Write down everything that was told of one record, or nothing of it."""
    details = record.details
    for source, found in ((EpisodeSource.TMDB, told.episodes), (EpisodeSource.BGM, listed)):
        if found and (key := key_of(source, details)) is not None:
            episodes.keep_lists(conn, source, {key: found})
    today = to_datetime(conn.now()).date()
    ended_on = _end(details, episodes_known(conn, details), today)
    store.keep_story(
        conn,
        record.id,
        summaries=told.summaries,
        backdrop_url=told.backdrop_url,
        ended_on=ended_on,
        due_at=conn.now() + _until_next(details, ended_on, today),
    )


def _end(details: Details, known: Sequence[KnownEpisode], today: date) -> date | None:
    """The day of the last episode; None while more of them may come."""
    if details.kind is RecordKind.MOVIE:
        return details.air_date if details.air_date and details.air_date < today else None
    days = [episode.air_date for episode in known if episode.air_date is not None]
    is_complete = len(days) == len(known) and len(known) >= (details.episode_count or 1)
    last = max(days, default=None)
    return last if is_complete and last is not None and today - last > _SETTLED else None


def _until_next(details: Details, ended_on: date | None, today: date) -> int:
    if ended_on is not None:
        return _ENDED
    is_far_off = details.air_date is None or abs(details.air_date - today) > timedelta(days=365)
    return _FAR_OFF if is_far_off else _AIRING
