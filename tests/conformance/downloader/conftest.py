"""Every client with its real program, and a little internet on loopback to download from."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import random
import re
import socket
import subprocess
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpcore2
import httpx2
import libtorrent as lt
import pytest
import pytest_asyncio
from tests.support.waiting import PATIENCE

from kurabito.downloads.client import DownloaderClient
from kurabito.downloads.clients.embedded import EmbeddedOptions
from kurabito.downloads.clients.embedded.options import RESUME_SUFFIX
from kurabito.downloads.clients.factory import ClientName, open_client
from kurabito.downloads.errors import DownloaderUnavailable
from kurabito.downloads.items import DownloadItem, DownloadStatus, TransferStatus
from kurabito.http import Outbound

TLS = httpcore2.default_ssl_context()
PIECE = 16 * 1024
USER, PASSWORD = "kura", "s3cret-of-the-test"


@dataclass
class Release:
    """Something that can be downloaded."""

    name: str
    content: bytes
    torrent: bytes
    hash: str
    magnet: str
    handle: lt.torrent_handle
    dials: bool = True
    """Whether the seeder connects to programs by itself, as whoever was turned away waits before it asks again."""
    dialled: int = 0
    _looks: int = 0

    def seed(self) -> None:
        """Be there for those who want it."""
        self.handle.resume()

    def leave(self) -> None:
        """Be there for nobody, as soon as this returns."""
        self.handle.pause()
        self.handle.status()

    def dial(self, program: Program) -> None:
        """Connect to a program, under another of its addresses each time: a broken connection is not mended at once."""
        self._looks += 1
        if not (self.dials or program.needs_to_be_dialled) or self.handle.get_peer_info():
            return
        if self._looks % 8 == 1:
            self.handle.connect_peer((f"127.0.0.{self.dialled % program.addresses + 1}", program.peer_port))
            self.dialled += 1


@dataclass(frozen=True)
class Seen:
    """A torrent as the user of a program sees it."""

    folder: str
    is_paused: bool


@dataclass
class Swarm:
    """Seeds what is made, and answers for it over HTTP."""

    folder: Path
    port: int = 0
    paths: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    """What the tracker says at some addresses to those whom it gives no peers."""
    pieces_before_break: int | None = None
    """When set, so many answers are whole and the next one breaks off."""
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def __aenter__(self) -> Swarm:
        self.session = lt.session(
            {
                "listen_interfaces": "127.0.0.1:0",
                # Transmission greets one caller of an address at a time, for half a minute if that one says nothing.
                "outgoing_interfaces": ",".join(f"127.0.0.{number}" for number in range(1, 250)),
                "enable_dht": False,
                "enable_lsd": False,
                "enable_upnp": False,
                "enable_natpmp": False,
                "enable_outgoing_utp": False,
                "enable_incoming_utp": False,
                "allow_multiple_connections_per_ip": True,
                # Dialled before it is ready, a program is dialled again soon.
                "min_reconnect_time": 1,
                "max_failcount": 1000,
                "out_enc_policy": 2,
                "alert_mask": 0,
            }
        )
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
        await asyncio.to_thread(self.session.pause)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{quote(path)}"

    def put(self, name: str, content: bytes) -> str:
        """Where the content is found from now on: under that name, and nothing else there."""
        path = f"{len(self.paths)}/{name}"
        self.paths[path] = content
        return self.url(path)

    def release(
        self,
        name: str,
        *,
        size: int = 40_000,
        seeded: bool = True,
        path: tuple[str, ...] = (),
        also: Sequence[dict[bytes, Any]] = (),
        parts: Sequence[str] = (),
        passkey: str | None = None,
    ) -> Release:
        """A torrent of one file, like no other; `path` puts it below the torrent's own folder, however odd that is.

        With `parts` it has these files, each with as much of the content; with a passkey it is private, and its tracker is
        asked with that.
        """
        folder = self.folder / str(len(self.releases))
        content = random.Random(str(folder)).randbytes(size)
        pieces = b"".join(
            hashlib.sha1(content[at : at + PIECE], usedforsecurity=False).digest() for at in range(0, size, PIECE)
        )
        info: dict[bytes, Any] = {b"name": name.encode(), b"piece length": PIECE, b"pieces": pieces}
        share = size // max(1, len(parts))
        if parts:
            names = [part.split("/") for part in parts]
            info[b"files"] = [{b"length": share, b"path": [one.encode() for one in name]} for name in names]
        elif path:
            info[b"files"] = [{b"length": size, b"path": [part.encode() for part in path]}, *also]
        else:
            info[b"length"] = size
        if passkey is not None:
            info[b"private"] = 1
        # libtorrent asks no tracker of its own machine under another address than this.
        announce = self.url("announce" if passkey is None else f"announce/{passkey}")
        whole: dict[bytes, Any] = {b"announce": announce.encode(), b"info": info}
        torrent = lt.bencode(whole)
        digest = hashlib.sha1(lt.bencode(info), usedforsecurity=False).hexdigest()
        params = lt.load_torrent_buffer(torrent)
        params.save_path = str(folder)
        assert params.ti is not None
        for place in range(max(1, len(parts))):
            here = folder / params.ti.layout().file_path(place)
            here.parent.mkdir(parents=True, exist_ok=True)
            here.write_bytes(content[place * share : (place + 1) * share])
        params.flags &= ~lt.torrent_flags.auto_managed
        # Whoever came while it is being checked would be turned away.
        params.flags |= lt.torrent_flags.seed_mode
        if not seeded:
            params.flags |= lt.torrent_flags.paused
        else:
            params.flags &= ~lt.torrent_flags.paused
        handle = self.session.add_torrent(params)
        magnet = f"magnet:?xt=urn:btih:{digest}&dn={quote(name)}&tr={quote(announce, safe='')}"
        release = Release(name, content, torrent, digest, magnet, handle)
        self.releases.append(release)
        return release

    def dial(self, program: Program, name: str) -> None:
        """Connect to a program that waits for it."""
        for release in self.releases:
            if release.hash == name:
                release.dial(program)

    def _answer(self, path: str, headers: dict[str, str]) -> bytes:
        if path.startswith("announce"):
            peers = b"\x7f\x00\x00\x01" + self.session.listen_port().to_bytes(2, "big")
            answer: dict[bytes, Any] = {b"interval": 2, b"min interval": 1, b"peers": peers}
            if path in self.refusals:
                answer = {b"failure reason": self.refusals[path].encode()}
            return _response("200 OK", lt.bencode(answer))
        if path not in self.paths:
            return _response("404 Not Found", b"")
        whole = self.paths[path]
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("range", ""))
        if span is None:
            return _response("200 OK", whole)
        begin, end = int(span[1]), min(int(span[2] or len(whole)), len(whole) - 1)
        if begin >= len(whole):
            return _response("416 Range Not Satisfiable", b"")
        more = f"Content-Range: bytes {begin}-{end}/{len(whole)}\r\n"
        return _response("206 Partial Content", whole[begin : end + 1], more)

    def _breaks(self, path: str) -> bool:
        if self.pieces_before_break is None or path == "announce":
            return False
        left, self.pieces_before_break = self.pieces_before_break, self.pieces_before_break - 1
        if left == 0:
            self.pieces_before_break = None
        return left == 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode("latin-1").split("\r\n")[:-2]
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                path = unquote(first.split(" ")[1].lstrip("/").partition("?")[0])
                self.asked.append(f"{path} {headers.get('range', '')}".strip())
                answer = self._answer(path, headers)
                if self._breaks(path):
                    writer.write(answer[:1000])
                    await writer.drain()
                    return
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()


def _response(status: str, body: bytes, more: str = "") -> bytes:
    head = f'HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nAccept-Ranges: bytes\r\nETag: "1"\r\n{more}\r\n'
    return head.encode() + body


def free_port() -> int:
    """A port that stays free while its program is away: none of those that connections are given."""
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Program(ABC):
    """A program that downloads, and how we speak to it."""

    name: ClientName
    takes_http = False
    needs_to_be_dialled = False
    """Whether it would never connect to an address of this machine by itself."""
    addresses = 250
    """On how many of the addresses of this machine it listens."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.notes.mkdir(parents=True)
        self.port, self.peer_port, self.service_port = free_port(), free_port(), free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @abstractmethod
    def command(self) -> list[str]:
        """How it is started."""

    async def start(self) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        self._process = subprocess.Popen(
            self.command(), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                assert self._process.poll() is None, f"{self.name} ended with {self._process.returncode}"
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return

    async def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            await asyncio.to_thread(self._process.wait, 30)
            self._process = None

    async def crash(self) -> None:
        """Lose it at this moment, with whatever it has not written down yet, and start it again."""
        assert self._process is not None
        self._process.kill()
        await asyncio.to_thread(self._process.wait, 30)
        await self.start()

    @asynccontextmanager
    async def client(self, outbound: Outbound) -> AsyncIterator[DownloaderClient]:
        """A client that is not logged in."""
        async with open_client(self.name, self.url, self.notes, outbound, self.options()) as opened:
            yield opened.client

    def options(self) -> EmbeddedOptions | None:
        return None

    async def hurry(self, client: DownloaderClient) -> None:
        """Have it look now for what it can do; most do so by themselves."""
        return

    async def add_by_hand(self, release: Release, folder: Path) -> None:
        """What its user does without us: add a torrent, into a folder of the user's choice."""
        raise AssertionError(f"{self.name} has no user of its own")

    async def seen_by_hand(self, release: Release) -> Seen | None:
        """What its user sees of a torrent; None when it is gone."""
        raise AssertionError(f"{self.name} has no user of its own")

    async def seed_goal(self, release: Release) -> tuple[float, float] | None:
        """Until which ratio and for how many minutes it seeds a torrent, as its user sees it; None where that is not seen."""
        return None

    def goal_of(self, ratio: float, minutes: float) -> tuple[float, float] | None:
        """What `seed_goal` is after this was asked for."""
        return ratio, minutes

    async def trackers(self, release: Release) -> list[str]:
        """The trackers that it asks for the peers of a torrent."""
        raise AssertionError(f"{self.name} tells no trackers")

    async def remove_by_hand(self, release: Release) -> None:
        """What its user does with a torrent that has served."""
        raise AssertionError(f"{self.name} has no user of its own")

    async def all_by_hand(self) -> dict[str, Seen]:
        """Everything that its user sees, by hash."""
        raise AssertionError(f"{self.name} has no user of its own")


class QBittorrent(Program):
    name = ClientName.QBITTORRENT

    async def seed_goal(self, release: Release) -> tuple[float, float] | None:
        (torrent,) = await self.call("torrents/info", {"hashes": release.hash})
        return torrent["ratio_limit"], torrent["seeding_time_limit"]

    async def trackers(self, release: Release) -> list[str]:
        listed = json.loads(await self.call("torrents/trackers", {"hash": release.hash}))
        own = [one for one in listed if one["url"].startswith("** [")]
        # Other ways to peers are listed too, and why they are not taken.
        assert {one["status"] for one in own} == {0}
        return [one["url"] for one in listed if one not in own]

    async def call(self, path: str, data: dict[str, Any] | None = None, **rest: Any) -> Any:
        """What it answers to its user."""
        async with httpx2.AsyncClient(base_url=self.url, trust_env=False, headers={"Referer": self.url}) as http:
            await http.post("/api/v2/auth/login", data={"username": USER, "password": PASSWORD})
            answer = await http.post(f"/api/v2/{path}", data=data, **rest)
            return answer.json() if path.startswith("torrents/info") else answer.text

    async def add_by_hand(self, release: Release, folder: Path) -> None:
        file = ("by-hand.torrent", release.torrent, "application/x-bittorrent")
        data = {"savepath": str(folder), "autoTMM": "false"}
        assert await self.call("torrents/add", data, files={"torrents": file}) == "Ok."
        async with asyncio.timeout(PATIENCE):
            while await self.seen_by_hand(release) is None:
                await asyncio.sleep(0.02)

    async def seen_by_hand(self, release: Release) -> Seen | None:
        return (await self.all_by_hand()).get(release.hash)

    async def all_by_hand(self) -> dict[str, Seen]:
        found = await self.call("torrents/info", {})
        return {one["hash"]: Seen(one["save_path"], one["state"].startswith("paused")) for one in found}

    async def remove_by_hand(self, release: Release) -> None:
        await self.call("torrents/delete", {"hashes": release.hash, "deleteFiles": "false"})

    def command(self) -> list[str]:
        settings = self.folder / "qBittorrent" / "config" / "qBittorrent.conf"
        if not settings.exists():
            salt = bytes(range(16))
            digest = hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), salt, 100_000, 64)
            kept = f"@ByteArray({base64.b64encode(salt).decode()}:{base64.b64encode(digest).decode()})"
            settings.parent.mkdir(parents=True)
            settings.write_text(
                "[LegalNotice]\nAccepted=true\n"
                "[BitTorrent]\n"
                f"Session\\Port={self.peer_port}\n"
                "Session\\DHTEnabled=false\nSession\\LSDEnabled=false\nSession\\PeXEnabled=false\n"
                "Session\\QueueingSystemEnabled=false\nSession\\MultiConnectionsPerIp=true\n"
                "Session\\BTProtocol=TCP\n"
                "[Preferences]\n"
                "WebUI\\Address=127.0.0.1\nWebUI\\LocalHostAuth=true\nWebUI\\MaxAuthenticationFailCount=100\n"
                f'WebUI\\Username={USER}\nWebUI\\Password_PBKDF2="{kept}"\n'
                "Connection\\UPnP=false\n"
            )
        return ["qbittorrent-nox", f"--profile={self.folder}", f"--webui-port={self.port}"]


class Transmission(Program):
    name = ClientName.TRANSMISSION
    needs_to_be_dialled = True
    _looks = 0

    async def seed_goal(self, release: Release) -> tuple[float, float] | None:
        found = await self.call("torrent-get", ids=[release.hash], fields=["seedRatioLimit", "seedRatioMode"])
        (torrent,) = found["torrents"]
        return (torrent["seedRatioLimit"], 0.0) if torrent["seedRatioMode"] == 1 else None

    async def trackers(self, release: Release) -> list[str]:
        found = await self.call("torrent-get", ids=[release.hash], fields=["trackers", "isPrivate"])
        (torrent,) = found["torrents"]
        assert torrent["isPrivate"]
        return [one["announce"] for one in torrent["trackers"]]

    def goal_of(self, ratio: float, minutes: float) -> tuple[float, float] | None:
        # It knows no time for which a torrent is seeded.
        return ratio, 0.0

    def command(self) -> list[str]:
        settings = self.folder / "settings.json"
        if not settings.exists():
            settings.write_text(
                json.dumps(
                    {
                        "rpc-port": self.port,
                        "rpc-bind-address": "127.0.0.1",
                        "rpc-authentication-required": True,
                        "rpc-username": USER,
                        "rpc-password": PASSWORD,
                        "peer-port": self.peer_port,
                        "port-forwarding-enabled": False,
                        "dht-enabled": False,
                        "lpd-enabled": False,
                        "pex-enabled": False,
                        "utp-enabled": False,
                        "download-queue-enabled": False,
                        "download-dir": str(self.folder / "default"),
                    }
                )
            )
        return ["transmission-daemon", "--foreground", "--config-dir", str(self.folder)]

    async def call(self, method: str, **arguments: Any) -> Any:
        """What it answers to its user."""
        async with httpx2.AsyncClient(base_url=self.url, trust_env=False, auth=(USER, PASSWORD)) as http:
            body = {"method": method, "arguments": arguments}
            refused = await http.post("/transmission/rpc", json=body)
            session = {"X-Transmission-Session-Id": refused.headers["X-Transmission-Session-Id"]}
            answer = (await http.post("/transmission/rpc", json=body, headers=session)).json()
            assert answer["result"] == "success", answer
            return answer["arguments"]

    async def add_by_hand(self, release: Release, folder: Path) -> None:
        metainfo = base64.b64encode(release.torrent).decode("ascii")
        assert "torrent-added" in await self.call("torrent-add", metainfo=metainfo, **{"download-dir": str(folder)})

    async def seen_by_hand(self, release: Release) -> Seen | None:
        return (await self.all_by_hand()).get(release.hash)

    async def all_by_hand(self) -> dict[str, Seen]:
        found = (await self.call("torrent-get", fields=["hashString", "downloadDir", "status"]))["torrents"]
        return {one["hashString"]: Seen(one["downloadDir"], one["status"] == 0) for one in found}

    async def remove_by_hand(self, release: Release) -> None:
        await self.call("torrent-remove", ids=[release.hash])

    async def hurry(self, client: DownloaderClient) -> None:
        # Every ten seconds it chooses whose pieces it wants, and a moment after any torrent was started.
        other = "5" * 40
        self._looks += 1
        if self._looks % 5 == 0:
            await client.add_torrents([DownloadItem(f"magnet:?xt=urn:btih:{other}", str(self.folder / "other"))])
            await client.pause_torrent(other)
            await client.resume_torrent(other)


class Aria2(Program):
    name = ClientName.ARIA2
    takes_http = True

    async def seed_goal(self, release: Release) -> tuple[float, float] | None:
        options = await self.ask("aria2.getOption", release.hash[:16])
        return float(options["seed-ratio"]), float(options["seed-time"])

    async def trackers(self, release: Release) -> list[str]:
        tiers = (await self._entries())[release.hash]["bittorrent"]["announceList"]
        return [one for tier in tiers for one in tier]

    def command(self) -> list[str]:
        session = self.folder / "session"
        session.touch()
        return [
            "aria2c", "--no-conf", "--quiet", "--enable-rpc", f"--rpc-listen-port={self.port}",
            f"--rpc-secret={PASSWORD}", f"--dir={self.folder / 'default'}", f"--listen-port={self.peer_port}",
            "--enable-dht=false", "--enable-dht6=false", "--bt-enable-lpd=false", "--enable-peer-exchange=false",
            f"--save-session={session}", f"--input-file={session}", "--force-save=true", "--seed-ratio=0",
            # What earlier tests left with it seeds and holds a slot; there are five of them unless asked for more.
            "--max-concurrent-downloads=100",
        ]  # fmt: skip

    async def downloads(self) -> int:
        """How many it has, without those that only found out what is in a torrent."""
        lists = [("aria2.tellActive", []), ("aria2.tellWaiting", [0, 100]), ("aria2.tellStopped", [0, 100])]
        entries = [entry for method, span in lists for entry in await self.ask(method, *span)]
        return sum("followedBy" not in entry for entry in entries)

    async def add_by_hand(self, release: Release, folder: Path) -> None:
        torrent = base64.b64encode(release.torrent).decode("ascii")
        await self.ask("aria2.addTorrent", torrent, [], {"dir": str(folder), "check-integrity": "true"})

    async def seen_by_hand(self, release: Release) -> Seen | None:
        return (await self.all_by_hand()).get(release.hash)

    async def all_by_hand(self) -> dict[str, Seen]:
        found = await self._entries()
        return {known: Seen(one["dir"], one["status"] == "paused") for known, one in found.items()}

    async def remove_by_hand(self, release: Release) -> None:
        if entry := (await self._entries()).get(release.hash):
            await self.ask("aria2.forceRemove", entry["gid"])
            async with asyncio.timeout(PATIENCE):
                while (await self.ask("aria2.tellStatus", entry["gid"]))["status"] == "active":
                    await asyncio.sleep(0.02)
            await self.ask("aria2.removeDownloadResult", entry["gid"])

    async def _entries(self) -> dict[str, dict[str, Any]]:
        """Every torrent, without what ended and what only found out what is in it."""
        lists = [("aria2.tellActive", []), ("aria2.tellWaiting", [0, 1000]), ("aria2.tellStopped", [0, 1000])]
        entries = [entry for method, span in lists for entry in await self.ask(method, *span)]
        return {
            entry["infoHash"]: entry
            for entry in entries
            if "infoHash" in entry and entry["status"] not in ("error", "removed") and "followedBy" not in entry
        }

    async def ask(self, method: str, *params: Any) -> Any:
        """What it answers to somebody else."""
        body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": [f"token:{PASSWORD}", *params]}
        async with httpx2.AsyncClient(base_url=self.url, trust_env=False) as http:
            return (await http.post("/jsonrpc", json=body)).json()["result"]


class Embedded(Program):
    name = ClientName.EMBEDDED
    takes_http = True
    addresses = 1

    def command(self) -> list[str]:
        raise AssertionError("it needs no other program")

    async def start(self) -> None:
        pass

    async def seed_goal(self, release: Release) -> tuple[float, float] | None:
        ratio, seconds = json.loads((self.notes / f"{release.hash}.seed").read_text())
        return ratio, seconds / 60

    async def trackers(self, release: Release) -> list[str]:
        kept = lt.read_resume_data((self.notes / f"{release.hash}{RESUME_SUFFIX}").read_bytes())
        assert kept.ti is not None
        assert kept.ti.priv()
        return list(kept.trackers)

    def options(self) -> EmbeddedOptions:
        return EmbeddedOptions(port=self.peer_port, interface="127.0.0.1", finds_peers=False)


PROGRAMS: list[type[Program]] = [QBittorrent, Transmission, Aria2, Embedded]


@dataclass
class Rig:
    """A program that runs, a client that is logged in to it, and the swarm that it downloads from."""

    program: Program
    client: DownloaderClient
    swarm: Swarm
    folder: Path
    outbound: Outbound
    opened: AsyncExitStack
    """Closes the client."""

    def save_path(self, name: str) -> str:
        return str(self.folder / name)

    def saved(self, path: str) -> Path:
        return self.folder / path

    async def status(self, name: str) -> DownloadStatus | None:
        found = await self.client.query_status([name])
        return found[0] if found else None

    async def until(self, release: Release | str, **like: Any) -> DownloadStatus:
        """The status of a download once it is like this."""
        name = release if isinstance(release, str) else release.hash
        async with asyncio.timeout(PATIENCE):
            while True:
                status = await self.status(name)
                if status is not None and all(getattr(status, part) == value for part, value in like.items()):
                    return status
                await self._wait(name)

    async def until_settled(self, release: Release) -> None:
        """Wait until a download is complete or given up."""
        async with asyncio.timeout(PATIENCE):
            while (await self.until(release)).status is TransferStatus.DOWNLOADING:
                await self._wait(release.hash)

    async def _wait(self, name: str) -> None:
        self.swarm.dial(self.program, name)
        await self.program.hurry(self.client)
        await asyncio.sleep(0.05)

    async def gone(self, path: str) -> None:
        """Wait until a file is gone: some programs delete a moment later."""
        async with asyncio.timeout(PATIENCE):
            while self.saved(path).exists():
                await asyncio.sleep(0.05)

    async def restart(self) -> None:
        """Stop the program, see that it is away, and start it again."""
        if isinstance(self.program, Embedded):
            await self.opened.aclose()
            self.client = await self.opened.enter_async_context(self.program.client(self.outbound))
            return
        await self.program.stop()
        with pytest.raises(DownloaderUnavailable):
            await self.client.query_status([])
        await self.program.start()

    async def until_complete(self, *releases: Release | str) -> list[DownloadStatus]:
        """The statuses of downloads once they are complete and on the disk, each in its own time."""
        return await asyncio.gather(*(self._complete(release) for release in releases))

    async def _complete(self, release: Release | str) -> DownloadStatus:
        status = await self.until(release, status=TransferStatus.COMPLETED)
        if isinstance(release, str) or status.content_path is None or not status.files or len(status.files) > 1:
            return status
        # qBittorrent calls a torrent complete while its last blocks wait for the disk.
        file = Path(status.content_path) / status.files[0].path
        async with asyncio.timeout(PATIENCE):
            while not file.exists() or file.read_bytes() != release.content:
                await asyncio.sleep(0.02)
        return status


@dataclass
class EveryProgram:
    """All of them at once: they wait far more than they work."""

    rigs: list[Rig]

    async def keeps(self, promise: Callable[[Rig], Coroutine[Any, Any, None]]) -> None:
        """Have each keep a promise; whoever does not is named."""

        async def ask(rig: Rig) -> None:
            try:
                await promise(rig)
            except Exception as broken:
                broken.add_note(f"It was {rig.program.name.value}.")
                raise

        outcomes = await asyncio.gather(*(ask(rig) for rig in self.rigs), return_exceptions=True)
        if broken := [outcome for outcome in outcomes if isinstance(outcome, Exception)]:
            raise ExceptionGroup("not every program keeps the promise", broken)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For what is there as long as the tests of a file run."""
    return tmp_path_factory.mktemp("downloaders")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def swarm(folder: Path) -> AsyncIterator[Swarm]:
    async with Swarm(folder / "seeded") as swarm:
        yield swarm


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def outbound() -> AsyncIterator[Outbound]:
    async with Outbound(private_hosts=["127.0.0.1"], tls=TLS) as outbound:
        yield outbound


@pytest.fixture
def unused_port() -> int:
    return free_port()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def aria2(folder: Path) -> AsyncIterator[Aria2]:
    program = Aria2(folder / "aria2")
    await program.start()
    yield program
    await program.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs(swarm: Swarm, outbound: Outbound, folder: Path) -> AsyncIterator[list[Rig]]:
    """Every program, started once for all tests of a file."""
    async with AsyncExitStack() as started:
        rigs = []
        for kind in PROGRAMS:
            program = kind(folder / kind.name.value)
            await program.start()
            started.push_async_callback(program.stop)
            opened = await started.enter_async_context(AsyncExitStack())
            client = await opened.enter_async_context(program.client(outbound))
            await client.login(USER, PASSWORD)
            rigs.append(Rig(program, client, swarm, folder, outbound, opened))
        yield rigs


@pytest.fixture
def every_program(programs: list[Rig], tmp_path: Path) -> EveryProgram:
    """Every program, with folders of the test's own to download to."""
    for rig in programs:
        rig.folder = tmp_path / rig.program.name.value / "downloads"
    return EveryProgram(programs)
