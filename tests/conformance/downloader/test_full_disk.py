"""The embedded client on a disk that is really full: it says so, and goes on when there is room."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.downloads.clients.embedded import EmbeddedClient, EmbeddedOptions
from kurabito.downloads.clients.sources import hash_of_url
from kurabito.downloads.items import DownloadItem, DownloadStatus, TransferDetail, TransferStatus
from kurabito.http import Outbound

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import Swarm

pytestmark = pytest.mark.asyncio(loop_scope="module")
MIB = 1024 * 1024


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for 2 MiB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def until(client: EmbeddedClient, name: str, **like: object) -> DownloadStatus:
    seen: DownloadStatus | None = None
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                for seen in await client.query_status([name]):
                    if all(getattr(seen, part) == value for part, value in like.items()):
                        return seen
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"it stays {seen}") from None


async def waits_for_room(client: EmbeddedClient, name: str) -> DownloadStatus:
    async with asyncio.timeout(PATIENCE):
        while (status := await until(client, name)).detail != TransferDetail.NO_ROOM:
            await asyncio.sleep(0.05)
    return status


async def test_a_magnet_on_a_full_disk_says_so_and_goes_on_when_there_is_room(
    outbound: Outbound, unused_port: int, swarm: Swarm, tiny: Path, tmp_path: Path
) -> None:
    release = swarm.release("Kura.mkv", size=MIB)
    ballast = tiny / "ballast"
    ballast.write_bytes(bytes(2 * MIB - 64 * 1024))
    options = EmbeddedOptions(port=unused_port, interface="127.0.0.1", finds_peers=False)
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        # Of a magnet nobody knows how large it is, so it is not refused at once.
        await client.add_torrents([DownloadItem(release.magnet, str(tiny / "1"))])
        status = await waits_for_room(client, release.hash)
        assert status.status is TransferStatus.DOWNLOADING
        assert status.content_path == str(tiny / "1")
        # A start in between forgets nothing.
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        await waits_for_room(client, release.hash)
        ballast.unlink()
        await until(client, release.hash, status=TransferStatus.COMPLETED)
    assert (tiny / "1" / "Kura.mkv").read_bytes() == release.content


async def test_a_plain_file_on_a_full_disk_says_so_and_goes_on_when_there_is_room(
    outbound: Outbound, unused_port: int, tiny: Path, tmp_path: Path
) -> None:
    content = bytes(range(256)) * 4096
    ballast = tiny / "ballast"
    ballast.write_bytes(bytes(2 * MIB - 64 * 1024))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Without its size nobody can see beforehand that it does not fit.
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: video/x-matroska\r\n\r\n" + content)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/Kura.mkv"
    options = EmbeddedOptions(port=unused_port, interface="127.0.0.1", finds_peers=False)
    clock = ManualClock()
    async with EmbeddedClient(tmp_path / "notes", outbound, options, clock=clock) as client:
        await client.add_torrents([DownloadItem(url, str(tiny / "1"))])
        status = await waits_for_room(client, hash_of_url(url))
        assert status.status is TransferStatus.DOWNLOADING
        ballast.unlink()
        async with asyncio.timeout(PATIENCE):
            while (await client.query_status([hash_of_url(url)]))[0].status is not TransferStatus.COMPLETED:
                clock.advance(1)
                await asyncio.sleep(0.01)
    assert (tiny / "1" / "Kura.mkv").read_bytes() == content
    server.close()
