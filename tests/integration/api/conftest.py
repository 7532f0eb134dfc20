"""The API on a real server on loopback, over a real queue."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpcore2
import httpx2
import pytest
import uvicorn
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.support.waiting import PATIENCE

from kurabito.access import Principal
from kurabito.access import Scope as Right
from kurabito.api import Live, TaskMeter, create_api
from kurabito.app.compose.downloads import open_downloads
from kurabito.app.compose.feeds import open_feeds
from kurabito.app.compose.metadata import open_metadata
from kurabito.app.product import open_product
from kurabito.app.site import build_site, open_access
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.http import Outbound
from kurabito.http.addresses import Address
from kurabito.http.errors import Unreachable
from kurabito.protocol.planes import PlaneRecord
from kurabito.runtime import Queue, open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings, explain
from kurabito.site.errors import error_body

TLS = httpcore2.default_ssl_context()
KEY = "a key for the tests"
STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class KeyDoor:
    """Stands where the doors stand, and lets in whoever has the one key."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != "/health":
            if Headers(scope=scope).get("x-api-key") != KEY:
                refusal = JSONResponse(error_body("unauthorized", "send the key"), 401)
                await refusal(scope, receive, send)
                return
            scope.setdefault("state", {})["principal"] = Principal("tests", frozenset(Right))
        await self._app(scope, receive, send)


class NoPlanes:
    """Beside a queue in memory nobody touches disks."""

    async def living(self) -> list[PlaneRecord]:
        return []


@dataclass(frozen=True)
class Site:
    """A running server."""

    url: str
    queue: Queue
    live: Live
    meter: TaskMeter
    http: httpx2.AsyncClient

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.url.removeprefix("http://").split(":")
        return host, int(port)

    async def stream(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A raw connection."""
        return await asyncio.open_connection(*self.address)


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The signals are pytest's.
        yield


@asynccontextmanager
async def listening(app: ASGIApp, live: Live, *, send_buffer: int | None = None) -> AsyncIterator[str]:
    """Serve an application on a free port of loopback; its address."""
    with socket.socket() as listener:
        if send_buffer is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        listener.bind(("127.0.0.1", 0))
        listener.listen(512)
        listener.setblocking(False)
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=20)
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            live.end()
            server.should_exit = True
            await serving


@asynccontextmanager
async def serving(
    url: str, *, lease: float = 30.0, state: Path = Path("/nowhere"), acting: bool = False, **others: Any
) -> AsyncIterator[Site]:
    """The whole API over the queue at this URL; with `acting`, metadata is filled in as well, which makes tasks."""
    meter = TaskMeter()
    settings = Settings(
        api_key=KEY, state=state, database=url, lease_seconds=lease, heartbeat_seconds=lease / 6, **others
    )
    async with (
        open_queue(url) as queue,
        Live(queue, hear=meter.note) as live,
        Outbound(resolver=nowhere, tls=TLS) as outbound,
    ):
        await meter.take_stock(queue)
        limits = httpx2.Limits(max_connections=None)
        async with (
            site_of(queue, live, meter, settings, outbound, acting=acting) as site,
            listening(site, live) as address,
            httpx2.AsyncClient(
                base_url=address, headers={"X-Api-Key": KEY}, timeout=PATIENCE, limits=limits, verify=TLS
            ) as http,
        ):
            yield Site(address, queue, live, meter, http)


async def nowhere(host: str, /) -> Sequence[Address]:
    """No test asks the world outside."""
    raise Unreachable(f"{host} has no address here")


@asynccontextmanager
async def site_of(
    queue: Queue, live: Live, meter: TaskMeter, settings: Settings, outbound: Outbound, *, acting: bool
) -> AsyncIterator[ASGIApp]:
    """The site as it is served; over a queue in memory, where nobody can log in, the API alone."""
    if isinstance(queue, SqlQueue):
        migrate(queue.database, PRODUCT)
        access, downloads = open_access(settings, queue.database), open_downloads(queue, outbound, settings)
        feeds = open_feeds(queue, outbound, grabber=downloads.grabber)
        metadata = open_metadata(settings, queue, outbound)
        actor = asyncio.create_task(metadata.actor.run()) if acting else None
        yield build_site(
            settings,
            open_product(settings, queue, feeds=feeds, metadata=metadata, downloads=downloads, outbound=outbound),
            access,
            live,
            meter,
            started=STARTED,
        )
        if actor is not None:
            await metadata.actor.handle.shutdown()
            await actor
        return
    yield KeyDoor(
        create_api(
            queue=queue,
            planes=NoPlanes(),
            live=live,
            meter=meter,
            database="memory",
            started=STARTED,
            settings=lambda: explain(settings),
            lease=settings.lease_seconds,
        )
    )


@pytest.fixture
async def site(url: str) -> AsyncIterator[Site]:
    """The API over each database."""
    async with serving(url) as site:
        yield site


@pytest.fixture
async def quick_site() -> AsyncIterator[Site]:
    """The API over a queue in memory, where the database does not matter."""
    async with serving("memory://") as site:
        yield site


@pytest.fixture
def serve() -> Callable[..., AbstractAsyncContextManager[Site]]:
    """Starts a server of a test's own."""
    return serving


@pytest.fixture
def listen() -> Callable[..., AbstractAsyncContextManager[str]]:
    """Starts a server for an application of a test's own."""
    return listening
