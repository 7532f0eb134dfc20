"""Sites on loopback that answer as they are told, byte by byte if need be."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, TypeVar

import httpcore2
import pytest

from kurabito.clock import ManualClock
from kurabito.http import Outbound
from kurabito.http.addresses import Address

T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """A request as the site heard it."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Site:
    """A server, what it was asked, and what it answers.

    Several answers for one path are given one after the other; the last one stays.
    """

    port: int = 0
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when somebody hung up."""
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "site.test") -> str:
        return f"http://{host}:{self.port}{path}"

    def does(self, path: str, answer: Answer) -> None:
        self.answers.setdefault(path, []).append(answer)

    def sends(self, path: str, raw: bytes) -> None:
        """Exactly these bytes."""

        async def answer(_asked: Asked, writer: asyncio.StreamWriter) -> None:
            writer.write(raw)
            await writer.drain()

        self.does(path, answer)

    def says(self, path: str, body: bytes = b"", /, status: str = "200 OK", **headers: str) -> None:
        """An answer with a body; `content_type="text/plain"` becomes Content-Type."""
        lines = {"Content-Length": str(len(body)), **{name.replace("_", "-"): value for name, value in headers.items()}}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.sends(path, f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body)

    def moves(self, path: str, to: str, status: str = "302 Found", **headers: str) -> None:
        self.says(path, b"", status=status, location=to, **headers)

    @property
    def paths(self) -> list[str]:
        return [asked.target for asked in self.asked]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                asked = await _request(head, reader)
                self.asked.append(asked)
                left = self.answers[asked.target.partition("?")[0]]
                await (left.pop(0) if len(left) > 1 else left[0])(asked, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self.left.set()

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.close()


async def _request(head: bytes, reader: asyncio.StreamReader) -> Asked:
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Asked(method, target, headers, await reader.readexactly(int(headers.get("content-length", 0))))


OpenSite = Callable[..., Awaitable[Site]]


@pytest.fixture
async def open_site() -> AsyncIterator[OpenSite]:
    """Opens further sites."""
    async with AsyncExitStack() as stack:

        async def opened(address: str = "127.0.0.1", port: int = 0) -> Site:
            site = Site()
            server = await asyncio.start_server(site.serve, address, port)
            site.port = server.sockets[0].getsockname()[1]
            stack.push_async_callback(server.wait_closed)
            stack.callback(site.hang_up)
            stack.callback(server.close)
            return site

        yield opened


@pytest.fixture
async def site(open_site: OpenSite) -> Site:
    return await open_site()


class Names:
    """A resolver of the test's own: every name is on loopback unless it is told otherwise."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Sequence[str]]] = {}
        self.asked: list[str] = []

    async def __call__(self, host: str, /) -> Sequence[Address]:
        self.asked.append(host)
        left = self.answers.get(host, [["127.0.0.1"]])
        return [ip_address(address) for address in (left.pop(0) if len(left) > 1 else left[0])]


@pytest.fixture
def names() -> Names:
    return Names()


@pytest.fixture(scope="session")
def tls() -> ssl.SSLContext:
    """Reading the machine's certificates takes a tenth of a second, so it is done once."""
    return httpcore2.default_ssl_context()


@pytest.fixture
async def outbound(names: Names, clock: ManualClock, tls: ssl.SSLContext) -> AsyncIterator[Outbound]:
    """A client that finds every name on loopback and whose time stands still; site.test is allowed."""
    async with Outbound(
        private_hosts=["site.test"], resolver=names, clock=clock, tls=tls, random=lambda: 0.0
    ) as client:
        yield client


class Waiting:
    """Lets time pass until something is done, however it ends."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    async def __call__(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(work)
        while not task.done():
            self._clock.advance(0.5)
            # The bytes on their way are real, so they get a moment.
            await asyncio.sleep(0.001)
        return task.result()


@pytest.fixture
def waiting(clock: ManualClock) -> Waiting:
    return Waiting(clock)
