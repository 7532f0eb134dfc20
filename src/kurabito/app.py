"""The composition root: the one place where ports meet adapters."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import uvicorn

from kurabito import logs
from kurabito.api import Live, TaskMeter, create_api
from kurabito.errors import ConfigError
from kurabito.settings import Settings, explain

log = logs.get_logger(__name__)


async def serve(settings: Settings, *, on_listening: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; `on_listening` is told the address once requests are answered."""
    _refuse_strangers(settings.host)
    _prepare_state(settings)
    with _listen(settings.host, settings.port) as listener:
        from kurabito.runtime import open_queue

        started, meter = datetime.now(UTC), TaskMeter()
        async with open_queue(settings.database) as queue, Live(queue, hear=meter.note) as live:
            await meter.take_stock(queue)
            api = create_api(
                queue=queue,
                live=live,
                meter=meter,
                database=settings.database.partition("://")[0],
                started=started,
                settings=lambda: explain(settings),
                lease=settings.lease_seconds,
            )
            # Requests wait at most this long for a clean end; whatever they started is safe in the database.
            config = uvicorn.Config(
                api, log_config=None, access_log=False, root_path=settings.base_path, timeout_graceful_shutdown=10
            )
            url = _address(listener) + settings.base_path
            log.info("serving", url=url, state=str(settings.state), database=settings.database)
            await _Server(config, lambda: on_listening(url), live.end).serve(sockets=[listener])
        log.info("stopped")


class _Server(uvicorn.Server):
    """Uvicorn that stops on a signal and then lets us close what is ours."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None], on_stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started
        self._on_stopping = on_stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Uvicorn raises the signal again at its end, which would kill the process before the queue is closed.
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        for number in signals:
            loop.add_signal_handler(number, self._stop)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    def _stop(self, *_: Any) -> None:
        # A second signal does not wait for open requests.
        self.force_exit = self.should_exit
        self.should_exit = True
        # Streams and waiting claims would keep the server until its patience ends.
        self._on_stopping()


def _refuse_strangers(host: str) -> None:
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not loopback:
        raise ConfigError(
            f"host cannot be {host}: other machines may connect only with a password, which comes with login; "
            "use 127.0.0.1"
        )


def _prepare_state(settings: Settings) -> None:
    if settings.umask is not None:
        os.umask(settings.umask)
    try:
        settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the state folder {settings.state} cannot be created: {error.strerror}; set KURABITO_STATE to a folder "
            "that you may write"
        ) from None


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is opened, so that a second `serve` changes nothing."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"host cannot be {host}: {error.strerror}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Now, not when uvicorn does it: two sockets may be bound to a port until one of them listens.
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(
                f"port {port} of {host} is in use: stop the program that has it, or choose another with KURABITO_PORT "
                "or --port"
            ) from None
        raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    listener.setblocking(False)
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
