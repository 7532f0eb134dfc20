"""From an item to something that a program can take: its hash, and the torrent file where there is one.

Torrent files are fetched here and not by the program that downloads: their hash is known before they are handed over, and
where they come from is guarded like everything else that others name.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from kurabito.catalog.download_types import DownloadType, detect_download_type
from kurabito.catalog.release_key import hash_of_magnet
from kurabito.downloads.clients.torrent_files import TorrentFile, read_torrent
from kurabito.downloads.items import DownloadItem, DownloadItemResult, Owner
from kurabito.errors import InvalidInput
from kurabito.http import Limits, Outbound
from kurabito.http.errors import BadStatus, OutboundError, TimedOut, Unreachable
from kurabito.http.redaction import without_passkeys
from kurabito.http.retries import PASSING

_TORRENT: Final = Limits(seconds=20.0, max_bytes=10 * 1024 * 1024, attempts=2, patience=5.0)
_AT_ONCE: Final = 8
STORED: Final = "torrent:"
"""Begins the URL of a private torrent, whose file the core has and sends along."""


class SourceRefused(Exception):
    """The program does not take an item; the text says why, and `may_pass` whether it may take it later."""

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass


@dataclass(frozen=True, slots=True)
class TorrentSource:
    """An item that is ready to be handed over."""

    item: DownloadItem
    hash: str
    kind: DownloadType
    torrent: TorrentFile | None = None


Take = Callable[[TorrentSource], Awaitable[Owner]]
"""Hands a source over, or finds it there; the answer says whose it is."""


class SourceReader:
    """Prepares items and hands each to the program once."""

    def __init__(self, outbound: Outbound, kinds: Collection[DownloadType]) -> None:
        self._outbound = outbound
        self._kinds = frozenset(kinds)

    async def each(self, items: Sequence[DownloadItem], take: Take) -> list[DownloadItemResult]:
        """Hand over every item; `take` raises SourceRefused with the reason when the program does not want it."""
        slots = asyncio.Semaphore(_AT_ONCE)
        taken: dict[str, asyncio.Lock] = {}
        done: dict[str, Owner] = {}

        async def one(item: DownloadItem) -> DownloadItemResult:
            async with slots:
                try:
                    source = await self._prepare(item)
                    # Two URLs of one batch may lead to the same torrent.
                    async with taken.setdefault(source.hash, asyncio.Lock()):
                        if source.hash not in done:
                            done[source.hash] = await take(source)
                except SourceRefused as refused:
                    return DownloadItemResult.rejected(
                        item.url, without_passkeys(str(refused)), may_pass=refused.may_pass
                    )
            return DownloadItemResult.accepted(item.url, source.hash, done[source.hash])

        return [await result for result in [asyncio.ensure_future(one(item)) for item in items]]

    async def _prepare(self, item: DownloadItem) -> TorrentSource:
        if item.torrent is not None:
            return self._given(item, item.torrent)
        kind = detect_download_type(item.url)
        if kind is None and item.url.startswith(STORED):
            raise SourceRefused("the file of this private torrent is no longer stored; search for the release again")
        if kind is None or kind not in self._kinds:
            raise SourceRefused(f"unsupported: {kind or 'this kind of URL'} is not downloaded here")
        match kind:
            case DownloadType.MAGNET:
                found = hash_of_magnet(item.url)
                if found is None:
                    raise SourceRefused("the magnet link names no info hash")
                return TorrentSource(item, found, kind)
            case DownloadType.TORRENT:
                torrent = await self._fetch(item.url)
                return TorrentSource(item, torrent.hash, kind, torrent)
            case DownloadType.HTTP:
                return TorrentSource(item, hash_of_url(item.url), kind)

    def _given(self, item: DownloadItem, content: bytes) -> TorrentSource:
        if DownloadType.TORRENT not in self._kinds:
            raise SourceRefused(f"unsupported: {DownloadType.TORRENT} is not downloaded here")
        try:
            torrent = read_torrent(content)
        except InvalidInput as error:
            raise SourceRefused(str(error)) from None
        return TorrentSource(item, torrent.hash, DownloadType.TORRENT, torrent)

    async def _fetch(self, url: str) -> TorrentFile:
        try:
            return read_torrent((await self._outbound.get(url, limits=_TORRENT)).content)
        except (OutboundError, InvalidInput) as error:
            raise SourceRefused(str(error), may_pass=_may_pass(error)) from None


def _may_pass(error: OutboundError | InvalidInput) -> bool:
    """Whether a host that did not give a torrent file may give it later."""
    if isinstance(error, BadStatus):
        return error.answered >= 500 or error.answered in PASSING
    return isinstance(error, Unreachable | TimedOut)


def hash_of_url(url: str) -> str:
    """What a plain download is called."""
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
