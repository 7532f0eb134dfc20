"""Downloads over one open queue: what is taken, who fetches it, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from kurabito.downloads.clearing import Clearing
from kurabito.downloads.conflicts import Conflicts
from kurabito.downloads.dispatching import Dispatcher
from kurabito.downloads.downloads import Downloads
from kurabito.downloads.filtering import Filters
from kurabito.downloads.orders import Orders
from kurabito.downloads.polling import DownloadScheduler
from kurabito.downloads.taking import Taking
from kurabito.downloads.wire import RemoteDownloaders
from kurabito.http import Outbound
from kurabito.modules.calling import ServiceCalls
from kurabito.runtime import Registry
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

DOWNLOADS: Final = "downloads"
"""The folder in the state folder where downloads go if no other is set."""


@dataclass(frozen=True, slots=True)
class Downloading:
    """What there is to ask about downloads, and the tasks behind it."""

    taking: Taking
    filters: Filters
    conflicts: Conflicts
    downloads: Downloads
    dispatcher: Dispatcher
    clearing: Clearing
    scheduler: DownloadScheduler

    def join(self, registry: Registry) -> None:
        """Register the tasks."""
        self.conflicts.join(registry)
        self.dispatcher.join(registry)
        self.clearing.join(registry)
        self.scheduler.join(registry)


def open_downloading(queue: SqlQueue, outbound: Outbound, settings: Settings) -> Downloading:
    """Downloads over one queue, as the settings want them."""
    database, orders = queue.database, Orders(queue)
    taking, downloaders = Taking(orders), RemoteDownloaders(ServiceCalls(outbound))
    clearing = Clearing(database, downloaders)
    elsewhere = settings.elsewhere_minutes
    return Downloading(
        taking,
        Filters(database, taking),
        Conflicts(database, taking),
        Downloads(database, downloaders, orders, stalled=timedelta(minutes=settings.stalled_minutes)),
        Dispatcher(database, downloaders, orders, settings.download_root or settings.state / DOWNLOADS),
        clearing,
        DownloadScheduler(
            database,
            downloaders,
            taking,
            orders,
            clearing,
            interval=settings.download_poll_interval,
            elsewhere=None if elsewhere is None else timedelta(minutes=elsewhere),
        ),
    )
