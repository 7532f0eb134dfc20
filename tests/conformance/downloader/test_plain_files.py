"""A plain file is complete when it is the file: one piece after the other of the same content, and not a page about it."""

from __future__ import annotations

import asyncio
import errno
import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from tests.support.waiting import PATIENCE

from kurabito.downloads.clients.embedded import EmbeddedClient, EmbeddedOptions, files
from kurabito.downloads.clients.embedded.file_fetch import FileFetch
from kurabito.downloads.clients.embedded.kept import keep
from kurabito.downloads.clients.sources import hash_of_url
from kurabito.downloads.items import DownloadItem, DownloadStatus, TransferStatus

if TYPE_CHECKING:
    from kurabito.http import Outbound

pytestmark = pytest.mark.asyncio(loop_scope="module")
PIECE = 8 * 1024 * 1024
PAGE = b"\n<!DOCTYPE html><html><body>Please log in</body></html>"


@dataclass
class Host:
    """Has one file, which may become another between two requests."""

    content: bytes
    headers: dict[str, str] = field(default_factory=dict)
    honours_if_range: bool = True
    between: list[Callable[[], None]] = field(default_factory=list)
    """What happens after each answer, one after the other."""
    asked: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")[1:-2]
                asked = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                self.asked.append(asked)
                writer.write(self._answer(asked))
                await writer.drain()
                if self.between:
                    self.between.pop(0)()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, asked: dict[str, str]) -> bytes:
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", asked.get("range", ""))
        known = {self.headers.get("ETag"), self.headers.get("Last-Modified")}
        if self.honours_if_range and asked.get("if-range", next(iter(known))) not in known:
            span = None
        if span is None:
            return self._said("200 OK", self.content)
        begin, end = int(span[1]), min(int(span[2]), len(self.content) - 1)
        if begin >= len(self.content):
            return self._said("416 Range Not Satisfiable", b"", f"Content-Range: bytes */{len(self.content)}\r\n")
        more = f"Content-Range: bytes {begin}-{end}/{len(self.content)}\r\n"
        return self._said("206 Partial Content", self.content[begin : end + 1], more)

    def _said(self, status: str, body: bytes, more: str = "") -> bytes:
        told = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{told}{more}\r\n".encode() + body

    def becomes(self, content: bytes, **headers: str) -> Callable[[], None]:
        """Has another file from then on."""

        def change() -> None:
            self.content = content
            self.headers |= {name.replace("_", "-"): value for name, value in headers.items()}

        return change


@pytest_asyncio.fixture(loop_scope="module")
async def host() -> AsyncIterator[Host]:
    host = Host(b"")
    server = await asyncio.start_server(host.serve, "127.0.0.1", 0)
    host.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/Kura%20-%2001.mkv"
    yield host
    server.close()


@pytest_asyncio.fixture(loop_scope="module")
async def client(tmp_path: Path, outbound: Outbound, unused_port: int) -> AsyncIterator[EmbeddedClient]:
    options = EmbeddedOptions(port=unused_port, interface="127.0.0.1", finds_peers=False)
    async with EmbeddedClient(tmp_path / "notes", outbound, options) as client:
        yield client


async def ended(client: EmbeddedClient, host: Host) -> DownloadStatus:
    async with asyncio.timeout(PATIENCE):
        while True:
            (status,) = await client.query_status([hash_of_url(host.url)])
            if status.status is not TransferStatus.DOWNLOADING:
                return status
            await asyncio.sleep(0.02)


def content_of(letter: bytes, size: int) -> bytes:
    return letter * size


@pytest.mark.parametrize("size", [len(PAGE), PIECE + 5])
@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "video/x-matroska", None])
async def test_a_page_is_not_the_file_that_was_asked_for(
    client: EmbeddedClient, host: Host, tmp_path: Path, kind: str | None, size: int
) -> None:
    host.content = PAGE.ljust(size)
    host.headers = {"ETag": '"1"'} | ({"Content-Type": kind} if kind else {})
    item = DownloadItem(host.url, str(tmp_path / "1"))
    await client.add_torrents([item])
    status = await ended(client, host)
    assert status.status is TransferStatus.ERROR
    assert "a web page and not the file" in str(status.detail)
    assert not list((tmp_path / "1").glob("*"))
    # Asked for again when the host has the file, it is fetched.
    host.content, host.headers = content_of(b"k", 1000), {"Content-Type": "video/x-matroska"}
    await client.add_torrents([item])
    assert (await ended(client, host)).status is TransferStatus.COMPLETED
    assert (tmp_path / "1" / "Kura - 01.mkv").read_bytes() == host.content


async def test_a_page_that_was_asked_for_is_a_file(client: EmbeddedClient, host: Host, tmp_path: Path) -> None:
    host.content, host.headers = PAGE, {"Content-Type": "text/html"}
    host.url = host.url.replace(".mkv", ".html")
    await client.add_torrents([DownloadItem(host.url, str(tmp_path / "1"))])
    assert (await ended(client, host)).status is TransferStatus.COMPLETED


async def test_a_host_that_calls_everything_a_page_has_files_all_the_same(
    client: EmbeddedClient, host: Host, tmp_path: Path
) -> None:
    host.content, host.headers = b"\x1aE\xdf\xa3\x01\x00\x00" * 1000, {"Content-Type": "text/html"}
    await client.add_torrents([DownloadItem(host.url, str(tmp_path / "1"))])
    assert (await ended(client, host)).status is TransferStatus.COMPLETED


@pytest.mark.parametrize("honours", [True, False])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"ETag": '"1"'}, {"ETag": '"2"'}),
        ({"ETag": 'W/"1"'}, {"ETag": 'W/"2"'}),
        (
            {"Last-Modified": "Mon, 01 Jun 2026 10:00:00 GMT"},
            {"Last-Modified": "Tue, 02 Jun 2026 10:00:00 GMT"},
        ),
    ],
)
async def test_a_file_that_changes_while_it_is_fetched_is_fetched_from_its_beginning(
    client: EmbeddedClient,
    host: Host,
    tmp_path: Path,
    before: dict[str, str],
    after: dict[str, str],
    honours: bool,
) -> None:
    size = 2 * PIECE + 7
    host.content, host.headers, host.honours_if_range = content_of(b"a", size), dict(before), honours
    host.between = [host.becomes(content_of(b"b", size), **{name.replace("-", "_"): v for name, v in after.items()})]
    await client.add_torrents([DownloadItem(host.url, str(tmp_path / "1"))])
    status = await ended(client, host)
    assert (status.status, status.size) == (TransferStatus.COMPLETED, size)
    assert (tmp_path / "1" / "Kura - 01.mkv").read_bytes() == host.content
    strong = next(iter(before.values()))
    if not strong.startswith("W/"):
        assert host.asked[1]["if-range"] == strong


@pytest.mark.parametrize("size", [100, PIECE + 1, 0])
async def test_a_file_that_shrank_is_fetched_from_its_beginning(
    client: EmbeddedClient, host: Host, tmp_path: Path, size: int
) -> None:
    host.content, host.headers, host.honours_if_range = content_of(b"a", 3 * PIECE), {}, False
    host.between = [lambda: None, host.becomes(content_of(b"b", size))]
    await client.add_torrents([DownloadItem(host.url, str(tmp_path / "1"))])
    status = await ended(client, host)
    assert (status.status, status.size) == (TransferStatus.COMPLETED, size)
    assert (tmp_path / "1" / "Kura - 01.mkv").read_bytes() == host.content


async def test_a_host_that_names_each_answer_anew_is_asked_for_the_whole(
    client: EmbeddedClient, host: Host, tmp_path: Path
) -> None:
    host.content, host.honours_if_range = content_of(b"a", 2 * PIECE), False
    host.headers = {"ETag": '"0"'}
    host.between = [host.becomes(host.content, ETag=f'"{number}"') for number in range(1, 20)]
    await client.add_torrents([DownloadItem(host.url, str(tmp_path / "1"))])
    assert (await ended(client, host)).status is TransferStatus.COMPLETED
    assert (tmp_path / "1" / "Kura - 01.mkv").read_bytes() == host.content
    assert "range" not in host.asked[-1]


async def test_a_fault_of_ours_ends_a_download_and_is_told(
    client: EmbeddedClient, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_fetch: FileFetch) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(FileFetch, "run", fail)
    await client.add_torrents([DownloadItem(host.url, str(tmp_path / "1"))])
    status = await ended(client, host)
    assert status.status is TransferStatus.ERROR
    assert "ValueError" in (status.detail or "")
    monkeypatch.undo()
    # It is tried again like any other that failed.
    host.content = b"video"
    await client.add_torrents([DownloadItem(host.url, str(tmp_path / "1"))])
    assert (await ended(client, host)).status is TransferStatus.COMPLETED


async def test_a_disk_that_takes_no_note_does_not_hide_how_a_download_ended(
    client: EmbeddedClient, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.content = b"video"

    def full(path: Path, content: bytes) -> None:
        if json.loads(content)["is_complete"]:
            raise OSError(errno.ENOSPC, "No space left on device")
        keep(path, content)

    monkeypatch.setattr(files, "keep", full)
    await client.add_torrents([DownloadItem(host.url, str(tmp_path / "1"))])
    assert (await ended(client, host)).status is TransferStatus.COMPLETED
    async with asyncio.timeout(PATIENCE):
        while client._files._running:
            await asyncio.sleep(0.02)
