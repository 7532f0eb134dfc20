"""The plain files that are downloaded over HTTP: each is noted on the disk, so that it goes on at the next start."""

from __future__ import annotations

import asyncio
import errno
import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from kurabito.clock import Clock
from kurabito.downloads.clients.embedded.file_fetch import FileFetch, PlainFile, size_of
from kurabito.downloads.clients.embedded.kept import keep
from kurabito.downloads.clients.leftovers import remove_files
from kurabito.downloads.clients.sources import TorrentSource
from kurabito.downloads.items import DownloadStatus, TransferDetail, TransferFile, TransferStatus, with_text
from kurabito.http import Outbound
from kurabito.http.errors import BadStatus, OutboundError, TimedOut, Unreachable
from kurabito.http.retries import PASSING
from kurabito.logs import get_logger, mask_text
from kurabito.runtime.worker.failures import describe

log = get_logger(__name__)

_SUFFIX: Final = ".http"
_AT_ONCE: Final = 3
_FIRST_WAIT: Final = 5.0
_LONGEST_WAIT: Final = 300.0
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class PlainFiles:
    """The plain downloads of one folder of notes."""

    def __init__(self, folder: Path, outbound: Outbound, clock: Clock, *, at_once: int = _AT_ONCE) -> None:
        self._folder = folder
        self._outbound = outbound
        self._clock = clock
        self._files: dict[str, PlainFile] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._fetches: dict[str, FileFetch] = {}
        self._without_room: set[str] = set()
        """What waits because its disk was full the last time."""
        self._slots = asyncio.Semaphore(at_once)

    async def open(self) -> None:
        """Go on with what was under way."""
        self._files = await asyncio.to_thread(self._read)
        for hash in self._files:
            self._start(hash)

    async def close(self) -> None:
        """Stop; what came so far stays."""
        for hash in list(self._running):
            await self._stop(hash)

    async def add(self, source: TorrentSource) -> None:
        """Take a file; one that failed is tried again from where it was."""
        known = self._files.get(source.hash)
        if known is not None and known.problem is None:
            return
        if (ending := self._running.get(source.hash)) is not None:
            # It failed a moment ago and writes that down: only then can it begin again.
            await asyncio.wait({ending})
        self._files[source.hash] = known or PlainFile(source.item.url, source.item.save_path)
        self._files[source.hash].problem = None
        await self._note(source.hash)
        self._start(source.hash)

    def status(self, hash: str) -> DownloadStatus | None:
        """How a file is doing; None when it is not ours."""
        file = self._files.get(hash)
        if file is None:
            return None
        if file.is_complete:
            whole = TransferFile(file.name or "download", file.size, is_complete=True)
            return DownloadStatus(
                hash, TransferStatus.COMPLETED, 1.0, file.size, content_path=file.save_path, files=(whole,)
            )
        fetch = self._fetches.get(hash)
        here = (fetch.came if fetch else 0) or size_of(self._partial(hash, file))
        word = TransferStatus.ERROR if file.problem else TransferStatus.DOWNLOADING
        waits = TransferDetail.NO_ROOM if hash in self._without_room else None
        detail = file.problem or (TransferDetail.PAUSED if file.is_paused else waits)
        share = here / file.size if file.size else 0.0
        return DownloadStatus(hash, word, share, file.size, detail=detail, content_path=file.save_path)

    async def pause(self, hash: str) -> bool:
        """Let a file rest; false when it is not ours."""
        if hash not in self._files:
            return False
        self._files[hash].is_paused = True
        await self._stop(hash)
        await self._note(hash)
        return True

    async def resume(self, hash: str) -> bool:
        """Let a file go on; false when it is not ours."""
        if hash not in self._files:
            return False
        self._files[hash].is_paused = False
        await self._note(hash)
        self._start(hash)
        return True

    async def remove(self, hash: str, *, delete_files: bool) -> bool:
        """Forget a file; false when it is not ours."""
        if hash not in self._files:
            return False
        await self._stop(hash)
        file = self._files.pop(hash)
        self._noted(hash).unlink(missing_ok=True)
        # What is not whole is of no use to anybody.
        gone = [self._partial(hash, file)]
        if delete_files and file.is_complete and file.name:
            gone.append(Path(file.save_path) / file.name)
        await asyncio.to_thread(remove_files, Path(file.save_path), gone)
        return True

    def _start(self, hash: str) -> None:
        file = self._files[hash]
        if not (file.is_complete or file.is_paused or file.problem or hash in self._running):
            self._running[hash] = asyncio.create_task(self._run(hash, file))

    async def _stop(self, hash: str) -> None:
        task = self._running.pop(hash, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self, hash: str, file: PlainFile) -> None:
        wait = _FIRST_WAIT
        while True:
            before = size_of(self._partial(hash, file))
            try:
                async with self._slots:
                    self._without_room.discard(hash)
                    await self._fetch(hash, file)
                break
            except OutboundError as error:
                if not _may_pass(error):
                    file.problem = mask_text(str(error))
                    break
                log.info("a download waits", hash=hash, problem=error.code, seconds=wait)
            except OSError as error:
                if error.errno not in _NO_ROOM:
                    file.problem = with_text(TransferDetail.UNWRITABLE, error.strerror or str(error))
                    break
                self._without_room.add(hash)
                log.info("a download waits", hash=hash, problem="no_room", seconds=wait)
            except Exception as error:
                log.exception("a download ended", hash=hash)
                file.problem = mask_text(describe(error))
                break
            wait = _FIRST_WAIT if size_of(self._partial(hash, file)) > before else min(_LONGEST_WAIT, wait * 2)
            await self._clock.wait(asyncio.Event(), wait)
        try:
            await self._note(hash)
        except OSError as error:
            # A full disk, perhaps. What is true now is known as long as this process runs, and is found out again by the next.
            log.warning("a download is not noted", hash=hash, problem=error.strerror)
        finally:
            self._without_room.discard(hash)
            self._running.pop(hash, None)

    async def _fetch(self, hash: str, file: PlainFile) -> None:
        self._fetches[hash] = FileFetch(
            self._outbound, hash, file, self._partial(hash, file), note=lambda: self._note(hash)
        )
        try:
            await self._fetches[hash].run()
        finally:
            del self._fetches[hash]

    def _read(self) -> dict[str, PlainFile]:
        return {path.stem: PlainFile(**json.loads(path.read_bytes())) for path in self._folder.glob(f"*{_SUFFIX}")}

    async def _note(self, hash: str) -> None:
        content = json.dumps(asdict(self._files[hash])).encode()
        await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
        await asyncio.to_thread(keep, self._noted(hash), content)

    def _noted(self, hash: str) -> Path:
        return self._folder / f"{hash}{_SUFFIX}"

    def _partial(self, hash: str, file: PlainFile) -> Path:
        return Path(file.save_path) / f".{hash}.part"


def _may_pass(error: OutboundError) -> bool:
    """Whether it may be better later."""
    return isinstance(error, Unreachable | TimedOut) or (isinstance(error, BadStatus) and error.answered in PASSING)
