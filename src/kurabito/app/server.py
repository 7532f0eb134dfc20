"""A web server and what runs beside it: until a signal comes or one of them fails, then all end together."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final, Protocol

import uvicorn
from starlette.types import ASGIApp

from kurabito.clock import SystemClock
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.site.acceptor import Acceptor
from kurabito.site.connections import Connections
from kurabito.site.limits import ConnectionLimits, connection_limits
from kurabito.site.protocol import GuardedProtocol

# A service manager that stops us waits ten seconds at most.
_REQUESTS_END: Final = 3

_log = get_logger(__name__)


class BackgroundService(Protocol):
    """Something that runs as long as the site does."""

    async def run(self) -> None:
        """Run until cancelled, then end in good order."""
        ...


class Restart:
    """The wish to begin again: everything ends in good order and starts with what is stored now, on the same socket."""

    def __init__(self) -> None:
        self._wanted = asyncio.Event()
        self.before: Callable[[], object] | None = None
        """What is done in between, while nothing has the database open."""
        self.at_once: Callable[[], None] = lambda: None
        """Called when it is asked for: from then on new connections wait for the next start."""

        self._is_withdrawn = False

    @property
    def is_wanted(self) -> bool:
        return self._wanted.is_set() and not self._is_withdrawn

    def withdraw(self) -> None:
        """End for good: a signal came, maybe while everything was ending for a restart already."""
        self._is_withdrawn = True

    def request(self, before: Callable[[], object] | None = None) -> None:
        """Begin again soon: answers under way are still given."""
        self.before = before or self.before
        self.at_once()
        self._wanted.set()

    async def wait(self) -> None:
        await self._wanted.wait()


async def run_together(
    server: Server, listener: socket.socket, services: Sequence[BackgroundService], restart: Restart | None = None
) -> None:
    """Run until a signal comes, a restart is wanted or one of them fails, then end all of them side by side."""
    stop = asyncio.Event()

    def end() -> None:
        if restart is not None:
            restart.withdraw()
        stop.set()

    try:
        with _told_by_signals(end):
            async with asyncio.TaskGroup() as group:
                if restart is not None:
                    group.create_task(_told_by(restart, stop))
                running = [group.create_task(_until_told(service, stop)) for service in services]
                group.create_task(server.serve(sockets=[listener]))
                await stop.wait()
                _log.info("stopping")
                server.stop()
                for service in running:
                    service.cancel()
    except BaseExceptionGroup as failed:
        # One reason is enough, and it is what a user can read.
        raise _first(failed) from None


async def _told_by(restart: Restart, stop: asyncio.Event) -> None:
    told, stopped = asyncio.create_task(restart.wait()), asyncio.create_task(stop.wait())
    await asyncio.wait({told, stopped}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    stopped.cancel()
    stop.set()


class ServiceEnded(KurabitoError):
    """Something that runs as long as the site does has ended without being asked to."""

    code = "service_ended"


async def _until_told(service: BackgroundService, stop: asyncio.Event) -> None:
    await service.run()
    if not stop.is_set():
        raise ServiceEnded(f"{type(service).__name__} ended without being asked to; see the log, and start again")


class Server(uvicorn.Server):
    """Uvicorn that says when it answers, and leaves signals to us: it ends together with everything else.

    Connections are accepted by ourselves, within the limits.
    """

    def __init__(
        self,
        site: ASGIApp,
        limits: ConnectionLimits | None = None,
        *,
        on_started: Callable[[], None],
        on_stopping: Callable[[], None],
    ) -> None:
        limits = limits or connection_limits()
        super().__init__(
            uvicorn.Config(
                site,
                http="h11",
                log_config=None,
                access_log=False,
                ws="none",
                # The gate says which proxies to believe.
                proxy_headers=False,
                timeout_graceful_shutdown=_REQUESTS_END,
            )
        )
        self._connections = Connections(limits)
        self._acceptors: list[Acceptor] = []
        self._on_started = on_started
        self._on_stopping = on_stopping
        self._told_to_stop = asyncio.Event()

    def stop(self) -> None:
        """Take no more requests, and let those under way end."""
        self.should_exit = True
        self._told_to_stop.set()
        # Streams and waiting claims would else keep us until our patience ends.
        self._on_stopping()

    def accept_no_more(self) -> None:
        """Let new connections wait in the kernel."""
        for acceptor in self._acceptors:
            acceptor.close()

    def limit(self, limits: ConnectionLimits) -> None:
        """Have these limits from now on."""
        self._connections.limits = limits

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            raise RuntimeError("the application did not start; the log says why")
        self.servers = []
        self._acceptors = [Acceptor(listener, self._connections, self._protocol) for listener in sockets or ()]
        for acceptor in self._acceptors:
            acceptor.start()
        self.started = True
        self._on_started()

    async def main_loop(self) -> None:
        # Uvicorn would look ten times a second whether it should end. Once is enough for the date in its answers.
        loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            self._connections.check_times(loop.time())
            await SystemClock().wait(self._told_to_stop, 1.0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.accept_no_more()
        # The listening socket is not closed here: after a restart the clients that wait in it are answered.
        await super().shutdown()

    def _protocol(self, address: str) -> GuardedProtocol:
        loop = asyncio.get_running_loop()
        return GuardedProtocol(self.config, self.server_state, self.lifespan.state, loop, self._connections, address)

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
