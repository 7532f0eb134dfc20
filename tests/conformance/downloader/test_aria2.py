"""What only aria2 does: a magnet link ends when its torrent is known, and another download goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from kurabito.downloads.clients.aria2 import Aria2Client
from kurabito.downloads.clients.calling import Calls
from kurabito.downloads.clients.native_ids import NativeIds
from kurabito.downloads.items import CancelStatus, DownloadItem
from kurabito.http import Outbound

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import Aria2, Release, Swarm

pytestmark = pytest.mark.asyncio(loop_scope="module")


class LateCalls(Calls):
    """Requests of which the first that removes arrives late: only when aria2 knows what is in the torrent."""

    def __init__(self, aria2: Aria2, release: Release) -> None:
        super().__init__("aria2", aria2.url)
        self._aria2 = aria2
        self._release = release
        self.was_late = False

    async def send(self, method: str, path: str, **rest: Any) -> httpx2.Response:
        if rest["json"]["method"] == "aria2.forceRemove" and not self.was_late:
            self.was_late = True
            await self._until_known()
        return await super().send(method, path, **rest)

    async def _until_known(self) -> None:
        self._release.seed()
        async with asyncio.timeout(30):
            while not await self._aria2.follows(self._release.hash[:16]):
                self._release.dial(self._aria2)
                await asyncio.sleep(0.02)


async def test_a_magnet_link_given_up_at_the_moment_its_torrent_is_known_is_gone(
    aria2: Aria2, swarm: Swarm, outbound: Outbound, tmp_path: Path
) -> None:
    release = swarm.release("Kura - 01.mkv", seeded=False)
    folder = tmp_path / "downloads"
    async with LateCalls(aria2, release) as calls, NativeIds(tmp_path / "ids.db") as ids:
        client = Aria2Client(calls, outbound, ids)
        await client.login("", "s3cret-of-the-test")
        await client.add_torrents([DownloadItem(release.magnet, str(folder))])
        (status,) = await client.query_status([release.hash])
        assert status.detail == "metadata"

        (result,) = await client.cancel_torrents([release.hash])

        assert result.status is CancelStatus.CANCELLED
        assert calls.was_late
        assert await client.query_status([release.hash]) == []
        assert await aria2.downloads() == 0
        assert not folder.exists()
