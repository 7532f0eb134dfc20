"""What only the embedded client promises: it waits for the first download, goes on where it was, and stops seeding."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import libtorrent as lt
import pytest
import pytest_asyncio
from tests.support.waiting import PATIENCE

from kurabito.app.built_in_downloader import embedded_options
from kurabito.catalog.download_types import DownloadType
from kurabito.clock import ManualClock
from kurabito.downloads.clients.embedded import EmbeddedClient, EmbeddedOptions
from kurabito.downloads.clients.embedded.torrents import Torrents, session_settings
from kurabito.downloads.clients.sources import TorrentSource, hash_of_url
from kurabito.downloads.clients.torrent_files import read_torrent
from kurabito.downloads.items import DownloadItem, DownloadStatus, ItemStatus, TransferDetail, TransferStatus
from kurabito.http import Outbound
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import Swarm

pytestmark = pytest.mark.asyncio(loop_scope="module")
MIB = 1024 * 1024


@pytest.fixture
def options(unused_port: int) -> EmbeddedOptions:
    return EmbeddedOptions(port=unused_port, interface="127.0.0.1", finds_peers=False)


@pytest_asyncio.fixture(loop_scope="module")
async def client(tmp_path: Path, outbound: Outbound, options: EmbeddedOptions) -> AsyncIterator[EmbeddedClient]:
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        yield client


async def until(client: EmbeddedClient, name: str, **like: object) -> DownloadStatus:
    async with asyncio.timeout(PATIENCE):
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
        async with asyncio.timeout(PATIENCE):
            while swarm.pieces_before_break is not None:
                await asyncio.sleep(0.02)
        status = await until(client, name)
        assert (status.status, status.size) == (TransferStatus.DOWNLOADING, len(content))
    asked = len(swarm.asked)
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        await until(client, name, status=TransferStatus.COMPLETED)
        assert (tmp_path / "1" / "Kura.bin").read_bytes() == content
        assert swarm.asked[asked].endswith(f"/Kura.bin bytes={8 * MIB}-{16 * MIB - 1}")
        assert [path.name for path in (tmp_path / "1").iterdir()] == ["Kura.bin"]
        await client.add_torrents([DownloadItem(swarm.url("missing.bin"), str(tmp_path / "2"))])
        gone = await until(client, hash_of_url(swarm.url("missing.bin")), status=TransferStatus.ERROR)
        assert "404" in str(gone.detail)


async def test_how_far_a_file_is_that_comes_whole_is_known_from_its_declared_size(
    client: EmbeddedClient, tmp_path: Path
) -> None:
    content, go_on = bytes(range(256)) * (40 * 1024), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A host that knows no ranges, and stops in the middle."""
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode())
        with suppress(ConnectionError):
            writer.write(content[: len(content) // 2])
            await writer.drain()
            await go_on.wait()
            writer.write(content[len(content) // 2 :])
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/Kura.bin"
        name = hash_of_url(url)
        await client.add_torrents([DownloadItem(url, str(tmp_path / "1"))])
        async with asyncio.timeout(PATIENCE):
            while (await until(client, name)).progress < 0.4:
                await asyncio.sleep(0.02)
        half = await until(client, name)
        assert (half.status, half.size) == (TransferStatus.DOWNLOADING, len(content))
        assert half.progress <= 0.5
        go_on.set()
        await until(client, name, status=TransferStatus.COMPLETED, progress=1.0)
    assert (tmp_path / "1" / "Kura.bin").read_bytes() == content


async def test_a_disk_that_is_full_is_told_in_words(client: EmbeddedClient, swarm: Swarm, tmp_path: Path) -> None:
    plain = swarm.put("Kura.bin", b"x" * 100_000)
    (tmp_path / "1").mkdir()
    part = tmp_path / "1" / f".{hash_of_url(plain)}.part"
    part.symlink_to("/dev/full")
    await client.add_torrents([DownloadItem(plain, str(tmp_path / "1"))])
    full = await until(client, hash_of_url(plain), detail=TransferDetail.NO_ROOM)
    assert full.status is TransferStatus.DOWNLOADING
    part.unlink()
    # There is room now, and it goes on without being asked.
    await until(client, hash_of_url(plain), status=TransferStatus.COMPLETED)

    huge: dict[bytes, Any] = {b"name": b"huge", b"piece length": 1 << 30, b"pieces": b"x" * 20, b"length": 1 << 50}
    whole: dict[bytes, Any] = {b"info": huge}
    url = swarm.put("huge.torrent", lt.bencode(whole))
    (result,) = await client.add_torrents([DownloadItem(url, str(tmp_path / "2" / "deep"))])
    assert result.status is ItemStatus.REJECTED
    assert "there is no room: it needs 1073741824 MiB" in str(result.reason)

    release, where = swarm.release("Kura.mkv"), tmp_path / "3"
    where.write_text("no folder can be made here")
    item = DownloadItem(swarm.put("3.torrent", release.torrent), str(where))
    await client.add_torrents([item])
    blocked = await until(client, release.hash, status=TransferStatus.ERROR)
    assert str(blocked.detail).startswith("unwritable: ")
    where.unlink()
    # Asked for again, it is tried again.
    await client.add_torrents([item])
    await until(client, release.hash, status=TransferStatus.COMPLETED)


async def test_plain_files_come_from_no_private_address_that_nobody_allowed(
    options: EmbeddedOptions, swarm: Swarm, tmp_path: Path
) -> None:
    plain, torrent = swarm.put("Kura.bin", b"secret"), swarm.put("Kura.torrent", swarm.release("Kura.mkv").torrent)
    asked = len(swarm.asked)
    async with Outbound() as guarded, EmbeddedClient(tmp_path / "notes", guarded, options) as client:
        items = [DownloadItem(url, str(tmp_path / "1")) for url in (plain, torrent)]
        taken, refused = await client.add_torrents(items)
        assert (taken.status, refused.status) == (ItemStatus.ACCEPTED, ItemStatus.REJECTED)
        assert "127.0.0.1" in str(refused.reason)
        ended = await until(client, hash_of_url(plain), status=TransferStatus.ERROR)
        assert "127.0.0.1" in str(ended.detail)
    assert not any("Kura" in path for path in swarm.asked[asked:])


async def test_links_in_a_torrent_lead_nowhere(client: EmbeddedClient, swarm: Swarm, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = {b"attr": b"l", b"length": 0, b"path": [b"way"], b"symlink path": [b"..", b"..", b"outside"]}
    evil = swarm.release("evil", path=("way", "escaped.mkv"), also=[link])
    results = await client.add_torrents(
        [
            DownloadItem(swarm.put("evil.torrent", evil.torrent), str(tmp_path / "1" / "2")),
            DownloadItem(evil.magnet, str(tmp_path / "1" / "2")),
        ]
    )
    assert [result.status for result in results] == [ItemStatus.REJECTED, ItemStatus.ACCEPTED]
    assert "a link" in str(results[0].reason)
    async with asyncio.timeout(PATIENCE):
        while (await until(client, evil.hash)).status is TransferStatus.DOWNLOADING:
            await asyncio.sleep(0.02)
    assert list(outside.iterdir()) == []
    for path in (tmp_path / "1").rglob("*"):
        assert path.resolve().is_relative_to(tmp_path / "1" / "2") or path == tmp_path / "1" / "2"


async def test_peers_are_told_of_others_and_of_the_dht_and_the_router_of_nothing(
    outbound: Outbound, unused_port: int, swarm: Swarm, tmp_path: Path
) -> None:
    release = swarm.release("Kura.mkv")
    options = EmbeddedOptions(port=unused_port, interface="127.0.0.1")
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        await client.add_torrents([DownloadItem(swarm.put("1.torrent", release.torrent), str(tmp_path / "1"))])
        await until(client, release.hash, status=TransferStatus.COMPLETED)
        reserved, extensions = await handshake(unused_port, release.hash)
        assert reserved[7] & 1, "the DHT is off"
        assert b"ut_pex" in extensions[b"m"]
    said = session_settings(options)
    assert said["enable_dht"] is True
    assert not any(said[name] for name in ("enable_upnp", "enable_natpmp", "enable_lsd"))
    assert (said["listen_interfaces"], said["outgoing_interfaces"]) == (f"127.0.0.1:{unused_port}", "127.0.0.1")
    assert (EmbeddedOptions().port, EmbeddedOptions().ratio, EmbeddedOptions().seed_seconds) == (6884, 1.0, 86_400)


async def handshake(port: int, info_hash: str) -> tuple[bytes, dict[bytes, Any]]:
    """The reserved bits of a client's greeting, and what it says of its extensions."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    can_extend = bytes([0, 0, 0, 0, 0, 0x10, 0, 0])
    writer.write(b"\x13BitTorrent protocol" + can_extend + bytes.fromhex(info_hash) + b"-TT0000-" + bytes(12))
    async with asyncio.timeout(PATIENCE):
        reserved = (await reader.readexactly(68))[20:28]
        while True:
            length = int.from_bytes(await reader.readexactly(4), "big")
            message = await reader.readexactly(length)
            if message[:2] == b"\x14\x00":
                writer.close()
                told: Any = lt.bdecode(message[2:])
                return reserved, told


async def test_a_port_that_is_taken_is_told_of_and_keeps_no_download_waiting(
    client: EmbeddedClient, options: EmbeddedOptions, swarm: Swarm, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    release = swarm.release("Kura.mkv")
    with socket.create_server(("127.0.0.1", options.port)):
        await client.add_torrents([DownloadItem(release.magnet, str(tmp_path / "1"))])
        # Peers are found all the same.
        await until(client, release.hash, status=TransferStatus.COMPLETED)
        async with asyncio.timeout(PATIENCE):
            while "the port for peers is in use" not in caplog.text:
                await asyncio.sleep(0.05)


async def test_its_user_decides_how_much_it_does_at_once(
    outbound: Outbound, unused_port: int, swarm: Swarm, tmp_path: Path
) -> None:
    chosen = Settings(
        state=tmp_path,
        torrent_port=unused_port,
        torrent_interface="127.0.0.1",
        torrent_dht=False,
        torrent_download_limit=100,
        torrent_upload_limit=10,
        torrent_ratio=2.5,
        torrent_seed_hours=0.5,
        torrent_parallel=1,
        file_parallel=1,
    )
    options = embedded_options(chosen)
    assert (options.ratio, options.seed_seconds, options.files_at_once) == (2.5, 1800.0, 1)
    said = session_settings(options)
    assert (said["download_rate_limit"], said["upload_rate_limit"], said["active_downloads"]) == (102_400, 10_240, 1)
    # Nobody has these, so the one that is under way keeps the other waiting.
    absent = [swarm.release(f"{number}.mkv", seeded=False) for number in range(2)]
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        items = [DownloadItem(swarm.put("x.torrent", one.torrent), str(tmp_path / one.name)) for one in absent]
        await client.add_torrents(items)
        async with asyncio.timeout(PATIENCE):
            while [one.detail for one in await client.query_status([one.hash for one in absent])].count("queued") != 1:
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("enough", [{"seed_seconds": 0.0}, {"ratio": 0.0}])
async def test_a_torrent_is_seeded_until_it_is_enough(
    outbound: Outbound, unused_port: int, swarm: Swarm, tmp_path: Path, enough: dict[str, Any]
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


async def test_a_torrent_is_complete_once_its_last_block_is_written(
    options: EmbeddedOptions, swarm: Swarm, tmp_path: Path
) -> None:
    """libtorrent finishes a torrent while its last blocks wait to be written: whoever copied it then would copy zeros."""
    release = swarm.release("Kura.written.mkv")
    # All of it lies there, so libtorrent finishes it as soon as it has looked.
    (tmp_path / release.name).write_bytes(release.content)
    item = DownloadItem(release.magnet, str(tmp_path))
    source = TorrentSource(item, release.hash, DownloadType.TORRENT, read_torrent(release.torrent))
    torrents = Torrents(tmp_path / "notes", options)
    await asyncio.to_thread(torrents.open)
    try:
        await asyncio.to_thread(torrents.add, source)
        async with asyncio.timeout(PATIENCE):
            while not (found := torrents.status(source.hash)) or found.progress < 1.0:
                await asyncio.sleep(0.02)
            # It has everything, and nothing was said yet about what is written.
            assert found.status is TransferStatus.DOWNLOADING
            while (now := torrents.status(source.hash)) is None or now.status is not TransferStatus.COMPLETED:
                await asyncio.to_thread(torrents.tend)
                await asyncio.sleep(0.02)
            while not lt.read_resume_data((tmp_path / "notes" / f"{source.hash}.resume").read_bytes()).have_pieces:
                await asyncio.to_thread(torrents.tend)
                await asyncio.sleep(0.02)
    finally:
        await asyncio.to_thread(torrents.close)
    again = Torrents(tmp_path / "notes", options)
    await asyncio.to_thread(again.open)
    try:
        # After a restart nothing waits to be written, so it is complete before anything is heard.
        async with asyncio.timeout(PATIENCE):
            while (known := again.status(source.hash)) is None or known.status is not TransferStatus.COMPLETED:
                await asyncio.sleep(0.02)
    finally:
        await asyncio.to_thread(again.close)


async def test_files_are_told_by_the_names_that_they_have_on_the_disk(
    client: EmbeddedClient, swarm: Swarm, tmp_path: Path
) -> None:
    """Of two names that are one on some disks, libtorrent changes the second."""
    pieces = {"Kura - 01.mkv": b"first", "kura - 01.MKV": b"second"}
    content = b"".join(pieces.values())
    info = {
        b"name": b"Twins",
        b"piece length": 16384,
        b"pieces": hashlib.sha1(content, usedforsecurity=False).digest(),
        b"files": [{b"length": len(part), b"path": [name.encode()]} for name, part in pieces.items()],
    }
    whole: dict[bytes, Any] = {b"info": info}
    torrent = lt.bencode(whole)
    (tmp_path / "1" / "Twins").mkdir(parents=True)
    for name, part in zip(("Kura - 01.mkv", "kura - 01.1.MKV"), pieces.values(), strict=True):
        (tmp_path / "1" / "Twins" / name).write_bytes(part)
    await client.add_torrents([DownloadItem(swarm.put("twins.torrent", torrent), str(tmp_path / "1"))])
    done = await until(client, read_torrent(torrent).hash, status=TransferStatus.COMPLETED)
    assert done.files is not None
    assert [(tmp_path / "1" / file.path).read_bytes() for file in done.files] == list(pieces.values())


async def test_torrents_are_looked_after_whatever_goes_wrong_once(outbound: Outbound, tmp_path: Path) -> None:
    """A fault in one look must not be the last one: nothing would end its seeding, or be kept, any more."""
    clock = ManualClock()
    client = EmbeddedClient(tmp_path, outbound, clock=clock)
    looks: list[str | None] = []

    class Faulty:
        def tend(self) -> int:
            looks.append(client.trouble)
            if len(looks) < 30:
                raise RuntimeError("invalid torrent handle used")
            return 0

    tending = asyncio.create_task(client._tend(cast("Torrents", Faulty())))
    async with asyncio.timeout(PATIENCE):
        while len(looks) < 31:
            clock.advance(1)
            await asyncio.sleep(0.001)
    assert looks[0] is None
    assert "invalid torrent handle used" in (looks[29] or "")
    assert client.trouble is None
    client._ended.set()
    await tending
