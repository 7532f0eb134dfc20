"""A downloader as a service: any client, with what is asked of it checked first."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final, TypeVar

from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.downloads.client import DownloaderClient
from kurabito.downloads.errors import DownloaderLoginRefused, DownloaderUnavailable
from kurabito.downloads.items import CancelResult, DownloadItem, DownloadItemResult, DownloadStatus
from kurabito.errors import InvalidInput

T = TypeVar("T")

# Programs lock out an address that tries a wrong password too often, some for an hour.
_AFTER_A_REFUSAL: Final = 60.0
_HASH: Final = re.compile(r"[0-9a-f]{40}")


class DownloaderService:
    """Logs in when that is needed, and asks the client for what passes the checks."""

    def __init__(
        self,
        client: DownloaderClient,
        *,
        username: str = "",
        password: str = "",
        download_root: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._client = client
        self._username = username
        self._password = password
        self._root = download_root
        self._clock = clock or SystemClock()
        self._is_logged_in = False
        self._logging_in = asyncio.Lock()
        self._refusal: DownloaderLoginRefused | None = None
        self._refused_until = 0

    async def add(self, items: Sequence[DownloadItem]) -> list[DownloadItemResult]:
        """Take these, one answer for each and in their order."""
        problems = {item: self._problem(item.save_path) for item in items}
        good = [item for item, problem in problems.items() if problem is None]
        answers = dict(zip(good, await self._ask(lambda: self._client.add_torrents(good)), strict=True))
        return [
            answers.get(item) or DownloadItemResult.rejected(item.url, f"save_path {problems[item]}") for item in items
        ]

    async def cancel(self, hashes: Sequence[str]) -> list[CancelResult]:
        """Give these up."""
        wanted = _checked(hashes)
        return await self._ask(lambda: self._client.cancel_torrents(wanted))

    async def status(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        """How these are doing; with none this only says whether the client answers."""
        wanted = _checked(hashes)
        return await self._ask(lambda: self._client.query_status(wanted))

    async def pause(self, hash: str) -> None:
        """Let one rest."""
        (wanted,) = _checked([hash])
        await self._ask(lambda: self._client.pause_torrent(wanted))

    async def resume(self, hash: str) -> None:
        """Let one go on."""
        (wanted,) = _checked([hash])
        await self._ask(lambda: self._client.resume_torrent(wanted))

    async def delete(self, hash: str, *, delete_files: bool) -> None:
        """Forget one, and remove its files if asked."""
        (wanted,) = _checked([hash])
        await self._ask(lambda: self._client.delete_torrent(wanted, delete_files))

    def folder(self, path: str) -> Path:
        """A folder into which something may be put; raises InvalidInput."""
        if (problem := self._problem(path)) is not None:
            raise InvalidInput("folder", problem)
        return Path(path)

    def _problem(self, save_path: str) -> str | None:
        """Why nothing is put there. The path is one of the client's machine, which may be Windows."""
        kind = PureWindowsPath if PureWindowsPath(save_path).drive else PurePosixPath
        path = kind(save_path)
        if not path.is_absolute() or ".." in path.parts or "\0" in save_path:
            return "must be a whole path without `..`"
        if self._root is not None and not path.is_relative_to(self._root):
            return "is not below the download root of this downloader; check its path map"
        return None

    async def _ask(self, question: Callable[[], Awaitable[T]]) -> T:
        await self._log_in()
        try:
            return await question()
        except (DownloaderUnavailable, DownloaderLoginRefused) as error:
            self._is_logged_in = False
            if isinstance(error, DownloaderLoginRefused):
                self._note_refusal(error)
            raise

    async def _log_in(self) -> None:
        async with self._logging_in:
            if self._is_logged_in:
                return
            if self._refusal is not None and self._clock.now() < self._refused_until:
                raise self._refusal
            try:
                await self._client.login(self._username, self._password)
            except DownloaderLoginRefused as error:
                self._note_refusal(error)
                raise
            self._is_logged_in, self._refusal = True, None

    def _note_refusal(self, error: DownloaderLoginRefused) -> None:
        self._refusal = error
        self._refused_until = self._clock.now() + round(_AFTER_A_REFUSAL * SECOND)


def _checked(hashes: Sequence[str]) -> list[str]:
    found = list(dict.fromkeys(hash.lower() for hash in hashes))
    for hash in found:
        if not _HASH.fullmatch(hash):
            raise InvalidInput("hash", f"must be 40 hex digits, got {hash[:50]!r}")
    return found
