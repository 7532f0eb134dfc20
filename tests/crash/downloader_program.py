"""A downloader service that is killed: each line on stdin starts one, and is answered with its process id.

What it downloads with is a folder, which outlives it like a real program would. A line names the change of that folder after
which the service kills itself, before it could answer; 0 is never.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from kurabito.api.downloads.downloader import create_downloader_api
from kurabito.downloads.items import (
    CancelResult,
    CancelStatus,
    DownloadItem,
    DownloadItemResult,
    DownloadStatus,
    TransferStatus,
)
from kurabito.downloads.service import DownloaderService


class FolderClient:
    """Has what lies in a folder, one empty file for each hash, and takes every other one that is offered."""

    def __init__(self, folder: Path, begun: Path) -> None:
        self._folder = folder
        self._begun = begun
        self.left = 0

    async def login(self, username: str, password: str) -> None:
        pass

    async def add_torrents(self, items: Sequence[DownloadItem]) -> list[DownloadItemResult]:
        return [self._take(item.url) for item in items]

    async def cancel_torrents(self, hashes: Sequence[str]) -> list[CancelResult]:
        return [CancelResult(one, self._drop(one)) for one in hashes]

    async def query_status(self, hashes: Sequence[str]) -> list[DownloadStatus]:
        found = [one for one in hashes if (self._folder / one).exists()]
        return [DownloadStatus(one, TransferStatus.DOWNLOADING, 0.5, 9) for one in found]

    async def pause_torrent(self, hash: str) -> None:  # noqa: A002
        raise AssertionError("nobody asks for that here")

    async def resume_torrent(self, hash: str) -> None:  # noqa: A002
        raise AssertionError("nobody asks for that here")

    async def delete_torrent(self, hash: str, delete_files: bool) -> None:  # noqa: A002
        raise AssertionError("nobody asks for that here")

    def _take(self, url: str) -> DownloadItemResult:
        magnet = re.search(r"btih:(\w{40})", url)
        known = magnet[1] if magnet else hashlib.sha1(url.encode()).hexdigest()
        if int(known, 16) % 2:
            return DownloadItemResult.rejected(url, "odd")
        if not (self._folder / known).exists():
            (self._folder / known).touch()
            with self._begun.open("a") as journal:
                journal.write(f"{known}\n")
            self._changed()
        return DownloadItemResult.accepted(url, known)

    def _drop(self, known: str) -> CancelStatus:
        if not (self._folder / known).exists():
            return CancelStatus.NOT_FOUND
        (self._folder / known).unlink()
        self._changed()
        return CancelStatus.CANCELLED

    def _changed(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def listen(port: int) -> socket.socket:
    """Listen where the one before did, as soon as it is gone."""
    while True:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen()
        except OSError:
            listener.close()
            time.sleep(0.005)
        else:
            return listener


def main() -> None:
    folder, begun, port = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    client = FolderClient(folder, begun)
    site = create_downloader_api(DownloaderService(client), "secret")
    # Whoever is killed is nobody's concern here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        # Only the child keeps it, so nobody is connected to a dead one.
        with listen(port) as listener:
            pid = os.fork()
            if pid == 0:
                client.left = int(line)
                server = uvicorn.Server(uvicorn.Config(site, log_config=None, lifespan="off"))
                asyncio.run(server.serve(sockets=[listener]))
                return
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
