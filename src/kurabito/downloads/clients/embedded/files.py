"""Plain files over HTTP, piece by piece, so that one that broke off goes on where it was."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import asdict, dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

from kurabito.clock import Clock
from kurabito.downloads.clients.embedded.kept import keep
from kurabito.downloads.clients.embedded.naming import file_name
from kurabito.downloads.clients.embedded.same_file import LOOKED_AT, if_range, is_another, refuse_page
from kurabito.downloads.clients.leftovers import remove_files
from kurabito.downloads.clients.sources import TorrentSource
from kurabito.downloads.items import DownloadStatus, TransferFile, TransferStatus
from kurabito.http import Limits, Outbound, Reply
from kurabito.http.errors import BadAnswer, BadStatus, OutboundError, TimedOut, TooLarge, Unreachable
from kurabito.http.retries import PASSING
from kurabito.logs import get_logger, mask_text

log = get_logger(__name__)

_SUFFIX: Final = ".http"
_PIECE: Final = 8 * 1024 * 1024
_OF_A_PIECE: Final = Limits(seconds=300.0, max_bytes=_PIECE, attempts=3)
# For hosts that only give the whole.
_OF_THE_WHOLE: Final = Limits(seconds=24 * 3600.0, max_bytes=1 << 40, attempts=3)
_AT_ONCE: Final = 3
# After so many changes the whole is asked for in one answer: some hosts name the same file anew each time.
_MOST_BEGINNINGS: Final = 3
_NOTHING_THERE: Final = 416
_FIRST_WAIT: Final = 5.0
_LONGEST_WAIT: Final = 300.0
_SPAN: Final = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")


@dataclass(slots=True)
class PlainFile:
    """One file on its way."""

    url: str
    save_path: str
    name: str | None = None
    size: int = 0
    etag: str | None = None
    modified: str | None = None
    """When it last changed, as its host says."""
    is_paused: bool = False
    is_complete: bool = False
    problem: str | None = None
    """What ended it."""


class TransferStep(Enum):
    """How a fetch goes on after a piece."""

    MORE = auto()
    DONE = auto()
    AGAIN = auto()
    """It is another file than before: from its beginning."""
    WHOLE = auto()
    """The host does not give it in pieces."""


class PlainFiles:
    """The plain downloads of one folder of notes."""

    def __init__(self, folder: Path, outbound: Outbound, clock: Clock, *, at_once: int = _AT_ONCE) -> None:
        self._folder = folder
        self._outbound = outbound
        self._clock = clock
        self._files: dict[str, PlainFile] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._came: dict[str, int] = {}
        """How many bytes came of files that hosts only give as a whole."""
        self._turn = asyncio.Semaphore(at_once)

    async def open(self) -> None:
        """Go on with what was under way."""
        self._files = await asyncio.to_thread(self._read)
        for hash in self._files:
            self._start(hash)

    async def close(self) -> None:
        """Stop; what came so far stays."""
        for hash in list(self._running):
            await self._stop(hash)

    async def add(self, offer: TorrentSource) -> None:
        """Take a file; one that failed is tried again from where it was."""
        known = self._files.get(offer.hash)
        if known is not None and known.problem is None:
            return
        if (ending := self._running.get(offer.hash)) is not None:
            # It failed a moment ago and writes that down: only then can it begin again.
            await asyncio.wait({ending})
        self._files[offer.hash] = known or PlainFile(offer.item.url, offer.item.save_path)
        self._files[offer.hash].problem = None
        await self._note(offer.hash)
        self._start(offer.hash)

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
        here = self._came.get(hash) or _size(self._partial(hash, file))
        word = TransferStatus.ERROR if file.problem else TransferStatus.DOWNLOADING
        detail = file.problem or ("paused" if file.is_paused else None)
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
            before = _size(self._partial(hash, file))
            try:
                async with self._turn:
                    await self._fetch(hash, file)
                break
            except OutboundError as error:
                if not _may_pass(error):
                    file.problem = mask_text(str(error))
                    break
                log.info("a download waits", hash=hash, problem=error.code, seconds=wait)
            except OSError as error:
                file.problem = f"{file.save_path} cannot be written: {error.strerror}; make room, or check its rights"
                break
            wait = _FIRST_WAIT if _size(self._partial(hash, file)) > before else min(_LONGEST_WAIT, wait * 2)
            await self._clock.wait(asyncio.Event(), wait)
        await self._note(hash)
        self._running.pop(hash, None)

    async def _fetch(self, hash: str, file: PlainFile) -> None:
        """Fetch what is still missing."""
        partial = self._partial(hash, file)
        await asyncio.to_thread(partial.parent.mkdir, parents=True, exist_ok=True)
        beginnings = 0
        while (step := await self._fetch_piece(hash, file, partial)) is not TransferStep.DONE:
            if step is TransferStep.AGAIN:
                log.info("a file changed while it was fetched", hash=hash)
                beginnings += 1
                await self._begin_again(hash, file, partial)
            if step is TransferStep.WHOLE or beginnings == _MOST_BEGINNINGS:
                await self._fetch_whole(hash, file, partial)
                break
        target = Path(file.save_path) / (file.name or "download")
        await asyncio.to_thread(partial.replace, target)
        file.is_complete = True

    async def _fetch_piece(self, hash: str, file: PlainFile, partial: Path) -> TransferStep:
        """Fetch the next piece, and say how it goes on."""
        offset = _size(partial)
        if file.size and offset >= file.size:
            return TransferStep.DONE if offset == file.size else TransferStep.AGAIN
        try:
            reply = await self._piece(file, offset)
        except TooLarge:
            return TransferStep.WHOLE
        except BadStatus as refused:
            if refused.answered != _NOTHING_THERE:
                raise
            # It shrank, or there is nothing in it at all.
            return TransferStep.AGAIN if offset else TransferStep.WHOLE
        name = file.name or _name(file, reply)
        span = _SPAN.fullmatch(reply.headers.get("content-range", "")) if reply.status == 206 else None
        if span is None or not offset:
            refuse_page(name, reply, reply.content)
        if span is None:
            # The whole of it, which is small enough for one answer.
            await asyncio.to_thread(_write, partial, 0, reply.content)
            file.name, file.size = name, reply.size
            return TransferStep.DONE
        begin, total = int(span[1]), int(span[3])
        etag, modified = reply.headers.get("etag"), reply.headers.get("last-modified")
        if offset and is_another((file.size, file.etag, file.modified), (total, etag, modified)):
            return TransferStep.AGAIN
        if begin != offset or not reply.content:
            raise Unreachable("the host sent another part of the file than was asked for; it is asked again later")
        file.name, file.size, file.etag, file.modified = name, total, etag, modified
        await asyncio.to_thread(_write, partial, offset, reply.content)
        await self._note(hash)
        return TransferStep.MORE

    async def _piece(self, file: PlainFile, offset: int) -> Reply:
        """The next piece; raises TooLarge when the host only gives the whole, and that is larger."""
        asked = {"Range": f"bytes={offset}-{offset + _PIECE - 1}", "Accept-Encoding": "identity"}
        if offset and (condition := if_range(file.etag, file.modified)) is not None:
            # A file that changed is sent from its beginning.
            asked["If-Range"] = condition
        return await self._outbound.get(file.url, headers=asked, limits=_OF_A_PIECE)

    async def _fetch_whole(self, hash: str, file: PlainFile, partial: Path) -> None:
        """Fetch the file in one answer, which cannot change on the way."""

        def note(came: int, declared: int | None) -> None:
            # It lies elsewhere until it is whole, so how far it is has to be noted.
            file.size, self._came[hash] = declared or 0, came

        try:
            reply = await self._outbound.download(file.url, partial, limits=_OF_THE_WHOLE, on_progress=note)
        finally:
            self._came.pop(hash, None)
        file.size, file.name = reply.size, _name(file, reply)
        try:
            refuse_page(file.name, reply, await asyncio.to_thread(_beginning, partial))
        except BadAnswer:
            await asyncio.to_thread(partial.unlink, missing_ok=True)
            file.size = 0
            raise

    async def _begin_again(self, hash: str, file: PlainFile, partial: Path) -> None:
        await asyncio.to_thread(partial.unlink, missing_ok=True)
        file.size, file.etag, file.modified = 0, None, None
        await self._note(hash)

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


def _name(file: PlainFile, reply: Reply) -> str:
    return file_name(reply.url, reply.headers.get("content-disposition"))


def _may_pass(error: OutboundError) -> bool:
    """Whether it may be better later."""
    return isinstance(error, Unreachable | TimedOut) or (isinstance(error, BadStatus) and error.answered in PASSING)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LOOKED_AT)


def _write(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b" if offset else "wb") as file:
        file.seek(offset)
        file.write(content)
