"""Everything that the site asks, over one open queue."""

from __future__ import annotations

from dataclasses import dataclass

from kurabito.access import SharedAddresses
from kurabito.app.compose.downloads import (
    DownloadParts,
    download_root,
    open_connections,
    open_downloads,
    open_filing,
    open_imports,
    poll_policy,
    reserve_bytes,
)
from kurabito.app.compose.feeds import FeedParts, open_feeds, open_outbound
from kurabito.app.compose.library import LibraryParts, open_library
from kurabito.app.compose.metadata import MetadataParts, open_metadata
from kurabito.app.compose.notifications import open_notifications
from kurabito.app.compose.thumbnails import ThumbnailParts, open_thumbnails
from kurabito.app.database import sqlite_file
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.corrections.service import Corrections
from kurabito.catalog.identity.relink import Relinker
from kurabito.catalog.identity.service import Questions
from kurabito.catalog.summaries import CatalogSummaries
from kurabito.catalog.title_rules import TitleRules
from kurabito.db import Database
from kurabito.downloads.connections.service import ClientConnections
from kurabito.downloads.dispatch.room import Room
from kurabito.downloads.edits.service import SeriesEdits
from kurabito.downloads.follow.finished_shows import FinishedShows
from kurabito.downloads.follow.service import ShowFollower
from kurabito.downloads.follow.standby import StandIns
from kurabito.downloads.health.downloaders import DownloaderHealths
from kurabito.downloads.history.airings import Airings
from kurabito.downloads.history.service import History
from kurabito.downloads.profiles.service import ReleaseProfiles
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.downloads.wanted.search import WantedSearch
from kurabito.downloads.wanted.service import WantedList
from kurabito.http import Outbound
from kurabito.indexers.definitions import FOLDER
from kurabito.library.deletion.discards import Discards
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.deletion.trash import Trash
from kurabito.library.duplicates.groups import Duplicates
from kurabito.library.media.readings import MediaReadings
from kurabito.maintenance.wal import WalMaintenance
from kurabito.media_servers.notices import MediaServerNotices
from kurabito.media_servers.service import MediaServers
from kurabito.notifications.outbox import NotificationOutbox
from kurabito.notifications.service import Notifications
from kurabito.placements.adoption.service import Adoptions
from kurabito.placements.filing.loop import FilingLoop
from kurabito.placements.filing.questions import FileQuestions
from kurabito.placements.filing.service import Placements
from kurabito.placements.imports.service import Imports
from kurabito.placements.library_naming import LibraryNaming
from kurabito.placements.renames.service import Renames
from kurabito.protocol.planes import DataPlanes
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What the interface and the pages have in common."""

    queue: DelegatedTasks
    planes: DataPlanes
    library: LibraryParts
    duplicates: Duplicates
    plans: DeletionPlans
    trash: Trash
    discards: Discards
    media: MediaReadings
    feeds: FeedParts
    catalog: Catalog
    catalog_summaries: CatalogSummaries
    title_rules: TitleRules
    corrections: Corrections
    questions: Questions
    relinker: Relinker
    downloads: DownloadParts
    downloaders: DownloaderHealths
    filing: FilingLoop
    media_servers: MediaServers
    notices: MediaServerNotices
    notifications: Notifications
    outbox: NotificationOutbox
    metadata: MetadataParts
    thumbnails: ThumbnailParts
    checkpoints: WalMaintenance
    imports: Imports
    search: ReleaseSearch
    grabs: ReleaseGrabs
    wanted: WantedList
    wanted_search: WantedSearch
    follower: ShowFollower
    stand_ins: StandIns
    outbound: Outbound
    connections: ClientConnections

    @property
    def database(self) -> Database:
        return self.queue.database

    @property
    def naming(self) -> LibraryNaming:
        return LibraryNaming(self.database)

    @property
    def renames(self) -> Renames:
        return Renames(self.database)

    @property
    def adoptions(self) -> Adoptions:
        return Adoptions(self.database)

    @property
    def profiles(self) -> ReleaseProfiles:
        return ReleaseProfiles(self.database)

    @property
    def series_edits(self) -> SeriesEdits:
        return SeriesEdits(self.database, self.catalog)

    @property
    def file_questions(self) -> FileQuestions:
        return FileQuestions(self.database)

    @property
    def placements(self) -> Placements:
        return Placements(self.database)

    @property
    def history(self) -> History:
        return History(self.database)

    @property
    def airings(self) -> Airings:
        return Airings(self.database)

    @property
    def shared_addresses(self) -> SharedAddresses:
        return SharedAddresses(self.database)

    @property
    def finished_shows(self) -> FinishedShows:
        """Feeds of shows that are over."""
        return FinishedShows(self.database)


def open_product(
    settings: Settings,
    queue: DelegatedTasks,
    *,
    library: LibraryParts | None = None,
    feeds: FeedParts | None = None,
    metadata: MetadataParts | None = None,
    downloads: DownloadParts | None = None,
    outbound: Outbound | None = None,
    connections: ClientConnections | None = None,
) -> Product:
    """The product, with the parts that are open already. Nothing that is opened here begins to run."""
    outbound = outbound or open_outbound(settings)
    downloads = downloads or open_downloads(queue, outbound, settings)
    feeds = feeds or _feeds(settings, queue, outbound, downloads)
    metadata = metadata or open_metadata(settings, queue, outbound)
    database = queue.database
    relinker = Relinker(queue, downloads.grabber, settings.database)
    search = ReleaseSearch(database, feeds.indexers, feeds.pasted)
    catalog = Catalog(database, downloads.grabber, relinker.wake)
    notices = MediaServerNotices(queue, outbound)
    notifications, outbox = open_notifications(settings, queue, outbound, catalog, metadata)
    grabs = ReleaseGrabs(database, feeds.indexers, search, downloads.grabber)
    return Product(
        queue=queue,
        planes=DataPlanes(database),
        library=library or open_library(settings, queue),
        duplicates=Duplicates(database),
        plans=DeletionPlans(database, allowed=settings.allow_delete),
        trash=open_trash(settings, database),
        discards=Discards(database, allowed=settings.allow_delete),
        media=MediaReadings(database),
        feeds=feeds,
        catalog=catalog,
        catalog_summaries=CatalogSummaries(database),
        title_rules=TitleRules(database, feeds.intake, relinker.wake),
        relinker=relinker,
        corrections=Corrections(database, downloads.grabber, relinker.wake),
        questions=Questions(database, downloads.grabber),
        downloads=downloads,
        downloaders=DownloaderHealths(database, feeds.services, downloads.downloads, poll_policy(settings)),
        filing=open_filing(settings, queue, downloads.grabber, metadata.posters, notices, outbox),
        media_servers=MediaServers(database, outbound),
        notices=notices,
        notifications=notifications,
        outbox=outbox,
        metadata=metadata,
        thumbnails=open_thumbnails(settings, database),
        checkpoints=open_wal(settings, database),
        imports=open_imports(settings, database),
        search=search,
        grabs=grabs,
        follower=ShowFollower(database, catalog, search, grabs, feeds.indexers, feeds.subscriptions, metadata.fill_in),
        stand_ins=StandIns(database, feeds.subscriptions),
        outbound=outbound,
        connections=connections or open_connections(settings, database, outbound),
        wanted=WantedList(database, queue, search),
        wanted_search=WantedSearch(database, search, grabs, Room(download_root(settings), reserve_bytes(settings))),
    )


def _feeds(settings: Settings, queue: DelegatedTasks, outbound: Outbound, downloads: DownloadParts) -> FeedParts:
    return open_feeds(
        queue,
        outbound,
        grabber=downloads.grabber,
        module_hosts=settings.allow_private_hosts,
        sites=settings.state / FOLDER,
    )


def open_trash(settings: Settings, database: Database) -> Trash:
    """The trash, as long as the settings want it kept."""
    return Trash(database, days=settings.trash_days, may_purge=settings.allow_delete)


def open_wal(settings: Settings, database: Database) -> WalMaintenance:
    """The checkpoints of the database, as far as it has a log of that kind."""
    return WalMaintenance(
        database,
        sqlite_file(settings),
        interval=settings.wal_interval,
        limit=settings.wal_limit_mb * 2**20,
        may_truncate=settings.wal_truncate,
    )
