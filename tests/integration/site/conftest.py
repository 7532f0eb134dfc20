"""A server of ours with a small site, on a real socket, whose time a test moves."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send
from tests.support.waiting import PATIENCE

from kurabito.app.listener import listen
from kurabito.app.server import Server
from kurabito.site.connections import OpenConnection
from kurabito.site.limits import ConnectionLimits

LARGE = 32 << 20


class Line:
    """A connection on which a test says what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def say(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def ask(self, path: str = "/") -> bytes:
        """Ask for a path; the whole answer."""
        await self.say(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return await self.hear()

    async def hear(self) -> bytes:
        """One answer: its head, and as much as its Content-Length says."""
        async with asyncio.timeout(PATIENCE):
            head = await self._reader.readuntil(b"\r\n\r\n")
            named = dict(line.lower().split(b": ", 1) for line in head.strip().split(b"\r\n")[1:])
            return head + await self._reader.readexactly(int(named.get(b"content-length", 0)))

    async def ends(self) -> bytes:
        """What else comes until the other side hangs up."""
        heard = b""
        async with asyncio.timeout(PATIENCE):
            try:
                while piece := await self._reader.read(1 << 16):
                    heard += piece
            except ConnectionError:
                # Hung up on without ceremony, which is an end too.
                pass
        return heard

    def hang_up(self) -> None:
        self._writer.transport.abort()


class Site:
    """Answers `/` at once, `/held` when the test lets it, `/stream` for ever and `/large` with a lot; counts the requests."""

    def __init__(self) -> None:
        self.seen: list[Scope] = []
        self.arrived = asyncio.Condition()
        self.release = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        async with self.arrived:
            self.seen.append(scope)
            self.arrived.notify_all()
        if scope["path"] == "/held":
            await self.release.wait()
        if scope["path"] == "/body":
            while (await receive()).get("more_body"):
                pass
        kind = b"text/event-stream" if scope["path"] == "/stream" else b"text/plain"
        body = b"x" * LARGE if scope["path"] == "/large" else b"answered"
        headers = [(b"content-type", kind)]
        if scope["path"] == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b": here\n\n", "more_body": True})
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for begin in range(0, len(body), 1 << 16):
            rest = begin + (1 << 16) < len(body)
            await send({"type": "http.response.body", "body": body[begin : begin + (1 << 16)], "more_body": rest})

    async def have_seen(self, count: int) -> None:
        """Wait until so many requests have come in."""
        async with asyncio.timeout(PATIENCE), self.arrived:
            await self.arrived.wait_for(lambda: len(self.seen) >= count)


class StillServer(Server):
    """A server whose connections are looked at only when a test passes time."""

    async def main_loop(self) -> None:
        await self._told_to_stop.wait()


class Serving:
    """A server that runs, and ways to it."""

    def __init__(self, server: Server, site: Site, port: int) -> None:
        self.server = server
        self.site = site
        self._port = port
        self._lines: list[Line] = []

    @property
    def open(self) -> int:
        return len(self.server._connections)

    @property
    def only(self) -> OpenConnection:
        """The one connection that is open."""
        (connection,) = self.server._connections._open
        return connection

    async def until(self, true: Callable[[OpenConnection], object]) -> None:
        """Wait until something is so of the only connection."""
        async with asyncio.timeout(PATIENCE):
            while not true(self.only):
                await asyncio.sleep(0.01)

    async def line(self, source: str = "127.0.0.1") -> Line:
        """A connection from an address of this machine."""
        line = Line(*await asyncio.open_connection("127.0.0.1", self._port, local_addr=(source, 0)))
        self._lines.append(line)
        return line

    async def half_sent(self, count: int, source: str = "127.0.0.1") -> list[Line]:
        """Connections with the beginning of a request on each, and the server has seen them."""
        lines = []
        for _ in range(count):
            line = await self.line(source)
            await line.say(b"GET / HTTP/1.1\r\nHost: local")
            lines.append(line)
        return lines

    def half_sent_at_once(self, source: str) -> socket.socket:
        """A connection with the beginning of a request on it, which the server has not seen yet."""
        line = socket.create_connection(("127.0.0.1", self._port), source_address=(source, 0))
        line.send(b"GET / HTTP/1.1\r\nHost: local")
        return line

    async def asking(self, path: str, count: int) -> list[Line]:
        """Connections with a request on each, which the site has seen."""
        lines: list[Line] = []
        before = len(self.site.seen)
        for _ in range(count):
            line = await self.line()
            await line.say(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            lines.append(line)
            await self.site.have_seen(len(lines) + before)
        return lines

    async def settle(self, connections: int) -> None:
        """Wait until the server has so many connections."""
        async with asyncio.timeout(PATIENCE):
            while self.open != connections:
                await asyncio.sleep(0.01)

    def pass_time(self, seconds: float) -> None:
        """Have the server look at its connections as it would after that time."""
        self.server._connections.check_times(asyncio.get_running_loop().time() + seconds)

    def hang_up(self) -> None:
        for line in self._lines:
            line.hang_up()


Serve = Callable[..., AbstractAsyncContextManager[Serving]]


@pytest.fixture
def serve() -> Serve:
    """Starts a server with these limits; unless it `ticks`, the test passes its time."""

    @asynccontextmanager
    async def start(
        kind: type[socket.socket] = socket.socket, *, ticks: bool = False, **given: Any
    ) -> AsyncIterator[Serving]:
        limits = ConnectionLimits(**{"most": 16, "per_address": 8, **given})
        started, site = asyncio.Event(), Site()
        with listen("127.0.0.1", 0) as listener, _own(listener, kind) as own:
            made = Server if ticks else StillServer
            server = made(site, limits, on_started=started.set, on_stopping=site.release.set)
            running = asyncio.create_task(server.serve(sockets=[own]))
            await started.wait()
            serving = Serving(server, site, listener.getsockname()[1])
            try:
                yield serving
            finally:
                serving.hang_up()
                server.stop()
                await running

    return start


def _own(listener: socket.socket, kind: type[socket.socket]) -> socket.socket:
    """The same socket as another kind; the server leaves it open, because a restart goes on with it."""
    copy = kind(fileno=os.dup(listener.fileno()))
    copy.setblocking(False)
    return copy
