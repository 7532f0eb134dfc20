"""Neither a core nor a downloader service that is killed while it sends, polls or cancels loses a download or doubles one.

Two downloaders take what comes, the first of them only a half. In each round new links come, one download is given up, both
downloaders are polled, and the core's worker is killed somewhere in between. In most rounds the first downloader dies too, right
after it took something or gave it up, and before it could say so.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpcore2
import pytest
from tests.support.commands import Command
from tests.support.waiting import PATIENCE

from kurabito.app.compose.downloads import DownloadParts, open_downloads
from kurabito.app.compose.feeds import FeedParts, open_feeds
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.downloads.tasks import CLEAR, DISPATCH, POLL
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.http import Outbound
from kurabito.modules.download_types import DownloadType
from kurabito.modules.services import Capabilities, Registration, ServiceType
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

PROGRAM = Path(__file__).with_name("dispatch_program.py")
SERVICE = Path(__file__).with_name("downloader_program.py")
LINKS = 6
TLS = httpcore2.default_ssl_context()
# On SQLite a lock tells at once that a worker died. On PostgreSQL it is the end of its lease.
LEASES = {"sqlite": 30.0, "postgresql": 1.0}


class Downloader:
    """Takes all that is offered, and remembers every time that it really began something."""

    name = "whole"

    def __init__(self) -> None:
        self.has: set[str] = set()
        self.begun: list[str] = []
        self.port = 0

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"content-length: (\d+)", head, re.I)
                body = await reader.readexactly(int(length[1])) if length else b""
                method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
                text = json.dumps(self._answer(method, target, json.loads(body) if body else {})).encode()
                writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, method: str, target: str, body: Any) -> Any:
        if method == "GET":
            listed = target.partition("hashes=")[2].split(",")
            found = [one for one in listed if one in self.has]
            return {"statuses": [{"hash": one, "status": "downloading", "progress": 0.5, "size": 9} for one in found]}
        if target.endswith("/cancel"):
            gone = [(one, "cancelled" if one in self.has else "not_found") for one in body["hashes"]]
            self.has -= set(body["hashes"])
            return {"results": [{"hash": one, "status": status} for one, status in gone]}
        return {"results": [self._take(item["url"]) for item in body["items"]]}

    def _take(self, url: str) -> dict[str, Any]:
        magnet = re.search(r"btih:(\w{40})", url)
        known = magnet[1] if magnet else hashlib.sha1(url.encode()).hexdigest()
        if known not in self.has:
            self.begun.append(known)
            self.has.add(known)
        return {"url": url, "hash": known, "status": "accepted"}


class Service:
    """A downloader service in a process of its own, which takes every other link. What it has lies in a folder."""

    name = "half"

    def __init__(self, folder: Path) -> None:
        self._folder, self._journal = folder / "half", folder / "begun"
        self._folder.mkdir()
        self._journal.touch()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.command = [str(SERVICE), str(self._folder), str(self._journal), str(self.port)]

    @property
    def has(self) -> set[str]:
        return {one.name for one in self._folder.iterdir()}

    @property
    def begun(self) -> list[str]:
        return self._journal.read_text().split()


@contextmanager
def living(*command: str) -> Iterator[subprocess.Popen[str]]:
    with Command([sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield program
        assert program.stdin is not None
        program.stdin.close()


async def start(program: subprocess.Popen[str], how: str = "") -> int:
    """The id of a new process."""
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(f"{how}\n")
    program.stdin.flush()
    return int(await asyncio.to_thread(program.stdout.readline))


def kill(pid: int) -> None:
    # It may have killed itself.
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Core:
    """What asks for downloads, while others carry it out and die."""

    def __init__(self, queue: SqlQueue, feeds: FeedParts, downloads: DownloadParts) -> None:
        self.queue = queue
        self.feeds = feeds
        self.downloads = downloads
        self.subscription_id = 0
        self.rounds = 0

    async def prepare(self, *downloaders: Downloader | Service) -> None:
        settings = SubscriptionSettings(
            name="Kura", url="https://feeds.example/rss", new_series=NewSeries.ADD, is_enabled=False
        )
        self.subscription_id = (await self.feeds.subscriptions.create(settings, StartWith.MISSING)).id
        for one in downloaders:
            capabilities = Capabilities(supported_download_types=tuple(DownloadType))
            await self.feeds.services.register(
                Registration(
                    service_type=ServiceType.DOWNLOADER,
                    service_name=one.name,
                    host="127.0.0.1",
                    port=one.port,
                    instance_id="first",
                    token="secret",
                    capabilities=capabilities,
                )
            )

    async def ask(self, chance: random.Random) -> None:
        """New links, a poll, and one download that is given up."""
        self.rounds += 1
        items = tuple(
            FeedItem(title=f"[Kura] Yoru no Kurabito {self.rounds} - {number:02}", download_url=self._url(number))
            for number in range(LINKS)
        )
        await self.feeds.intake.receive(FetcherResults(subscription_id=self.subscription_id, items=items))
        await self.queue.enqueue(POLL)
        under_way = await self.all("SELECT id FROM downloads WHERE status IN ('pending', 'downloading')")
        await self.downloads.downloads.cancel(chance.choice(under_way)[0])

    def _url(self, number: int) -> str:
        name = self.rounds * LINKS + number
        # Of one half the hash is known beforehand, of the other only the downloader can tell.
        return f"magnet:?xt=urn:btih:{name:040x}" if number % 2 else f"https://feeds.example/{name}.torrent"

    async def settle(self) -> None:
        """Wait until everything that was asked for is done."""
        for task_type in (DISPATCH, POLL, CLEAR):
            for task in (await self.queue.list(task_type=task_type, limit=100)).items:
                done = await self.queue.wait(task.id, timeout=PATIENCE)
                assert done.state == "succeeded", done.last_error

    async def all(self, sql: str) -> list[tuple[Any, ...]]:
        return await self.queue.database.read(lambda conn: conn.all(sql))


@pytest.fixture
async def core(url: str, tmp_path: Path) -> AsyncIterator[Core]:
    async with open_queue(url) as queue, Outbound(tls=TLS) as outbound:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        downloads = open_downloads(queue, outbound, Settings(state=tmp_path))
        yield Core(queue, open_feeds(queue, outbound, grabber=downloads.grabber), downloads)


@pytest.mark.parametrize("seed", [6])
async def test_no_download_is_lost_or_doubled_by_kills(core: Core, url: str, tmp_path: Path, seed: int) -> None:
    await kill_and_check(core, url, tmp_path, random.Random(seed), kills=24 if url.startswith("sqlite") else 8)


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_no_download_is_lost_or_doubled_by_three_hundred_kills(core: Core, url: str, tmp_path: Path) -> None:
    await kill_and_check(core, url, tmp_path, random.Random(2026), kills=300)


async def kill_and_check(core: Core, url: str, tmp_path: Path, chance: random.Random, kills: int) -> None:
    half, whole = Service(tmp_path), Downloader()
    server = await whole.start()
    await core.prepare(half, whole)
    lease = LEASES[url.partition(":")[0]]
    with living(str(PROGRAM), url, str(lease)) as workers, living(*half.command) as services:
        worker, service = await start(workers), await start(services, "0")
        try:
            for _ in range(kills):
                await core.ask(chance)
                # About as long as it takes to the end, so that the kills fall everywhere.
                await asyncio.sleep(chance.uniform(0.0, 0.1))
                kill(worker)
                worker = await start(workers)
                await core.settle()
                kill(service)
                # The next life ends at its first changes, or not at all.
                service = await start(services, str(chance.choice([0, 1, 2, 3, 5])))
            kill(service)
            service = await start(services, "0")
            # What is still in doubt is cleared up by a poll; the second one sees what the first one sent.
            for _ in range(2):
                await core.queue.enqueue(POLL)
                await core.settle()
        finally:
            kill(worker)
            kill(service)
    server.close()
    await check(core, half, whole, kills)


async def check(core: Core, half: Service, whole: Downloader, kills: int) -> None:
    statuses = await core.all("SELECT status, count(*) FROM downloads GROUP BY status ORDER BY status")
    assert statuses == [("cancelled", kills), ("downloading", kills * (LINKS - 1))]
    for one in (half, whole):
        assert len(one.begun) == len(set(one.begun)), f"{one.name} began something twice"
    assert not half.has & whole.has
    kept = {hash_ for (hash_,) in await core.all("SELECT hash FROM downloads WHERE status = 'downloading'")}
    assert half.has | whole.has == kept
    assert len(kept) == kills * (LINKS - 1)
    (lost,) = await core.all("SELECT coalesce(sum(lost_leases), 0) FROM tasks")
    assert lost[0] > 0, "no kill fell into anything"
    (doubts,) = await core.all("SELECT count(*) FROM dispatch_attempts WHERE outcome = 'unclear'")
    assert doubts[0] > 0, "no downloader died after it took something"
