"""What only the embedded client promises: it waits for the first download, goes on where it was, and stops seeding."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.downloads.clients.embedded import EmbeddedClient, EmbeddedOptions
from kurabito.downloads.clients.taking import hash_of_url
from kurabito.downloads.items import DownloadItem, DownloadStatus, TransferStatus
from kurabito.http import Outbound

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import Swarm

MIB = 1024 * 1024


@pytest.fixture
def options(unused_port: int) -> EmbeddedOptions:
    return EmbeddedOptions(port=unused_port, interface="127.0.0.1", finds_peers=False)


@pytest.fixture
async def client(tmp_path: Path, outbound: Outbound, options: EmbeddedOptions) -> AsyncIterator[EmbeddedClient]:
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        yield client


async def until(client: EmbeddedClient, name: str, **like: object) -> DownloadStatus:
    async with asyncio.timeout(30):
        while True:
            for status in await client.query_status([name]):
                if all(getattr(status, part) == value for part, value in like.items()):
                    return status
            await asyncio.sleep(0.02)


async def test_nothing_is_started_before_the_first_torrent(
    client: EmbeddedClient, options: EmbeddedOptions, swarm: Swarm, tmp_path: Path
) -> None:
    plain = swarm.put("a.bin", b"a")
    await client.add_torrents([DownloadItem(plain, str(tmp_path / "1"))])
    await until(client, hash_of_url(plain), status=TransferStatus.COMPLETED)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", options.port)
    release = swarm.release("Kura.mkv")
    await client.add_torrents([DownloadItem(release.magnet, str(tmp_path / "2"))])
    _, writer = await asyncio.open_connection("127.0.0.1", options.port)
    writer.close()


async def test_a_plain_file_that_broke_off_goes_on_where_it_was(
    outbound: Outbound, options: EmbeddedOptions, swarm: Swarm, tmp_path: Path
) -> None:
    content = bytes(range(256)) * (80 * 1024)
    url = swarm.put("Kura.bin", content)
    name, item = hash_of_url(url), DownloadItem(url, str(tmp_path / "1"))
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        # The second piece breaks off, and the host is away for a while.
        swarm.pieces_before_break = 1
        await client.add_torrents([item])
        async with asyncio.timeout(30):
            while swarm.pieces_before_break is not None:
                await asyncio.sleep(0.02)
        status = await until(client, name)
        assert (status.status, status.size) == (TransferStatus.DOWNLOADING, len(content))
    asked = len(swarm.asked)
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        await until(client, name, status=TransferStatus.COMPLETED)
        assert (tmp_path / "1" / "Kura.bin").read_bytes() == content
        assert swarm.asked[asked] == f"Kura.bin bytes={8 * MIB}-{16 * MIB - 1}"
        assert [path.name for path in (tmp_path / "1").iterdir()] == ["Kura.bin"]
        await client.add_torrents([DownloadItem(swarm.url("missing.bin"), str(tmp_path / "2"))])
        gone = await until(client, hash_of_url(swarm.url("missing.bin")), status=TransferStatus.ERROR)
        assert "404" in str(gone.detail)


@pytest.mark.parametrize("enough", [{"seed_seconds": 0.0}, {"ratio": 0.0}])
async def test_a_torrent_is_seeded_until_it_is_enough(
    outbound: Outbound, unused_port: int, swarm: Swarm, tmp_path: Path, enough: dict[str, float]
) -> None:
    options = EmbeddedOptions(port=unused_port, interface="127.0.0.1", finds_peers=False, **enough)
    release = swarm.release("Kura.mkv")
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        await client.add_torrents([DownloadItem(release.magnet, str(tmp_path / "1"))])
        await until(client, release.hash, status=TransferStatus.COMPLETED, detail=None)
    async with EmbeddedClient(tmp_path / "others", outbound, EmbeddedOptions(port=unused_port)) as client:
        # One that may seed goes on doing so.
        await client.add_torrents([DownloadItem(release.magnet, str(tmp_path / "2"))])
        await until(client, release.hash, status=TransferStatus.COMPLETED, detail="seeding")
