"""Downloads over one open queue: what is taken, who fetches it, and how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from kurabito.db import Connection, Database
from kurabito.downloads.blocklist.service import Blocklist
from kurabito.downloads.conflicts import Conflicts
from kurabito.downloads.connections.service import ClientConnections
from kurabito.downloads.dispatch.cleanup import DownloaderCleanup
from kurabito.downloads.dispatch.dispatcher import DownloadDispatcher
from kurabito.downloads.dispatch.in_process import FindOurs
from kurabito.downloads.dispatch.locks import DownloaderLocks
from kurabito.downloads.dispatch.poller import DownloadScheduler
from kurabito.downloads.dispatch.remote import Downloaders, RemoteDownloaders
from kurabito.downloads.downloads import Downloads
from kurabito.downloads.filters.service import Filters
from kurabito.downloads.grabber import Grabber
from kurabito.downloads.health.downloaders import PollPolicy
from kurabito.downloads.paths.tests import PathTests
from kurabito.downloads.tasks import DownloadTasks
from kurabito.downloads.want_again import ContentRefusals, Wanting
from kurabito.errors import ConfigError
from kurabito.http import Outbound
from kurabito.library import libraries
from kurabito.media_servers.notices import MediaServerNotices
from kurabito.metadata.posters.service import PosterService
from kurabito.modules.service_client import ServiceCalls
from kurabito.notifications.outbox import NotificationOutbox
from kurabito.placements.filing.loop import FilingLoop
from kurabito.placements.imports.service import Imports
from kurabito.placements.leftovers.tidy import FilingTidier
from kurabito.runtime import Registry
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.settings import Settings

DOWNLOADERS: Final = "downloaders"
DOWNLOADS: Final = "downloads"
"""The folder in the state folder where downloads go if no other is set."""


@dataclass(frozen=True, slots=True)
class DownloadParts:
    """What there is to ask about downloads, and the tasks behind it."""

    grabber: Grabber
    filters: Filters
    conflicts: Conflicts
    downloads: Downloads
    wanting: Wanting
    blocklist: Blocklist
    dispatcher: DownloadDispatcher
    cleanup: DownloaderCleanup
    scheduler: DownloadScheduler
    paths: PathTests
    tidier: FilingTidier

    def join(self, registry: Registry) -> None:
        """Register the tasks."""
        self.conflicts.join(registry)
        self.dispatcher.join(registry)
        self.cleanup.join(registry)
        self.scheduler.join(registry)
        self.tidier.join(registry)


def download_root(settings: Settings) -> Path:
    """The folder for downloads, as the core sees it."""
    return settings.download_root or settings.state / DOWNLOADS


def poll_policy(settings: Settings) -> PollPolicy:
    """How often downloaders are polled, and what happens when one is unreachable."""
    elsewhere = settings.elsewhere_minutes
    return PollPolicy(
        timedelta(seconds=settings.download_poll_interval),
        None if elsewhere is None else timedelta(minutes=elsewhere),
    )


def open_connections(settings: Settings, database: Database, outbound: Outbound) -> ClientConnections:
    """The download clients that the keeper typed in."""
    return ClientConnections(database, outbound, settings.state / DOWNLOADERS)


def open_downloads(
    queue: DelegatedTasks,
    outbound: Outbound,
    settings: Settings,
    downloaders: Downloaders | None = None,
    ours: FindOurs = lambda _: None,
) -> DownloadParts:
    """Downloads over one queue, as the settings want them; without other `downloaders`, those that are called over HTTP.

    `ours` finds those of this process.
    """
    database, tasks = queue.database, DownloadTasks(queue)
    grabber, downloaders = Grabber(tasks), downloaders or RemoteDownloaders(ServiceCalls(outbound))
    root = download_root(settings)
    locks = DownloaderLocks()
    cleanup = DownloaderCleanup(database, downloaders, locks)
    policy = poll_policy(settings)
    return DownloadParts(
        grabber,
        Filters(database, grabber),
        Conflicts(database, grabber),
        Downloads(database, downloaders, tasks, stalled=timedelta(minutes=settings.stalled_minutes)),
        Wanting(database, downloaders, grabber),
        Blocklist(database),
        DownloadDispatcher(
            database,
            downloaders,
            tasks,
            locks,
            root,
            grabber,
            reserve=reserve_bytes(settings),
        ),
        cleanup,
        DownloadScheduler(
            database,
            downloaders,
            grabber,
            tasks,
            cleanup,
            interval=settings.download_poll_interval,
            elsewhere=policy.elsewhere,
            dead=None if settings.dead_hours is None else timedelta(hours=settings.dead_hours),
        ),
        PathTests(database, ServiceCalls(outbound), root, ours),
        FilingTidier(database, downloaders, locks),
    )


def open_filing(
    settings: Settings,
    queue: DelegatedTasks,
    grabber: Grabber,
    posters: PosterService,
    notices: MediaServerNotices,
    outbox: NotificationOutbox,
) -> FilingLoop:
    """What brings downloads that are complete into libraries."""

    def picture(name: str) -> bytes | None:
        return posters.find(name).path.read_bytes() if posters.has(name) else None

    def note_placed(conn: Connection, placement_ids: Sequence[int]) -> None:
        notices.note_placed(conn, placement_ids)
        outbox.note_placed(conn, placement_ids)

    return FilingLoop(
        queue.database,
        download_root(settings),
        reserve=reserve_bytes(settings),
        refuse=ContentRefusals(grabber, DownloadTasks(queue)).refuse,
        picture=picture,
        note_placed=note_placed,
    )


def open_imports(settings: Settings, database: Database) -> Imports:
    """What gives files to series by a person's word."""
    return Imports(database, download_root(settings), reserve=reserve_bytes(settings))


def reserve_bytes(settings: Settings) -> int:
    """How much room stays free on a disk that something is written to."""
    return round(settings.download_reserve * (1 << 30))


def refuse_shared_root(conn: Connection, root: Path) -> None:
    """Raises ConfigError if downloads would go into a library, or around one: what is in it belongs to its keeper."""
    for library in libraries.everything(conn):
        if libraries.overlap(root.resolve(), library.path):
            raise ConfigError(
                f"the download root, {root}, and the folder of the library {library.settings.name!r}, {library.path}, lie one in "
                "the other; set KURABITO_DOWNLOAD_ROOT to another folder"
            )
