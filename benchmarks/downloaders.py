"""Downloaders that take what is offered and do nothing, in a process of their own; and a core to measure against them.

Each but the last takes a third only, so that there is a cascade.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from kurabito.app.compose.downloads import DownloadParts, open_downloads
from kurabito.app.compose.feeds import FeedParts, open_feeds, open_outbound
from kurabito.app.database import prepare_database
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.modules.download_types import DownloadType
from kurabito.modules.services import Capabilities, Registration, ServiceType
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

COUNT: Final = 3


@dataclass
class Core:
    """What is measured."""

    queue: SqlQueue
    feeds: FeedParts
    downloads: DownloadParts

    async def bring(self, count: int) -> None:
        """Have a fetcher bring so many releases, of a hundred series."""
        wishes = SubscriptionSettings(
            name="feed", url="https://feeds.example", new_series=NewSeries.ADD, is_enabled=False
        )
        feed = await self.feeds.subscriptions.create(wishes, StartWith.MISSING)
        items = tuple(
            FeedItem(
                title=f"[Kura] Kura no Monogatari {place % 100} - {place // 100 + 1:03} [WEB-DL {place % 2 * 360 + 720}p]",
                download_url=f"magnet:?xt=urn:btih:{place:040x}",
            )
            for place in range(count)
        )
        await self.feeds.intake.receive(FetcherResults(subscription_id=feed.id, items=items))

    async def counts(self) -> dict[str, int]:
        found = await self.queue.database.read(
            lambda conn: conn.all("SELECT status, count(*) FROM downloads GROUP BY status")
        )
        return dict(found)


@asynccontextmanager
async def core(ports: list[int]) -> AsyncIterator[Core]:
    """A core on SQLite in a new folder, to which downloaders at these ports have registered."""
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as state:
        settings = Settings(state=Path(state), log_level="error")
        await asyncio.to_thread(prepare_database, settings)
        async with open_queue(settings.database) as queue, open_outbound(settings) as outbound:
            downloads = open_downloads(cast("SqlQueue", queue), outbound, settings)
            feeds = open_feeds(cast("SqlQueue", queue), outbound, grabber=downloads.grabber)
            for port in ports:
                await feeds.services.register(_registration(port))
            yield Core(cast("SqlQueue", queue), feeds, downloads)


@contextmanager
def downloaders() -> Iterator[list[int]]:
    """The ports of the stand-ins, while they run."""
    with subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield [int(port) for port in process.stdout.readline().split()]
        finally:
            process.terminate()


def _registration(port: int) -> Registration:
    return Registration(
        service_type=ServiceType.DOWNLOADER,
        service_name=f"downloader {port}",
        host="127.0.0.1",
        port=port,
        instance_id="first",
        token="secret",
        capabilities=Capabilities(supported_download_types=tuple(DownloadType)),
    )


class _StandIn:
    def __init__(self, place: int) -> None:
        self._place = place
        self._polls = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
                body = await reader.readexactly(int(length[1])) if length else b""
                text = json.dumps(self._answer(head.split(b" ", 2)[1].decode(), body)).encode()
                writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _answer(self, target: str, body: bytes) -> Any:
        if body:
            return {"results": [self._take(item["url"]) for item in json.loads(body)["items"]]}
        self._polls += 1
        hashes = target.partition("hashes=")[2].split(",")
        # Something is new about every one of them, each time.
        said = {"status": "downloading", "progress": self._polls % 1000 / 1000, "size": 1 << 30, "rate": self._polls}
        return {"statuses": [{"hash": one, **said} for one in hashes]}

    def _take(self, url: str) -> dict[str, Any]:
        known = url[-40:]
        if int(known, 16) % COUNT != self._place and self._place < COUNT - 1:
            return {"url": url, "hash": None, "status": "rejected", "reason": "not mine"}
        return {"url": url, "hash": known, "status": "accepted"}


async def _main() -> None:
    servers = [await asyncio.start_server(_StandIn(place).serve, "127.0.0.1", 0) for place in range(COUNT)]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
