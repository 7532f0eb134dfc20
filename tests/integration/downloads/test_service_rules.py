"""What the service does by itself: it does not hammer at a closed door, and it finds a core that was away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpcore2
import pytest

from kurabito.catalog.download_types import DownloadType
from kurabito.clock import ManualClock
from kurabito.downloads.announcer import Announcement, Announcer, Credentials
from kurabito.downloads.errors import DownloaderLoginRefused
from kurabito.downloads.items import CancelResult, DownloadItem, DownloadItemResult, DownloadStatus
from kurabito.downloads.service import DownloaderService
from kurabito.errors import InvalidInput
from kurabito.http import Outbound

TLS = httpcore2.default_ssl_context()


class Locked:
    """A program that lets in whoever has the password that it has today."""

    def __init__(self) -> None:
        self.password = "new"
        self.logins = 0
        self.asked: list[Sequence[str]] = []

    async def login(self, username: str, password: str) -> None:
        self.logins += 1
        if password != self.password:
            raise DownloaderLoginRefused("the program does not know this password")

    async def query_status(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        self.asked.append(hashes)
        return []

    async def add_torrents(self, items: Sequence[DownloadItem]) -> list[DownloadItemResult]:
        return [DownloadItemResult.accepted(item.url, "a" * 40) for item in items]

    async def cancel_torrents(self, hashes: Sequence[str]) -> list[CancelResult]:
        raise NotImplementedError

    async def pause_torrent(self, hash: str) -> None:  # noqa: A002 - the port's own name
        raise NotImplementedError

    async def resume_torrent(self, hash: str) -> None:  # noqa: A002
        raise NotImplementedError

    async def delete_torrent(self, hash: str, delete_files: bool) -> None:  # noqa: A002
        raise NotImplementedError


async def test_a_refused_password_is_not_tried_again_at_once() -> None:
    clock, client = ManualClock(), Locked()
    service = DownloaderService(client, username="kura", password="old", clock=clock)
    for _ in range(5):
        with pytest.raises(DownloaderLoginRefused):
            await service.status([])
    assert client.logins == 1
    client.password = "old"
    clock.advance(61)
    await service.status(["A" * 40, "a" * 40])
    await service.status([])
    assert client.logins == 2
    assert client.asked == [["a" * 40], []]
    with pytest.raises(InvalidInput):
        await service.status(["../../etc"])


async def test_nothing_is_saved_outside_of_the_download_root() -> None:
    service = DownloaderService(Locked(), password="new", download_root="/downloads", clock=ManualClock())
    paths = ["/downloads/kura/1", "/downloads/../etc", "/downloadsx/1", "kura", "/etc", "C:\\downloads\\1"]
    results = await service.add([DownloadItem("magnet:?x", path) for path in paths])
    assert [result.hash for result in results] == ["a" * 40, *[None] * 5]
    windows = DownloaderService(Locked(), password="new", clock=ManualClock())
    (result,) = await windows.add([DownloadItem("magnet:?x", "C:\\downloads\\1")])
    assert result.hash == "a" * 40


class Core:
    """Answers as it is told, one request after the other, and after that no more."""

    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.is_over = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        if not self.answers:
            self.is_over.set()
            writer.close()
            return
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:-2])
        await reader.readexactly(int(headers.get("content-length", 0)))
        self.asked.append(head.split(" ")[1])
        if self.answers.pop(0):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            await writer.drain()
        writer.close()


class Hurried(ManualClock):
    """A clock on which whoever waits has waited already."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        self.waits.append(seconds)
        self.advance(seconds)
        return event.is_set()


async def test_a_core_that_was_away_is_told_again_with_back_off() -> None:
    core, clock = Core(True, True, False, False, False, False, True, True), Hurried()
    said = Announcement(
        name="nas", host="127.0.0.1", port=8485, download_types=[DownloadType.HTTP], credentials=Credentials("1", "t")
    )
    async with await asyncio.start_server(core.serve, "127.0.0.1", 0) as server, Outbound(tls=TLS) as outbound:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        running = asyncio.create_task(Announcer(outbound, url, "key", said, clock=clock).run())
        await core.is_over.wait()
        running.cancel()
        await asyncio.wait({running})
    register, health = "/services/register", "/health"
    assert core.asked == [register, health, health, register, register, register, register, health]
    assert clock.waits[:7] == [15, 15, 1, 2, 4, 15, 15]
