"""A torrent that brings programs leaves its client with its files, unless the user of that client had added it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.planes import register
from tests.support.waiting import PATIENCE

from kurabito.app.compose.downloads import DownloadParts, open_downloads
from kurabito.app.compose.feeds import open_feeds
from kurabito.dataplane.inspections import InspectionWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.downloads.clients.factory import ClientName
from kurabito.downloads.dispatch.in_process import WithOurs
from kurabito.downloads.dispatch.remote import RemoteDownloaders
from kurabito.downloads.service import DownloaderService
from kurabito.downloads.tasks import CLEAR, DISPATCH, CleanupTask, DispatchTask, DownloadTasks
from kurabito.downloads.want_again import ContentRefusals
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.modules.download_types import DownloadType
from kurabito.modules.service_client import ServiceCalls
from kurabito.modules.services import Capabilities, Registration, ServiceType
from kurabito.placements.filing.loop import FilingLoop
from kurabito.protocol.rights import DATA_PLANE
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import EveryProgram, Release, Rig

pytestmark = pytest.mark.asyncio(loop_scope="module")
PARTS = ("Kura - 01.mkv", "Kura - 01.ass", "Kura - 01.mkv.exe", "Codec/setup.lnk")


@dataclass
class Core:
    """All that sends to one program, and looks at what that brings."""

    queue: SqlQueue
    downloads: DownloadParts
    filing: FilingLoop
    plane: Runner[Any]

    async def step(self) -> None:
        """Do what is to be done now."""
        for task_type in (DISPATCH, CLEAR):
            for task in (await self.queue.list(task_type=task_type, state="queued")).items:
                if task_type == DISPATCH:
                    await self.downloads.dispatcher.dispatch(task.payload_as(DispatchTask))
                else:
                    await self.downloads.cleanup.clear(task.payload_as(CleanupTask))
                await self.queue.cancel(task.id)
        await self.downloads.scheduler.poll()
        await self.filing.step()
        await asyncio.to_thread(self.plane.work)

    async def reason(self) -> str | None:
        """Why the download has failed; None as long as it has not."""
        sql = "SELECT reason FROM downloads WHERE status = 'failed'"
        found = await self.queue.database.read(lambda conn: conn.all(sql))
        return str(found[0][0]) if found else None

    async def owed(self) -> int:
        """What is still to be removed from the program."""
        sql = "SELECT count(*) FROM dispatch_attempts WHERE owed IS NOT NULL"
        return await self.queue.database.read(lambda conn: int(conn.value(sql)))


@asynccontextmanager
async def core_of(rig: Rig, folder: Path, tables: Path, release: Release) -> AsyncIterator[Core]:
    """A core that follows a feed with this release, and has this program alone."""
    folder.mkdir(parents=True)
    shutil.copyfile(tables, folder / "kurabito.db")
    url = f"sqlite:///{folder / 'kurabito.db'}"
    settings = Settings(state=folder, download_root=rig.folder, database=url)
    service = DownloaderService(rig.client, username="kura", password="s3cret-of-the-test")
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        database = queue.database
        migrate(database, PRODUCT)
        others = RemoteDownloaders(ServiceCalls(rig.outbound))
        downloads = open_downloads(queue, rig.outbound, settings, WithOurs(others, lambda _: service))
        feeds = open_feeds(queue, rig.outbound, grabber=downloads.grabber)
        registration = Registration(
            service_type=ServiceType.DOWNLOADER,
            service_name=rig.program.name.value,
            host="127.0.0.1",
            port=rig.program.service_port,
            instance_id="it",
            token="none",
            capabilities=Capabilities(supported_download_types=(DownloadType.MAGNET, DownloadType.TORRENT)),
        )
        await feeds.services.register(registration)
        feed = SubscriptionSettings(name="feed", url="https://f.example/", new_series=NewSeries.ADD, is_enabled=False)
        subscription = await feeds.subscriptions.create(feed, StartWith.MISSING)
        item = FeedItem(title="[Kura] Kura - 01 [1080p]", download_url=release.magnet)
        await feeds.intake.receive(FetcherResults(subscription_id=subscription.id, items=(item,)))
        filing = FilingLoop(
            database,
            rig.folder,
            reserve=0,
            refuse=ContentRefusals(downloads.grabber, DownloadTasks(queue)).refuse,
            picture=lambda _: None,
            note_placed=lambda _, __: None,
        )
        plane = open_database(url, rights=DATA_PLANE)
        plane.open()
        register(plane)
        try:
            yield Core(queue, downloads, filing, Runner(plane, InspectionWork(), name="plane"))
        finally:
            plane.close()


async def until_refused(rig: Rig, core: Core, release: Release) -> str:
    """Go on until the download has failed, and nothing is left to do about it."""
    async with asyncio.timeout(PATIENCE):
        while (reason := await core.reason()) is None or await core.owed():
            await core.step()
            rig.swarm.dial(rig.program, release.hash)
            await rig.program.hurry(rig.client)
            await asyncio.sleep(0.05)
    await core.step()
    return reason


async def test_what_kurabito_added_is_deleted_with_its_files(
    every_program: EveryProgram, sqlite_template: Path, tmp_path: Path
) -> None:
    async def promise(rig: Rig) -> None:
        release = rig.swarm.release(f"Kura of {rig.program.name.value}", parts=PARTS)
        async with core_of(rig, tmp_path / "state" / rig.program.name.value, sqlite_template, release) as core:
            reason = await until_refused(rig, core, release)
        assert "unsafe_removed" in reason
        assert "Kura - 01.mkv.exe" in reason
        assert await rig.client.query_status([release.hash]) == []
        async with asyncio.timeout(PATIENCE):
            while any(path.is_file() for path in rig.folder.rglob("*")):
                await asyncio.sleep(0.05)

    await every_program.keeps(promise)


async def test_what_its_user_added_stays(every_program: EveryProgram, sqlite_template: Path, tmp_path: Path) -> None:
    async def promise(rig: Rig) -> None:
        if rig.program.name is ClientName.EMBEDDED:
            # It has no user of its own.
            return
        release = rig.swarm.release(f"Kura by hand of {rig.program.name.value}", parts=PARTS)
        mine = rig.folder / "mine"
        mine.mkdir(parents=True)
        await rig.program.add_by_hand(release, mine)
        async with core_of(rig, tmp_path / "state" / rig.program.name.value, sqlite_template, release) as core:
            reason = await until_refused(rig, core, release)
        assert "unsafe_files" in reason
        seen = await rig.program.seen_by_hand(release)
        assert seen is not None
        assert not seen.is_paused
        assert {path.name for path in mine.rglob("*") if path.is_file()} >= {Path(part).name for part in PARTS}
        await rig.program.remove_by_hand(release)

    await every_program.keeps(promise)
