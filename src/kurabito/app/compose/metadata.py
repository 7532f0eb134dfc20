"""Everything about metadata over one open queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.follow import FollowFromMetadata
from kurabito.catalog.matching.matcher import CatalogMatcher
from kurabito.catalog.matching.online import OpenFolders
from kurabito.catalog.matching.service import Matches
from kurabito.http import Outbound
from kurabito.metadata import CalendarService, MetadataActor, MetadataRunner, MetadataService, PosterService
from kurabito.metadata.errors import MetadataStopped
from kurabito.metadata.health import SourceHealths, SourceReports
from kurabito.metadata.posters.cleanup import PosterCleanup
from kurabito.metadata.search import MetadataSearch
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.index import IndexUpdates
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.metadata.sources.tmdb_pages import TmdbPages
from kurabito.metadata.stories.service import StoryService
from kurabito.runtime import Registry
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.settings import Settings

POSTERS: Final = "posters"


@dataclass(frozen=True, slots=True)
class MetadataParts:
    """What there is to ask about metadata, and what fills it in."""

    service: MetadataService
    posters: PosterService
    calendar: CalendarService
    runner: MetadataRunner
    actor: MetadataActor
    matches: Matches
    matcher: CatalogMatcher
    open_folders: OpenFolders
    sweeper: PosterCleanup
    entries: FollowFromMetadata
    stories: StoryService
    index: IndexUpdates
    sources: SourceHealths
    search: MetadataSearch
    fill_in: Callable[[], Awaitable[None]]
    """Has new records filled in soon."""
    tmdb: TmdbClient
    bangumi: BangumiClient

    def join(self, registry: Registry) -> None:
        """Register its tasks."""
        self.open_folders.join(registry)
        self.sweeper.join(registry)
        self.runner.join(registry)
        self.calendar.join(registry)
        self.index.join(registry)


def open_metadata(settings: Settings, queue: DelegatedTasks, outbound: Outbound) -> MetadataParts:
    """Metadata as the settings want it."""
    key = settings.tmdb_key.get_secret_value() if settings.tmdb_key else None
    pages = TmdbPages(queue.database)
    reports = SourceReports(queue.database)
    tmdb = TmdbClient(
        outbound, key, url=settings.tmdb_url, image_url=settings.tmdb_image_url, pages=pages, reports=reports
    )
    bangumi = BangumiClient(outbound, url=settings.bgm_url, reports=reports)
    posters = PosterService(outbound, settings.state / POSTERS, bgm_image_host=settings.bgm_image_host)
    runner = MetadataRunner(queue, posters, tmdb, bangumi)
    actor = MetadataActor(runner)
    index = IndexUpdates(
        queue,
        outbound,
        settings.offline_ids_url,
        is_allowed=settings.offline_ids_refresh,
        reports=reports,
        handle=actor.handle,
    )

    async def fill_in() -> None:
        # While we stop nothing is filled in any more; the sync of the next start takes it.
        with suppress(MetadataStopped):
            await actor.handle.trigger_sync()

    return MetadataParts(
        MetadataService(queue.database, tmdb),
        posters,
        CalendarService(queue, bangumi, actor.handle),
        runner,
        actor,
        Matches(queue, fill_in),
        CatalogMatcher(queue.database, fill_in),
        OpenFolders(queue.database, tmdb, fill_in),
        PosterCleanup(queue.database, posters),
        FollowFromMetadata(queue.database, Catalog(queue.database), fill_in),
        StoryService(queue.database),
        index,
        SourceHealths(queue.database, asks_tmdb=tmdb.is_on),
        MetadataSearch(queue.database, tmdb, bangumi),
        fill_in,
        tmdb,
        bangumi,
    )
