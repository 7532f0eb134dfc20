"""Downloaders on loopback that misbehave on demand, and everything that sends to them, over each database."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpcore2
import pytest

from kurabito.api.reasons import in_english
from kurabito.app.compose.downloads import DownloadParts, open_downloads
from kurabito.app.compose.feeds import FeedParts, open_feeds
from kurabito.catalog.states import FilterReason
from kurabito.clock import ManualClock
from kurabito.db import migrate
from kurabito.db.migrate import PRODUCT
from kurabito.downloads.reasons import DownloadReason
from kurabito.downloads.tasks import CLEAR, DISPATCH, CleanupTask, DispatchTask
from kurabito.feeds.results import FeedItem, FetcherResults, Receipt
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.http import Outbound
from kurabito.modules.download_types import DownloadType
from kurabito.modules.services import Capabilities, Registration, Service, ServiceType
from kurabito.reasons import reason_of
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

TLS = httpcore2.default_ssl_context()
EVERY = tuple(DownloadType)


def hash_of(url: str) -> str:
    """What a downloader calls it: the hash of a magnet link, else the SHA-1 of the URL."""
    found = re.search(r"btih:([0-9a-f]{40})", url)
    return found[1] if found else hashlib.sha1(url.encode()).hexdigest()


@dataclass
class Asked:
    """A request as a downloader heard it."""

    method: str
    path: str
    query: str
    body: Any

    @property
    def urls(self) -> list[str]:
        return [item["url"] for item in self.body["items"]]


@dataclass
class StandIn:
    """A downloader service that does as it is told."""

    name: str
    port: int = 0
    has: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What it downloads, by hash, and what it says of it."""
    added: list[str] = field(default_factory=list)
    """Every hash as often as it was really added."""
    asked: list[Asked] = field(default_factory=list)
    rejects: Callable[[str], str | None] = lambda _url: None
    """Why it does not take a URL."""
    may_pass: bool = False
    """Whether it says that this may be better later."""
    spoils: Callable[[Asked, Any], Any] = lambda _asked, answer: answer
    """What it says instead of what it should; text is sent as it is, an exception breaks the connection, and a number is a
    status, with a body if it stands in a tuple with one."""
    most_items: int = 10_000
    tells: bool = False
    """Whether it says who added something, as services of this version do."""
    users: set[str] = field(default_factory=set)
    """What its user added; one that tells leaves that alone."""
    server: asyncio.Server | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Answer nobody any more."""
        if self.server is not None:
            self.server.close()
            for writer in list(self._writers):
                writer.close()
            self.server = None

    def posts(self) -> list[Asked]:
        return [one for one in self.asked if (one.method, one.path) == ("POST", "/downloads")]

    def polls(self) -> list[Asked]:
        return [one for one in self.asked if one.method == "GET"]

    def say(self, hash_: str, status: str, **more: Any) -> None:
        self.has[hash_] = {"status": status, "progress": 0.0, "size": 1000, **more}

    def has_by_hand(self, hash_: str, status: str = "downloading", **more: Any) -> None:
        """Its user added something."""
        self.users.add(hash_)
        self.say(hash_, status, **more)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode("latin-1").split("\r\n")[:-2]
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                assert headers["authorization"] == f"Bearer token of {self.name}"
                assert len(first) <= 8_192
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, target, _ = first.split(" ")
                where = urlsplit(target)
                asked = Asked(method, where.path, where.query, json.loads(body) if body else None)
                self.asked.append(asked)
                answer = self.spoils(asked, self._answer(asked))
                if isinstance(answer, Awaitable):
                    answer = await answer
                if isinstance(answer, Exception):
                    break
                number, answer = answer if isinstance(answer, tuple) else (answer, answer)
                status = f"{number} said so" if isinstance(number, int) else "200 OK"
                text = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
                writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {len(text)}\r\n\r\n".encode() + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def _answer(self, asked: Asked) -> Any:
        match asked.method, asked.path.split("/")[1:]:
            case "POST", ["downloads"]:
                if len(asked.body["items"]) > self.most_items:
                    return 413
                return {"results": [self._take(item["url"]) for item in asked.body["items"]]}
            case "GET", ["downloads"]:
                listed = parse_qs(asked.query, keep_blank_values=True)["hashes"][0].split(",")
                found = [one for one in listed if one in self.has]
                return {"statuses": [{"hash": one, **self.has[one], **self._owner(one)} for one in found]}
            case "POST", ["downloads", "cancel"]:
                gone = {
                    one: not self._keeps(one) and self.has.pop(one, None) is not None for one in asked.body["hashes"]
                }
                return {
                    "results": [
                        {"hash": one, "status": "cancelled" if was else "not_found"} for one, was in gone.items()
                    ]
                }
            case "POST", ["downloads", known, "pause" | "resume"]:
                return {} if unquote(known) in self.has and not self._keeps(known) else 404
            case "DELETE", ["downloads", known]:
                return 404 if self._keeps(known) or self.has.pop(unquote(known), None) is None else {}
        return 404

    def _take(self, url: str) -> dict[str, Any]:
        if (reason := self.rejects(url)) is not None:
            return {"url": url, "hash": None, "status": "rejected", "reason": reason, "may_pass": self.may_pass}
        known = hash_of(url)
        if known not in self.has:
            self.added.append(known)
            self.say(known, "downloading")
        return {"url": url, "hash": known, "status": "accepted", **self._owner(known)}

    def _keeps(self, hash_: str) -> bool:
        return self.tells and hash_ in self.users

    def _owner(self, hash_: str) -> dict[str, str]:
        return {"owner": "user" if hash_ in self.users else "kurabito"} if self.tells else {}


@dataclass
class Core:
    """The core, whose tasks are run when a test says so."""

    queue: SqlQueue
    clock: ManualClock
    feeds: FeedParts
    downloads: DownloadParts
    subscription_id: int = 0

    async def subscribe(self, **how: Any) -> int:
        """Follow another feed; `how` are more of its settings."""
        url = f"https://feeds.example/{self.subscription_id}"
        settings = SubscriptionSettings(name="feed", url=url, new_series=NewSeries.ADD, is_enabled=False, **how)
        subscription = await self.feeds.subscriptions.create(settings, StartWith.MISSING)
        self.subscription_id = subscription.id
        return subscription.id

    async def bring(self, *titles_and_urls: tuple[str, str], subscription_id: int | None = None) -> Receipt:
        """Have a fetcher bring these."""
        subscription_id = subscription_id or self.subscription_id or await self.subscribe()
        items = tuple(FeedItem(title=title, download_url=url) for title, url in titles_and_urls)
        return await self.feeds.intake.receive(FetcherResults(subscription_id=subscription_id, items=items))

    async def register(self, stand_in: StandIn, *types: DownloadType, priority: int = 50) -> Service:
        registration = Registration(
            service_type=ServiceType.DOWNLOADER,
            service_name=stand_in.name,
            host="127.0.0.1",
            port=stand_in.port,
            instance_id="first",
            token=f"token of {stand_in.name}",
            capabilities=Capabilities(download_endpoint="/downloads", supported_download_types=types or EVERY),
        )
        service = await self.feeds.services.register(registration)
        return await self.feeds.services.change(service.id, priority=priority)

    async def work(self) -> None:
        """Carry out what waits to be dispatched or cleared up."""
        while waiting := [
            task
            for task_type in (DISPATCH, CLEAR)
            for task in (await self.queue.list(task_type=task_type, state="queued")).items
        ]:
            for task in reversed(waiting):
                if task.task_type == DISPATCH:
                    await self.downloads.dispatcher.dispatch(task.payload_as(DispatchTask))
                else:
                    await self.downloads.cleanup.clear(task.payload_as(CleanupTask))
                await self.queue.cancel(task.id)

    async def poll(self) -> Any:
        return await self.downloads.scheduler.poll()

    async def all(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        return await self.queue.database.read(lambda conn: conn.all(sql, values))

    async def told(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """The same, with reasons as the API says them."""
        return [tuple(map(_as_told, row)) for row in await self.all(sql, **values)]

    async def run(self, sql: str, **values: Any) -> int:
        return await self.queue.database.write(lambda conn: conn.run(sql, values))

    async def statuses(self) -> list[str]:
        """Of every download, in the order in which they were made."""
        return [status for (status,) in await self.all("SELECT status FROM downloads ORDER BY id")]

    async def attempts(self) -> list[tuple[Any, ...]]:
        return await self.told("SELECT module_name, outcome, reason FROM dispatch_attempts ORDER BY id")

    async def episodes(self) -> list[str]:
        return [state for (state,) in await self.all("SELECT state FROM episodes ORDER BY number")]


def _as_told(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith('{"code": '):
        return cell
    stored = json.loads(cell)
    codes = next(codes for codes in (DownloadReason, FilterReason) if stored["code"] in set(codes))
    return in_english(reason_of(codes, stored))


OpenDownloader = Callable[[str], Awaitable[StandIn]]


@pytest.fixture
async def open_downloader() -> AsyncIterator[OpenDownloader]:
    opened: list[StandIn] = []

    async def start(name: str) -> StandIn:
        stand_in = StandIn(name)
        await stand_in.start()
        opened.append(stand_in)
        return stand_in

    yield start
    for stand_in in opened:
        await stand_in.stop()


@pytest.fixture
async def a(open_downloader: OpenDownloader) -> StandIn:
    return await open_downloader("A")


@pytest.fixture
async def b(open_downloader: OpenDownloader) -> StandIn:
    return await open_downloader("B")


@pytest.fixture
async def core(url: str, tmp_path: Path) -> AsyncIterator[Core]:
    clock = ManualClock()
    settings = Settings(state=tmp_path, download_root=Path("/downloads"), elsewhere_minutes=None)
    async with open_queue(url, clock=clock) as queue, Outbound(tls=TLS) as outbound:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        downloads = open_downloads(queue, outbound, settings)
        feeds = open_feeds(queue, outbound, grabber=downloads.grabber, pace=0.0)
        yield Core(queue, clock, feeds, downloads)
