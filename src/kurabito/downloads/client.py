"""The port to a program that downloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kurabito.downloads.items import CancelResult, DownloadItem, DownloadItemResult, DownloadStatus


class DownloaderClient(Protocol):
    """A program that downloads, whatever its own words are.

    A download is known by its hash: 40 hex digits, a torrent's v1 info hash (of one that has none, the beginning of its v2
    hash) or the SHA-1 of a plain URL. Every method raises DownloaderUnavailable when the program does not answer and
    DownloaderLoginRefused when it does not let us in.

    What is added is marked as ours. Whatever else the program has is its user's: it is accepted and reported with that owner,
    cancelling does not find it, and to pause, resume or delete it raises TransferNotOurs.
    """

    async def login(self, username: str, password: str) -> None:
        """Show who we are, and remember it for when the program asks again."""
        ...

    async def add_torrents(self, items: Sequence[DownloadItem]) -> list[DownloadItemResult]:
        """Take these, one answer for each and in their order. What it has already is accepted and stays as it is.

        An answer says whose it is.
        """
        ...

    async def cancel_torrents(self, hashes: Sequence[str]) -> list[CancelResult]:
        """Give these up, one answer for each. What was half there is deleted; what is complete stays on the disk."""
        ...

    async def query_status(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        """How these are doing; those that are not there are left out. A complete one says where it is, and its files."""
        ...

    async def pause_torrent(self, hash: str) -> None:
        """Let it rest; raises TransferNotFound."""
        ...

    async def resume_torrent(self, hash: str) -> None:
        """Let it go on; raises TransferNotFound."""
        ...

    async def delete_torrent(self, hash: str, delete_files: bool) -> None:
        """Forget it, and remove its files if asked; raises TransferNotFound."""
        ...
