"""What only aria2 does: a magnet link ends when its torrent is known, and another download follows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from tests.conformance.downloader.conftest import PASSWORD, Aria2, Rig
from tests.support.waiting import PATIENCE

from kurabito.downloads.clients.aria2 import Aria2Client
from kurabito.downloads.clients.native_ids import NativeIds
from kurabito.downloads.clients.sources import hash_of_url
from kurabito.downloads.clients.transport import Calls
from kurabito.downloads.errors import TransferNotFound
from kurabito.downloads.items import CancelStatus, DownloadItem, ItemStatus, TransferStatus
from kurabito.http import Outbound

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import Release, Swarm

pytestmark = pytest.mark.asyncio(loop_scope="module")


class OneSlot(Aria2):
    """An aria2 that downloads one thing at a time, and seeds for ever."""

    def __init__(self, folder: Path, *, detaches: bool) -> None:
        super().__init__(folder)
        self._more = ["--max-concurrent-downloads=1", *(["--bt-detach-seed-only=true"] if detaches else [])]

    def command(self) -> list[str]:
        return [*super().command(), *self._more]


class Killed(Exception):
    """What becomes of a client whose process dies."""


class LateCalls(Calls):
    """Requests of which the first with one method arrives late: after something else has happened."""

    def __init__(self, url: str, late: str, meanwhile: Callable[[], Awaitable[object]]) -> None:
        super().__init__("aria2", url)
        self._late = late
        self._meanwhile = meanwhile
        self.was_late = False

    async def send(self, method: str, path: str, **rest: Any) -> httpx2.Response:
        if self._late in json.dumps(rest["json"]) and not self.was_late:
            self.was_late = True
            await self._meanwhile()
        return await super().send(method, path, **rest)


async def until(
    aria2: Aria2, gid: str, is_so: Callable[[dict[str, Any]], bool], release: Release | None = None
) -> dict[str, Any]:
    """What aria2 says of a download once it is so."""
    async with asyncio.timeout(PATIENCE):
        while True:
            entry: dict[str, Any] = await aria2.ask("aria2.tellStatus", gid)
            if is_so(entry):
                return entry
            if release is not None:
                release.dial(aria2)
            await asyncio.sleep(0.02)


async def until_seeded(aria2: Aria2, release: Release) -> str:
    """The id of what follows a magnet link, once it is complete."""
    magnet = await until(aria2, release.hash[:16], lambda entry: "followedBy" in entry, release)
    (gid,) = magnet["followedBy"]
    await until(aria2, gid, lambda entry: entry["seeder"] == "true", release)
    return str(gid)


@asynccontextmanager
async def client_of(calls: Calls, outbound: Outbound, folder: Path) -> AsyncIterator[Aria2Client]:
    async with calls, NativeIds(folder / "native-ids.db") as ids:
        client = Aria2Client(calls, outbound, ids)
        await client.login("", "s3cret-of-the-test")
        yield client


async def test_a_magnet_link_given_up_at_the_moment_its_torrent_is_known_is_gone(
    aria2: Aria2, swarm: Swarm, outbound: Outbound, tmp_path: Path
) -> None:
    release = swarm.release("Kura - 01.mkv", seeded=False)
    folder = tmp_path / "downloads"

    async def know_the_torrent() -> None:
        release.seed()
        await until(aria2, release.hash[:16], lambda entry: "followedBy" in entry, release)

    calls = LateCalls(aria2.url, "aria2.forceRemove", know_the_torrent)
    async with client_of(calls, outbound, tmp_path) as client:
        await client.add_torrents([DownloadItem(release.magnet, str(folder))])
        (status,) = await client.query_status([release.hash])
        assert status.detail == "metadata"

        (result,) = await client.cancel_torrents([release.hash])

        assert result.status is CancelStatus.CANCELLED
        assert calls.was_late
        assert await client.query_status([release.hash]) == []
        assert await aria2.downloads() == 0
        assert not folder.exists()


async def test_a_magnet_link_is_taken_again_after_only_what_followed_it_was_removed(
    aria2: Aria2, swarm: Swarm, outbound: Outbound, tmp_path: Path
) -> None:
    release = swarm.release("Kura - 02.mkv")
    item = DownloadItem(release.magnet, str(tmp_path / "downloads"))
    async with client_of(Calls("aria2", aria2.url), outbound, tmp_path) as client:
        await client.add_torrents([item])
        gid = await until_seeded(aria2, release)
        await aria2.ask("aria2.forceRemove", gid)
        await until(aria2, gid, lambda entry: entry["status"] == "complete", release)
        await aria2.ask("aria2.removeDownloadResult", gid)
        assert await client.query_status([release.hash]) == []
        release.leave()

        await client.add_torrents([item])

        (status,) = await client.query_status([release.hash])
        assert status.status is TransferStatus.DOWNLOADING
        release.seed()
        await until_seeded(aria2, release)
        await client.delete_torrent(release.hash, delete_files=True)
        assert await aria2.downloads() == 0


async def test_what_somebody_else_adds_at_the_same_moment_is_accepted_and_not_doubled(
    aria2: Aria2, swarm: Swarm, outbound: Outbound, tmp_path: Path
) -> None:
    url = swarm.put("plain.bin", b"plain")
    options = {"dir": str(tmp_path / "downloads"), "gid": hash_of_url(url)[:16]}
    calls = LateCalls(aria2.url, "aria2.addUri", lambda: aria2.ask("aria2.addUri", [url], options))
    async with client_of(calls, outbound, tmp_path) as client:
        (result,) = await client.add_torrents([DownloadItem(url, options["dir"])])

        assert calls.was_late
        assert result.status is ItemStatus.ACCEPTED
        assert await aria2.downloads() == 1
        await client.delete_torrent(hash_of_url(url), delete_files=True)


async def test_what_was_deleted_halfway_is_deleted_by_asking_again(
    aria2: Aria2, swarm: Swarm, outbound: Outbound, tmp_path: Path
) -> None:
    release = swarm.release("Kura - 03.mkv", seeded=False)
    folder, gid = tmp_path / "downloads", release.hash[:16]
    async with client_of(Calls("aria2", aria2.url), outbound, tmp_path) as client:
        await client.add_torrents([DownloadItem(swarm.put("3.torrent", release.torrent), str(folder))])
        await aria2.ask("aria2.forceRemove", gid)
        await until(aria2, gid, lambda entry: entry["status"] == "removed", release)
        assert folder.exists()

        await client.delete_torrent(release.hash, delete_files=True)

        assert not folder.exists()
        assert await aria2.downloads() == 0
        with pytest.raises(TransferNotFound):
            await client.delete_torrent(release.hash, delete_files=True)


async def test_a_delete_that_is_killed_never_leaves_a_complete_download_without_its_files(
    aria2: Aria2, swarm: Swarm, outbound: Outbound, tmp_path: Path
) -> None:
    url = swarm.put("plain.bin", b"plain")
    file, gid = tmp_path / "downloads" / "plain.bin", hash_of_url(url)[:16]

    async def die() -> None:
        raise Killed

    async with client_of(Calls("aria2", aria2.url), outbound, tmp_path) as client:
        await client.add_torrents([DownloadItem(url, str(file.parent))])
        await until(aria2, gid, lambda entry: entry["status"] == "complete")
    async with client_of(LateCalls(aria2.url, "aria2.removeDownloadResult", die), outbound, tmp_path) as client:
        with pytest.raises(Killed):
            await client.delete_torrent(hash_of_url(url), delete_files=True)

        (status,) = await client.query_status([hash_of_url(url)])
        assert status.status is TransferStatus.COMPLETED
        assert file.read_bytes() == b"plain"
        await client.delete_torrent(hash_of_url(url), delete_files=True)
        assert not file.exists()


@pytest.mark.parametrize("detaches", [False, True])
async def test_torrents_that_seed_do_not_hold_the_slots_or_it_is_said_what_to_do(
    swarm: Swarm, outbound: Outbound, tmp_path: Path, detaches: bool, caplog: pytest.LogCaptureFixture
) -> None:
    program = OneSlot(tmp_path / "aria2", detaches=detaches)
    first, second = swarm.release("1.mkv"), swarm.release("2.mkv")
    await program.start()
    try:
        async with program.client(outbound) as client:
            await client.login("", PASSWORD)
            assert ("--bt-detach-seed-only=true" in caplog.text) is not detaches
            rig = Rig(program, client, swarm, tmp_path / "to", outbound, AsyncExitStack())
            for release in (first, second):
                await client.add_torrents([DownloadItem(release.magnet, rig.save_path(release.name))])
                if release is first:
                    await rig.until(first, status=TransferStatus.COMPLETED, detail="seeding")
            if detaches:
                await rig.until(second, status=TransferStatus.COMPLETED)
            else:
                waiting = await rig.until(second)
                assert waiting.status is TransferStatus.DOWNLOADING
                assert waiting.detail == "no_slot"
    finally:
        await program.stop()
