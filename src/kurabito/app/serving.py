"""All of it together, until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple, Protocol, cast

import uvicorn
from starlette.types import ASGIApp

from kurabito.api import Live, TaskMeter
from kurabito.app.built_in import open_built_in
from kurabito.app.database import BACKUPS, check_kept, is_new, prepare_database
from kurabito.app.downloading import Downloading, open_downloading, refuse_shared_root
from kurabito.app.following import Following, open_following, open_outbound
from kurabito.app.listening import address_of, listen, refuse_strangers
from kurabito.app.metadata import open_metadata
from kurabito.app.parts import open_parts
from kurabito.app.shelves import Shelves, open_shelves
from kurabito.app.site import build_site, open_access
from kurabito.app.state import StateLock, prepare_state
from kurabito.app.supervision import supervised_plane
from kurabito.app.tasks import FOLLOW_UPS, product_registry
from kurabito.clock import SystemClock
from kurabito.downloads.wire import RemoteDownloaders
from kurabito.library.loop import Reconciler
from kurabito.logs import get_logger
from kurabito.maintenance.wal_watch import WalWatch
from kurabito.modules.calling import ServiceCalls
from kurabito.runtime import Queue, Registry, Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

# Whoever stops us waits ten seconds at most. What is cut short is safe in the database and goes on later.
_REQUESTS_END: Final = 3
_TASKS_END: Final = 5.0

_log = get_logger(__name__)


class Listening(NamedTuple):
    """Where the site is, once it answers."""

    url: str
    login: str
    """Logs in whoever opens it first."""


class Stage(Protocol):
    """Further tasks to run, and something to begin with."""

    def join(self, registry: Registry) -> None:
        """Register the tasks."""
        ...

    async def open(self, queue: SqlQueue, shelves: Shelves, following: Following, downloading: Downloading) -> None:
        """Have there what is there from the start."""
        ...

    async def close(self) -> None:
        """Clear away what is there only as long as it is served."""
        ...


class _Service(Protocol):
    async def run(self) -> None:
        """Run until cancelled, then end in good order."""
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
    if is_new(settings):
        # There can be no password in it, and nothing has to be made to know that.
        refuse_strangers(settings.host, has_password=settings.password_file is not None)
    prepare_state(settings.state, umask=settings.umask)
    with StateLock(settings.state), listen(settings.host, settings.port) as listener:
        await asyncio.to_thread(prepare_database, settings)
        started, meter = datetime.now(UTC), TaskMeter()
        async with (
            open_queue(settings.database) as opened,
            Live(opened, hear=meter.note) as live,
            open_outbound(settings) as outbound,
            open_built_in(settings, outbound, wanted=downloader) as built_in,
            AsyncExitStack() as until_the_end,
        ):
            # Not memory://, so it is one with a database, which everything else shares.
            queue = cast("SqlQueue", opened)
            await meter.take_stock(queue)
            access = open_access(settings, queue.database)
            refuse_strangers(settings.host, has_password=await access.passwords.is_set())
            url = address_of(listener) + settings.base_path
            if (root := settings.download_root) is not None:
                await queue.database.read(partial(refuse_shared_root, root=root))
            downloaders = built_in.beside(RemoteDownloaders(ServiceCalls(outbound)))
            downloading = open_downloading(queue, outbound, settings, downloaders)
            following = open_following(queue, outbound, taking=downloading.taking, url=url)
            await built_in.register(following.services, queue.database, address_of(listener))
            about = open_metadata(settings, queue, outbound)
            await asyncio.to_thread(about.posters.prepare)
            await about.calendar.refresh_if_old()
            shelves = open_shelves(settings, queue, Reconciler(queue, follow_ups=FOLLOW_UPS, matcher=about.matcher))
            until_the_end.push_async_callback(shelves.scans.shutdown)
            parts = open_parts(
                settings, queue, shelves=shelves, following=following, about=about, downloading=downloading
            )
            registry = product_registry(
                queue,
                access.sessions,
                settings.state / BACKUPS,
                parts.trash,
                following.tasks,
                downloading,
                about,
                parts.drawn.sweeper,
            )
            if stage is not None:
                stage.join(registry)
                until_the_end.push_async_callback(stage.close)
                await stage.open(queue, shelves, following, downloading)
            services: list[_Service] = [_worker(settings, queue, registry), shelves.watcher, about.actor]
            services.append(WalWatch(parts.checkpoints))
            if dataplane:
                services.append(supervised_plane(settings, queue.database))
            there = Listening(url, f"{url}/login?token={await access.sessions.new_link()}")
            site = build_site(settings, parts, access, live, meter, started=started)
            server = Server(site, on_started=lambda: on_listening(there), on_stopping=live.end)
            _log.info("serving", url=url, state=str(settings.state), database=settings.database)
            await run_together(server, listener, services)
    _log.info("stopped")


def _worker(settings: Settings, queue: Queue, registry: Registry) -> Worker:
    lease, heartbeat = settings.lease_seconds, settings.heartbeat_seconds
    return Worker(queue, registry, lease=lease, heartbeat=heartbeat, grace=_TASKS_END)


async def run_together(server: Server, listener: socket.socket, services: Sequence[_Service]) -> None:
    """Run until a signal comes or one of them fails, then end all of them side by side."""
    stop = asyncio.Event()
    try:
        with _told_by_signals(stop.set):
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(service.run()) for service in services]
                group.create_task(server.serve(sockets=[listener]))
                await stop.wait()
                _log.info("stopping")
                server.stop()
                for service in running:
                    service.cancel()
    except BaseExceptionGroup as failed:
        # One reason is enough, and it is what a user can read.
        raise _first(failed) from None


class Server(uvicorn.Server):
    """Uvicorn that says when it answers, and leaves signals to us: it ends together with everything else."""

    def __init__(self, site: ASGIApp, *, on_started: Callable[[], None], on_stopping: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                site,
                log_config=None,
                access_log=False,
                ws="none",
                # Which proxies to believe is for the doors to say.
                proxy_headers=False,
                timeout_graceful_shutdown=_REQUESTS_END,
            )
        )
        self._on_started = on_started
        self._on_stopping = on_stopping
        self._told_to_stop = asyncio.Event()

    def stop(self) -> None:
        """Take no more requests, and let those under way end."""
        self.should_exit = True
        self._told_to_stop.set()
        # Streams and waiting claims would else keep us until our patience ends.
        self._on_stopping()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_started()

    async def main_loop(self) -> None:
        # Uvicorn would look ten times a second whether it should end. Once is enough for the date in its answers.
        while not await self.on_tick(0):
            await SystemClock().wait(self._told_to_stop, 1.0)

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


@contextmanager
def _told_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Stop in good order at the first Ctrl-C or SIGTERM; a second Ctrl-C ends the process at once."""
    loop = asyncio.get_running_loop()

    def hear() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, hear)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _first(failed: BaseExceptionGroup[BaseException]) -> BaseException:
    problem = failed.exceptions[0]
    return _first(problem) if isinstance(problem, BaseExceptionGroup) else problem
