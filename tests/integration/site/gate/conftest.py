"""A small site behind the doors, on a real socket, with keys and sessions in a real database."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse
from tests.support.waiting import PATIENCE

from kurabito.access import SESSION_COOKIE, Keys, Sessions
from kurabito.api import Live
from kurabito.api.system import keys
from kurabito.api.tasks.events import EventStreamResponse
from kurabito.clock import ManualClock
from kurabito.db import Database
from kurabito.runtime.events import TaskEvent
from kurabito.site import errors
from kurabito.site.gate import Gate


@dataclass(frozen=True)
class Heard:
    """An answer, read from a bare socket."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["error"]["code"])


class Line:
    """A connection on which a test says what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def say(self, *lines: str, body: bytes = b"") -> None:
        """Send a head, and as much of a body as is given."""
        await self.push("\r\n".join([*lines, "", ""]).encode() + body)

    async def push(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def hear(self) -> Heard:
        """One answer, as long as its Content-Length says."""
        async with asyncio.timeout(PATIENCE):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
            first, *rest = head.strip().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Heard(int(first.split()[1]), headers, body)

    async def hear_the_end(self) -> bytes:
        """Whatever else comes until the other side hangs up."""
        async with asyncio.timeout(PATIENCE):
            return await self._reader.read()

    async def hang_up(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except ConnectionError:
            # The other side was faster.
            pass


@dataclass
class House:
    """What stands behind the doors, and ways to them."""

    keys: Keys
    sessions: Sessions
    clock: ManualClock
    port: int = 0
    live: Live = field(default_factory=lambda: Live(Silent()))
    reading: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the site begins to read a body."""

    @asynccontextmanager
    async def browser(self, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
        """A client with these headers (`_` for `-`)."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        address = f"http://127.0.0.1:{self.port}"
        async with httpx2.AsyncClient(
            base_url=address,
            headers=named,
            timeout=PATIENCE,
            trust_env=False,
            # To read whom the machine trusts takes longer than all that follows, and nothing here is encrypted.
            verify=False,
        ) as client:
            yield client

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Line]:
        line = Line(*await asyncio.open_connection("127.0.0.1", self.port))
        try:
            yield line
        finally:
            await line.hang_up()

    async def key(self, *scopes: str) -> str:
        """The secret of a new key."""
        return (await self.keys.create("a program", scopes)).secret

    async def cookie(self) -> str:
        """The Cookie header of somebody who just logged in."""
        return f"{SESSION_COOKIE}={await self.sessions.open()}"


class Silent:
    """A queue in which nothing happens."""

    def events(self, *, after: str | None = None) -> AsyncIterator[TaskEvent]:
        raise AssertionError(f"nothing reads on after {after}")


Serving = Callable[..., AbstractAsyncContextManager[House]]


@pytest.fixture
def url(migrated_sqlite: str) -> str:
    return migrated_sqlite


@pytest.fixture
def serving(database: Database, clock: ManualClock) -> Serving:
    """Starts a house whose doors have these settings."""

    @asynccontextmanager
    async def serve(*, api_key: str | None = None, **settings: Any) -> AsyncIterator[House]:
        house = House(Keys(database, fixed=api_key), Sessions(database), clock)
        settings = {"listens_on": "127.0.0.1", "keys": house.keys, "sessions": house.sessions, **settings}
        async with _listening(Gate(_site(house), clock=clock, **settings)) as house.port:
            yield house

    return serve


@pytest.fixture
async def house(serving: Serving) -> AsyncIterator[House]:
    async with serving() as house:
        yield house


@asynccontextmanager
async def _listening(doors: Gate) -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        doors, log_config=None, access_log=False, proxy_headers=False, lifespan="off", timeout_graceful_shutdown=1
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # Not `serve`, which looks only ten times a second whether it should end.
    await server.startup(sockets=[listener])
    try:
        yield listener.getsockname()[1]
    finally:
        await server.shutdown(sockets=[listener])


def _site(house: House) -> FastAPI:
    site = FastAPI(docs_url=None, redoc_url=None)
    errors.install(site)
    site.include_router(keys.router(house.keys))

    @site.api_route("/", methods=["GET", "HEAD"])
    @site.get("/login")
    async def page(request: Request) -> HTMLResponse:
        asking = request.state.principal
        return HTMLResponse(f"for {asking.name}" if asking else "for anybody")

    @site.get("/health")
    @site.get("/favicon.ico")
    @site.get("/static/{name}")
    async def file() -> PlainTextResponse:
        return PlainTextResponse("open")

    @site.get("/kept")
    async def kept() -> PlainTextResponse:
        return PlainTextResponse("kept", headers={"Cache-Control": "private, max-age=60"})

    @site.get("/api/v1/asking")
    @site.get("/api/v1/events")
    async def asking(request: Request) -> dict[str, str]:
        state = request.state
        return {"name": state.principal.name, "client": state.client, "url": str(request.url)}

    @site.get("/api/v1/streams")
    async def streams() -> EventStreamResponse:
        return EventStreamResponse(house.live, None, keep_alive=0.02, patience=PATIENCE)

    @site.post("/api/v1/bodies")
    @site.post("/large/bodies")
    @site.post("/services/register")
    @site.post("/fetcher-results")
    async def bodies(request: Request) -> dict[str, int]:
        house.reading.set()
        return {"bytes": len(await request.body())}

    return site
