"""qBittorrent 5, from what it was seen to answer: no such version was asked here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from urllib.parse import parse_qs

import httpcore2
import pytest

from kurabito.downloads.clients.qbittorrent import QBittorrentClient
from kurabito.downloads.clients.transport import Calls
from kurabito.downloads.errors import DownloaderLoginRefused, TransferNotFound
from kurabito.downloads.items import DownloadItem, ItemStatus, Owner, TransferStatus
from kurabito.http import Outbound

TLS = httpcore2.default_ssl_context()
V1, V2 = "a" * 40, "b" * 64
OTHER = "c" * 40
LATE = "f" * 40


class Recorded:
    """Answers as version 5 does: 401 for a bad login, stopped for paused, start and stop, and counts for what was added."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        self.state = "stoppedDL"
        self.session = 0
        self.url = ""
        self.looks_until_listed = 1_000
        """A torrent that was added a moment ago is listed when it was read."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        headers = dict(line.split(": ", 1) for line in head.lower().split("\r\n")[1:-2])
        body = (await reader.readexactly(int(headers.get("content-length", 0)))).decode("latin-1")
        path = head.split(" ")[1].removeprefix("/api/v2/")
        self.asked.append((path, parse_qs(body)))
        known = f"sid={self.session}" in headers.get("cookie", "") and self.session > 0
        status, more, content = self._answer(path, parse_qs(body), known=known)
        writer.write(f"HTTP/1.1 {status}\r\n{more}Connection: close\r\nContent-Length: {len(content)}\r\n\r\n".encode())
        writer.write(content.encode())
        await writer.drain()
        writer.close()

    def _answer(self, path: str, form: dict[str, list[str]], *, known: bool) -> tuple[str, str, str]:
        json_type = "Content-Type: application/json\r\n"
        if path == "auth/login":
            if form["password"] != ["right"]:
                return "401 Unauthorized", "", ""
            self.session += 1
            return "204 No Content", f"Set-Cookie: SID={self.session}; HttpOnly; path=/\r\n", ""
        if not known:
            return "403 Forbidden", "", "Forbidden"
        if path == "app/webapiVersion":
            return "200 OK", "", "2.11.4"
        if path == "torrents/info":
            torrent = {
                "hash": V2[:40], "infohash_v1": V1, "infohash_v2": V2, "state": self.state, "progress": 0.5,
                "size": 1000, "dlspeed": 0, "num_seeds": 0, "num_leechs": 0, "tags": "mine, kurabito",
            }  # fmt: skip
            self.looks_until_listed -= 1
            late = [{**torrent, "hash": LATE, "infohash_v1": LATE, "infohash_v2": ""}]
            return "200 OK", json_type, json.dumps([torrent, *(late if self.looks_until_listed <= 0 else [])])
        if path == "torrents/add":
            failed = form["urls"][0].endswith(("bad", LATE))
            counts = {"success_count": 0, "pending_count": int(not failed), "failure_count": int(failed)}
            return ("409 Conflict" if failed else "202 Accepted"), json_type, json.dumps(counts)
        return ("200 OK", "", "") if path in ("torrents/stop", "torrents/start") else ("404 Not Found", "", "")


@pytest.fixture
async def recorded() -> AsyncIterator[Recorded]:
    recorded = Recorded()
    async with await asyncio.start_server(recorded.serve, "127.0.0.1", 0) as server:
        recorded.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield recorded


async def test_the_words_of_version_5_are_understood(recorded: Recorded) -> None:
    async with Outbound(tls=TLS) as outbound, Calls("qBittorrent", recorded.url, TLS) as calls:
        client = QBittorrentClient(calls, outbound)
        with pytest.raises(DownloaderLoginRefused):
            await client.login("kura", "wrong")
        await client.login("kura", "right")

        # A hybrid torrent is asked for by its v1 hash, and called by the beginning of its v2 hash.
        (status,) = await client.query_status([V1])
        assert (status.hash, status.status, status.detail) == (V1, TransferStatus.DOWNLOADING, "paused")
        await client.pause_torrent(V1)
        await client.resume_torrent(V1)
        assert recorded.asked[-1] == ("torrents/start", {"hashes": [V2[:40]]})
        assert ("torrents/stop", {"hashes": [V2[:40]]}) in recorded.asked
        recorded.state = "missingFiles"
        assert (await client.query_status([V1]))[0].status is TransferStatus.ERROR

        # The session ended there: the client logs in again by itself.
        recorded.session += 1
        magnets = [f"magnet:?xt=urn:btih:{OTHER}", f"magnet:?xt=urn:btih:{'d' * 40}&dn=bad"]
        results = await client.add_torrents([DownloadItem(url, "/downloads/1") for url in magnets])
        assert [result.status for result in results] == [ItemStatus.ACCEPTED, ItemStatus.REJECTED]
        with pytest.raises(TransferNotFound):
            await client.pause_torrent("e" * 40)


async def test_what_is_being_added_already_is_found_when_it_is_listed(recorded: Recorded) -> None:
    async with Outbound(tls=TLS) as outbound, Calls("qBittorrent", recorded.url, TLS) as calls:
        client = QBittorrentClient(calls, outbound)
        await client.login("kura", "right")
        # One look before it is offered, and one after it was refused, do not see it yet.
        recorded.looks_until_listed = 3
        (result,) = await client.add_torrents([DownloadItem(f"magnet:?xt=urn:btih:{LATE}", "/downloads/1")])
        assert (result.status, result.owner) == (ItemStatus.ACCEPTED, Owner.KURABITO)
