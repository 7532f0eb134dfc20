"""All of it together, until it is told to stop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NamedTuple, Protocol

from kurabito.api import Live, TaskMeter
from kurabito.app.built_in_downloader import BuiltIn, open_built_in
from kurabito.app.compose.attention import open_attention
from kurabito.app.compose.downloads import DownloadParts, open_connections, open_downloads, refuse_shared_root
from kurabito.app.compose.feeds import FeedParts, open_feeds, open_outbound
from kurabito.app.compose.library import LibraryParts, open_library
from kurabito.app.compose.metadata import open_metadata
from kurabito.app.database import BACKUPS, check_kept, is_new, prepare_database
from kurabito.app.dataplane_process import supervised_plane
from kurabito.app.listener import address_of, limits_of, listen, refuse_guessable_key, refuse_strangers
from kurabito.app.own.live import LiveSettings, follow_log, refuse_overlap
from kurabito.app.own.pages import Access, OwnParts, open_access
from kurabito.app.product import Product, open_product
from kurabito.app.server import BackgroundService, Restart, Server, run_together
from kurabito.app.site import build_site
from kurabito.app.state import StateLock, prepare_state
from kurabito.app.tasks import FOLLOW_UPS, product_registry
from kurabito.app.troubles import FILE_NAME, KeptWorker, Trouble, Troubles
from kurabito.dataplane.leasing.plane_locks import PlaneLocks
from kurabito.downloads.connections.service import ClientConnections
from kurabito.downloads.dispatch.in_process import WithOurs
from kurabito.downloads.dispatch.remote import RemoteDownloaders
from kurabito.downloads.service import DownloaderService
from kurabito.http import Outbound
from kurabito.indexers.definitions import FOLDER
from kurabito.library.deletion import policy
from kurabito.library.loop import Reconciler
from kurabito.logs import get_logger
from kurabito.maintenance.wal_watch import WalWatch
from kurabito.modules.service_client import ServiceCalls
from kurabito.notifications.watch import AttentionWatch
from kurabito.runtime import Registry, Worker
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.runtime.factory import open_delegated
from kurabito.runtime.worker.supervisor import Supervisor
from kurabito.settings import Settings
from kurabito.settings.store import SettingsStore, stored_settings
from kurabito.setup.progress import SetupProgress

# A service manager that stops us waits ten seconds at most. What is cut short is safe in the database and goes on later.
_TASKS_END: Final = 5.0
_PLANE_STARTS: Final = timedelta(seconds=15)
"""As long as a data plane may take to start on a busy machine: until then it is not missing."""

_log = get_logger(__name__)


class Listening(NamedTuple):
    """Where the site is, once it answers."""

    url: str
    login: str
    """Logs in the first browser that opens it."""


class Stage(Protocol):
    """More tasks to run, and something to begin with."""

    def join(self, registry: Registry) -> None:
        """Register the tasks."""
        ...

    async def open(
        self, queue: DelegatedTasks, library: LibraryParts, feeds: FeedParts, downloads: DownloadParts
    ) -> None:
        """Make what the installation has from the start."""
        ...

    async def close(self) -> None:
        """Remove what exists only while it is served."""
        ...


async def serve(
    settings: Settings,
    *,
    on_listening: Callable[[Listening], None],
    dataplane: bool = True,
    downloader: bool = True,
    stage: Stage | None = None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; `on_listening` is told the address once requests are answered."""
    check_kept(settings)
    refuse_guessable_key(settings)
    if is_new(settings):
        # There can be no password in it, and nothing has to be made to know that.
        refuse_strangers(settings.host, has_password=settings.password_file is not None)
    prepare_state(settings.state, umask=settings.umask)
    with StateLock(settings.state), listen(settings.host, settings.port) as listener:
        tell: Callable[[Listening], None] = on_listening
        while True:
            restart = Restart()
            await _serve_until_stopped(
                settings,
                listener,
                restart,
                on_listening=tell,
                dataplane=dataplane,
                downloader=downloader,
                stage=stage,
            )
            if not restart.is_wanted:
                break
            if restart.before is not None:
                await asyncio.to_thread(restart.before)
            _log.info("starting again")
            tell = _nobody
    _log.info("stopped")


def _nobody(_there: Listening) -> None:
    """Who was told the address at the first start knows it."""


async def _serve_until_stopped(
    settings: Settings,
    listener: socket.socket,
    restart: Restart,
    *,
    on_listening: Callable[[Listening], None],
    dataplane: bool,
    downloader: bool,
    stage: Stage | None,
) -> None:
    """Serve with what is stored now, until a signal comes or a restart is wanted."""
    await asyncio.to_thread(prepare_database, settings)
    local, settings = settings, await asyncio.to_thread(stored_settings, settings)
    follow_log(settings)
    started, meter = datetime.now(UTC), TaskMeter()
    async with (
        open_delegated(settings.database) as queue,
        Live(queue, hear=meter.note) as live,
        open_outbound(settings) as outbound,
        open_built_in(settings, outbound, wanted=downloader) as built_in,
        AsyncExitStack() as until_the_end,
    ):
        await queue.database.write(partial(policy.store, allowed=settings.allow_delete))
        await meter.take_stock(queue)
        access = open_access(settings, queue.database)
        refuse_strangers(settings.host, has_password=await access.passwords.is_set())
        address = address_of(listener)
        product = await until_the_end.enter_async_context(_product(settings, queue, outbound, built_in, address))
        is_starting = partial(_is_plane_starting, started) if dataplane else bool
        registry = served_registry(settings, product, access, is_starting)
        if stage is not None:
            stage.join(registry)
            until_the_end.push_async_callback(stage.close)
            await stage.open(queue, product.library, product.feeds, product.downloads)
        plane = supervised_plane(settings, product.database) if dataplane else None
        services, troubles = _services(settings, product, registry, plane, built_in)
        store = SettingsStore(queue.database, local, checks=(refuse_overlap,))
        url = address + settings.base_path
        there = Listening(url, f"{url}/login?token={await access.sessions.new_link()}")
        gate = build_site(
            settings,
            product,
            access,
            live,
            meter,
            started=started,
            troubles=troubles.now,
            is_starting=is_starting,
            own=OwnParts(
                settings, store, restart.request, None if stage is not None else SetupProgress(queue.database)
            ),
        )
        server = Server(gate, limits_of(settings), on_started=lambda: on_listening(there), on_stopping=live.end)
        restart.at_once = server.accept_no_more
        following = LiveSettings(settings, product, gate, server, built_in, plane)
        until_the_end.enter_context(store.listen(following.hear))
        await store.refresh()
        _log.info("serving", url=url, state=str(settings.state), database=settings.database)
        await run_together(server, listener, [*services, store, following], restart)


def _is_plane_starting(started: datetime) -> bool:
    """Whether the data plane of a server that began then may still be on its way."""
    return datetime.now(UTC) - started < _PLANE_STARTS


@asynccontextmanager
async def _product(
    settings: Settings, queue: DelegatedTasks, outbound: Outbound, built_in: BuiltIn, address: str
) -> AsyncIterator[Product]:
    """The product as it is served: with the built-in downloader among the others, and scans brought on their way."""
    if (root := settings.download_root) is not None:
        await queue.database.read(partial(refuse_shared_root, root=root))
    connections = open_connections(settings, queue.database, outbound)
    ours = partial(_ours, built_in, connections)
    downloaders = WithOurs(RemoteDownloaders(ServiceCalls(outbound)), ours)
    downloads = open_downloads(queue, outbound, settings, downloaders, ours)
    feeds = open_feeds(
        queue,
        outbound,
        grabber=downloads.grabber,
        url=address + settings.base_path,
        module_hosts=settings.allow_private_hosts,
        sites=settings.state / FOLDER,
    )
    await built_in.register(feeds.services, queue.database, address)
    metadata = open_metadata(settings, queue, outbound)
    await asyncio.to_thread(metadata.posters.prepare)
    await metadata.calendar.refresh_if_old()
    library = open_library(settings, queue, Reconciler(queue, follow_ups=FOLLOW_UPS, matcher=metadata.matcher))
    try:
        async with connections.running(feeds.services):
            yield open_product(
                settings,
                queue,
                library=library,
                feeds=feeds,
                metadata=metadata,
                downloads=downloads,
                outbound=outbound,
                connections=connections,
            )
    finally:
        await library.scans.shutdown()


def _ours(built_in: BuiltIn, connections: ClientConnections, instance_id: str) -> DownloaderService | None:
    """The downloader of this process with that instance id."""
    return built_in.find(instance_id) or connections.find(instance_id)


def served_registry(settings: Settings, product: Product, access: Access, is_starting: Callable[[], bool]) -> Registry:
    """The tasks of the product; while it is starting, no message says that its data plane is missing."""
    return product_registry(
        product.queue,
        access.sessions,
        settings.state / BACKUPS,
        product.trash,
        product.media,
        product.library.removal,
        product.feeds.tasks,
        product.downloads,
        product.metadata,
        product.relinker,
        product.thumbnails.sweeper,
        product.wanted_search,
        product.stand_ins,
        product.finished_shows,
        product.notices,
        product.outbox,
        AttentionWatch(open_attention(settings, product, is_starting=is_starting), product.database, product.outbox),
    )


def _services(
    settings: Settings, product: Product, registry: Registry, plane: Supervisor | None, built_in: BuiltIn
) -> tuple[list[BackgroundService], Troubles]:
    """What runs beside the web server, and what says how it is."""
    worker = KeptWorker(
        lambda: Worker(
            product.queue,
            registry,
            lease=settings.lease_seconds,
            heartbeat=settings.heartbeat_seconds,
            grace=_TASKS_END,
        )
    )
    services: list[BackgroundService] = [
        worker,
        product.library.watcher,
        product.metadata.actor,
        product.filing,
        WalWatch(product.checkpoints),
        PlaneLocks(product.database),
    ]
    sources: dict[str, Trouble] = {
        "worker": lambda: worker.trouble,
        "scans": lambda: product.library.scans.trouble,
        "placements": lambda: product.filing.trouble,
        "built_in_downloader": lambda: built_in.trouble,
    }
    if plane is not None:
        services.append(plane)
        sources["data_plane"] = lambda: plane.trouble
    troubles = Troubles(sources, settings.state / FILE_NAME)
    return [*services, troubles], troubles
