"""Feeds on a server of the test's own, followed over each database. Time is moved by hand; the bytes are real."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpcore2
import pytest

from kurabito.app.compose.feeds import FeedParts, open_feeds
from kurabito.http import Outbound
from kurabito.runtime.sql.queue import SqlQueue

TLS = httpcore2.default_ssl_context()


@dataclass(frozen=True)
class Asked:
    """A request as the server heard it."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class FeedSite:
    """Answers each path with what was put there; an ETag is looked at as real servers do."""

    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    server: asyncio.Server | None = None
    _answers: dict[str, tuple[str, bytes, dict[str, str]]] = field(default_factory=dict)
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def url(self, path: str = "/rss") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @staticmethod
    def feed(*numbers: int, more: str = "", end: str = "</channel></rss>") -> bytes:
        """A feed with these episodes, the youngest first."""
        items = "".join(
            f"<item><title>[Kura] Yoru no Kurabito - {number:02} [1080p]</title><guid>kura-{number}</guid>"
            f"<enclosure url='https://feeds.example/{number}.torrent' type='application/x-bittorrent'/></item>"
            for number in sorted(numbers, reverse=True)
        )
        return f"<rss version='2.0'><channel><title>Kura</title>{items}{more}{end}".encode()

    def put(self, body: bytes = b"", path: str = "/rss", status: str = "200 OK", **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._answers[path] = (status, gzip.compress(body) if named.get("content-encoding") else body, named)

    async def close(self) -> None:
        """Answer nobody any more."""
        assert self.server is not None
        self.server.close()
        for writer in self._writers:
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode("latin-1").split("\r\n")[:-2]
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                path = first.split(" ")[1]
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.asked.append(Asked(path, headers, body))
                answer, is_whole = self._answer(path, headers)
                writer.write(answer)
                await writer.drain()
                if not is_whole:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, path: str, asked: dict[str, str]) -> tuple[bytes, bool]:
        """The answer, and whether it has as many bytes as it announces; after one that has not the connection ends."""
        status, body, headers = self._answers[path]
        if "etag" in headers and asked.get("if-none-match") == headers["etag"]:
            status, body = "304 Not Modified", b""
        announced = {"content-length": str(len(body)), **headers}
        lines = [f"{name}: {value}" for name, value in announced.items()]
        answer = "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode() + body
        return answer, int(announced["content-length"]) == len(body)


OpenSite = Callable[[], Awaitable[FeedSite]]


@pytest.fixture
async def open_site() -> AsyncIterator[OpenSite]:
    sites: list[FeedSite] = []

    async def opened() -> FeedSite:
        site = FeedSite()
        site.server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
        site.port = site.server.sockets[0].getsockname()[1]
        sites.append(site)
        return site

    yield opened
    for site in sites:
        await site.close()


@pytest.fixture
async def site(open_site: OpenSite) -> FeedSite:
    return await open_site()


@pytest.fixture
async def outbound() -> AsyncIterator[Outbound]:
    async with Outbound(tls=TLS) as outbound:
        yield outbound


@pytest.fixture
async def feeds(queue: SqlQueue, outbound: Outbound) -> FeedParts:
    return open_feeds(queue, outbound, url="http://core.example", pace=0.0)


@dataclass
class Kept:
    """What is in the database."""

    queue: SqlQueue

    async def items(self) -> list[tuple[Any, ...]]:
        """Title, status and reason, in the order of the feed."""
        return await self.all("SELECT title, status, reason FROM raw_anime_items ORDER BY id")

    async def links(self) -> list[str]:
        return [url for (url,) in await self.all("SELECT url FROM anime_links ORDER BY url")]

    async def waiting(self) -> int:
        """How many fetches wait."""
        return len((await self.queue.list(task_type="feeds.fetch", state="queued")).items)

    async def all(self, sql: str) -> list[tuple[Any, ...]]:
        return await self.queue.database.read(lambda conn: conn.all(sql))


@pytest.fixture
def kept(queue: SqlQueue) -> Kept:
    return Kept(queue)
