"""Both parts of the embedded downloader behind the one port."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from kurabito.catalog.download_types import DownloadType
from kurabito.clock import Clock, SystemClock
from kurabito.downloads.clients.embedded.files import PlainFiles
from kurabito.downloads.clients.embedded.options import RESUME_SUFFIX, EmbeddedOptions
from kurabito.downloads.clients.embedded.room import check_room
from kurabito.downloads.clients.sources import SourceReader, SourceRefused, TorrentSource
from kurabito.downloads.errors import TransferNotFound
from kurabito.downloads.items import (
    CancelResult,
    CancelStatus,
    DownloadItem,
    DownloadItemResult,
    DownloadStatus,
    Owner,
    TransferStatus,
)
from kurabito.http import Outbound
from kurabito.rounds import Rounds

if TYPE_CHECKING:
    from kurabito.downloads.clients.embedded.torrents import Torrents

EMBEDDED_TYPES: Final = (DownloadType.MAGNET, DownloadType.TORRENT, DownloadType.HTTP)
_LOOKED_AFTER: Final = 1.0


class EmbeddedClient:
    """Downloads in this process. It starts at the first download, or when something was under way when it last stopped.

    async with EmbeddedClient(folder, outbound) as client:
        await client.add_torrents([DownloadItem(url, "/downloads/kura/1")])
    """

    def __init__(
        self,
        folder: Path,
        outbound: Outbound,
        options: EmbeddedOptions | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        self._folder = folder
        self._options = options or EmbeddedOptions()
        self._clock = clock or SystemClock()
        self._sources = SourceReader(outbound, EMBEDDED_TYPES)
        self._files = PlainFiles(folder, outbound, self._clock, at_once=self._options.files_at_once)
        self._torrents: Torrents | None = None
        self._tending: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._ended = asyncio.Event()
        self._rounds = Rounds("torrents not looked after", self._clock)

    @property
    def trouble(self) -> str | None:
        """Why its torrents are not looked after, while they are not."""
        return self._rounds.trouble

    async def __aenter__(self) -> Self:
        await self._files.open()
        if any(self._folder.glob(f"*{RESUME_SUFFIX}")):
            await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        await self._files.close()
        if self._tending is not None:
            await self._tending
        if self._torrents is not None:
            await asyncio.to_thread(self._torrents.close)

    async def adjust(self, options: EmbeddedOptions) -> None:
        """Behave in another way from now on; how many plain files are fetched at a time stays as it was."""
        self._options = options
        if self._torrents is not None:
            await asyncio.to_thread(self._torrents.adjust, options)

    async def login(self, username: str, password: str) -> None:
        """It needs no login."""

    async def add_torrents(self, items: Sequence[DownloadItem]) -> list[DownloadItemResult]:
        return await self._sources.each(items, self._add)

    async def cancel_torrents(self, hashes: Sequence[str]) -> list[CancelResult]:
        there = {status.hash: status for status in await self.query_status(hashes)}
        for hash, status in there.items():
            await self._remove(hash, delete_files=status.status is not TransferStatus.COMPLETED)
        return [
            CancelResult(hash, CancelStatus.CANCELLED if hash in there else CancelStatus.NOT_FOUND) for hash in hashes
        ]

    async def query_status(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        return await asyncio.to_thread(self._statuses, hashes)

    async def pause_torrent(self, hash: str) -> None:
        torrents = self._torrents
        if not (await self._files.pause(hash) or (torrents and await asyncio.to_thread(torrents.pause, hash))):
            raise _not_found(hash)

    async def resume_torrent(self, hash: str) -> None:
        torrents = self._torrents
        if not (await self._files.resume(hash) or (torrents and await asyncio.to_thread(torrents.resume, hash))):
            raise _not_found(hash)

    async def delete_torrent(self, hash: str, delete_files: bool) -> None:
        if not await self._remove(hash, delete_files=delete_files):
            raise _not_found(hash)

    async def _add(self, source: TorrentSource) -> Owner:
        try:
            if source.torrent is not None:
                await asyncio.to_thread(check_room, Path(source.item.save_path), source.torrent.size)
            if source.kind is DownloadType.HTTP:
                await self._files.add(source)
            else:
                await asyncio.to_thread((await self._open()).add, source)
        except OSError as error:
            raise SourceRefused(
                f"it cannot be kept in {self._folder}: {error.strerror}; make room, or check its rights"
            ) from None
        # There is no other way into it.
        return Owner.KURABITO

    async def _remove(self, hash: str, *, delete_files: bool) -> bool:
        if await self._files.remove(hash, delete_files=delete_files):
            return True
        torrents = self._torrents
        if torrents is None:
            return False
        return await asyncio.to_thread(lambda: torrents.remove(hash, delete_files=delete_files))

    async def _open(self) -> Torrents:
        async with self._opening:
            if self._torrents is None:
                # Loaded here: a program that downloads elsewhere does not need it.
                from kurabito.downloads.clients.embedded.torrents import Torrents

                torrents = Torrents(self._folder, self._options)
                await asyncio.to_thread(torrents.open)
                self._torrents = torrents
                self._tending = asyncio.create_task(self._tend(torrents))
            return self._torrents

    async def _tend(self, torrents: Torrents) -> None:
        while not await self._clock.wait(self._ended, _LOOKED_AFTER):
            await self._rounds.do(lambda: asyncio.to_thread(torrents.tend))

    def _statuses(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        found = []
        for hash in hashes:
            status = self._files.status(hash)
            if status is None and self._torrents is not None:
                status = self._torrents.status(hash)
            if status is not None:
                found.append(replace(status, owner=Owner.KURABITO))
        return found


def _not_found(hash: str) -> TransferNotFound:
    return TransferNotFound(f"the embedded downloader has no download {hash}; it may have been removed")
