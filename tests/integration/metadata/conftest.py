"""Metadata over a real database of each kind, with services on loopback; time is moved by hand."""

from __future__ import annotations

import asyncio
import importlib.util
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpcore2
import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.db import Database
from kurabito.http import Outbound
from kurabito.http.addresses import Address
from kurabito.metadata import MetadataActor, MetadataRunner, MetadataService, PosterService, records
from kurabito.metadata.health import SourceReports
from kurabito.metadata.messages import Mailbox
from kurabito.metadata.records import Details, Metadata
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.metadata.sources.tmdb_pages import TmdbPages
from kurabito.runtime import Registry, TaskRecord, Worker
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.metadata import world as worlds
    from tests.integration.metadata.world import World


@pytest.fixture(scope="session")
def made_up() -> worlds:  # type: ignore[valid-type]
    """The module of the made-up services."""
    spec = importlib.util.spec_from_file_location("metadata_world", Path(__file__).with_name("world.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
async def world(made_up: Any) -> AsyncIterator[World]:
    """The services on loopback, empty."""
    world: World = made_up.World()
    server = await asyncio.start_server(world.serve, "127.0.0.1", 0, backlog=512)
    world.port = server.sockets[0].getsockname()[1]
    yield world
    if world.hold is not None:
        world.hold.set()
    server.close()


@pytest.fixture(scope="session")
def tls() -> ssl.SSLContext:
    return httpcore2.default_ssl_context()


async def on_loopback(_host: str, /) -> Sequence[Address]:
    return [ip_address("127.0.0.1")]


@pytest.fixture
async def outbound(tls: ssl.SSLContext) -> AsyncIterator[Outbound]:
    """A client that finds every name on loopback; img.test and bgm.test are allowed, and waiting costs no time."""
    async with Outbound(
        private_hosts=["img.test", "bgm.test"], resolver=on_loopback, tls=tls, random=lambda: 0.0, at_once=50
    ) as client:
        yield client


@dataclass
class Desk:
    """Everything that fills in metadata, over one database."""

    queue: SqlQueue
    database: Database
    posters: PosterService
    tmdb: TmdbClient
    bangumi: BangumiClient
    runner: MetadataRunner
    actor: MetadataActor
    service: MetadataService
    clock: ManualClock
    folder: Path

    def add(self, **details: Any) -> int:
        return self.database.write_blocking(lambda conn: records.add(conn, Details(**details))).id

    def get(self, metadata_id: int) -> Metadata:
        return self.database.read_blocking(lambda conn: records.find(conn, metadata_id))

    def poster(self, metadata_id: int) -> str:
        return self.get(metadata_id).details.poster_url or ""

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())

    async def sync(self) -> dict[str, Any]:
        """A whole sync, as the task that it is; what it came to."""
        task = await self.sync_task()
        assert task.state == "succeeded", task.last_error
        result: dict[str, Any] = task.result
        return result

    async def sync_task(self) -> TaskRecord:
        """The task of a whole sync, however it ended."""
        registry = Registry()
        self.runner.join(registry)
        async with Worker(self.queue, registry):
            return await self.queue.wait(await self.runner.begin_sync(), timeout=PATIENCE)


@pytest.fixture
def make_desk(
    queue: SqlQueue, outbound: Outbound, world: World, clock: ManualClock, tmp_path: Path, made_up: Any
) -> Callable[..., Desk]:
    """Opens the desk; more than one over the same database is what a restart is."""

    def open_desk(*, key: str | None = made_up.KEY, capacity: int = 64) -> Desk:
        posters = PosterService(outbound, tmp_path / "posters", bgm_image_host="bgm.test")
        posters.prepare()
        pages = TmdbPages(queue.database)
        images = world.url("/t/p", "img.test")
        reports = SourceReports(queue.database, clock)
        tmdb = TmdbClient(
            outbound, key, url=world.url("/3"), image_url=images, pages=pages, reports=reports, clock=clock
        )
        bangumi = BangumiClient(outbound, url=world.url(), reports=reports, clock=clock)
        runner = MetadataRunner(queue, posters, tmdb, bangumi, clock=clock)
        actor = MetadataActor(runner, clock=clock, mailbox=Mailbox(capacity))
        service = MetadataService(queue.database, tmdb)
        return Desk(queue, queue.database, posters, tmdb, bangumi, runner, actor, service, clock, tmp_path / "posters")

    return open_desk


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pauses between attempts cost no time."""
    monkeypatch.setattr("kurabito.http.retries._FIRST_WAIT", 0.0)


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    return make_desk()
