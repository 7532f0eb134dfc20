"""One plain file over HTTP, piece by piece, so that one that broke off goes on where it was."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

from kurabito.downloads.clients.embedded.file_names import file_name
from kurabito.downloads.clients.embedded.same_file import LOOKED_AT, if_range, is_another, refuse_page
from kurabito.http import Limits, Outbound, Reply
from kurabito.http.errors import BadAnswer, BadStatus, TooLarge, Unreachable
from kurabito.logs import get_logger

log = get_logger(__name__)

_PIECE: Final = 8 * 1024 * 1024
_OF_A_PIECE: Final = Limits(seconds=300.0, max_bytes=_PIECE, attempts=3)
# For hosts that only give the whole.
_OF_THE_WHOLE: Final = Limits(seconds=24 * 3600.0, max_bytes=1 << 40, attempts=3)
# After so many changes the whole is asked for in one answer: some hosts name the same file differently each time.
_MOST_BEGINNINGS: Final = 3
_NOTHING_THERE: Final = 416
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


class FileFetch:
    """Fetches one file into `partial`; `note` writes down how far it is."""

    def __init__(
        self, outbound: Outbound, hash: str, file: PlainFile, partial: Path, *, note: Callable[[], Awaitable[None]]
    ) -> None:
        self._outbound = outbound
        self._hash = hash
        self._file = file
        self._partial = partial
        self._note = note
        self.came = 0
        """How many bytes came of a file that its host only gives as a whole."""

    async def run(self) -> None:
        """Fetch what is still missing, and give the file its name."""
        file, partial = self._file, self._partial
        await asyncio.to_thread(partial.parent.mkdir, parents=True, exist_ok=True)
        beginnings = 0
        while (step := await self._fetch_piece()) is not TransferStep.DONE:
            if step is TransferStep.AGAIN:
                log.info("a file changed while it was fetched", hash=self._hash)
                beginnings += 1
                await self._begin_again()
            if step is TransferStep.WHOLE or beginnings == _MOST_BEGINNINGS:
                await self._fetch_whole()
                break
        target = Path(file.save_path) / (file.name or "download")
        await asyncio.to_thread(partial.replace, target)
        file.is_complete = True

    async def _fetch_piece(self) -> TransferStep:
        """Fetch the next piece, and say how it goes on."""
        file, partial = self._file, self._partial
        offset = size_of(partial)
        if file.size and offset >= file.size:
            return TransferStep.DONE if offset == file.size else TransferStep.AGAIN
        try:
            reply = await self._piece(offset)
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
        await self._note()
        return TransferStep.MORE

    async def _piece(self, offset: int) -> Reply:
        """The next piece; raises TooLarge when the host only gives the whole, and that is larger."""
        file = self._file
        asked = {"Range": f"bytes={offset}-{offset + _PIECE - 1}", "Accept-Encoding": "identity"}
        if offset and (condition := if_range(file.etag, file.modified)) is not None:
            # A file that changed is sent from its beginning.
            asked["If-Range"] = condition
        return await self._outbound.get(file.url, headers=asked, limits=_OF_A_PIECE)

    async def _fetch_whole(self) -> None:
        """Fetch the file in one answer, which cannot change on the way."""
        file, partial = self._file, self._partial

        def note(came: int, declared: int | None) -> None:
            # It lies elsewhere until it is whole, so how far it is has to be noted.
            file.size, self.came = declared or 0, came

        try:
            reply = await self._outbound.download(file.url, partial, limits=_OF_THE_WHOLE, on_progress=note)
        finally:
            self.came = 0
        file.size, file.name = reply.size, _name(file, reply)
        try:
            refuse_page(file.name, reply, await asyncio.to_thread(_beginning, partial))
        except BadAnswer:
            await asyncio.to_thread(partial.unlink, missing_ok=True)
            file.size = 0
            raise

    async def _begin_again(self) -> None:
        file = self._file
        await asyncio.to_thread(self._partial.unlink, missing_ok=True)
        file.size, file.etag, file.modified = 0, None, None
        await self._note()


def _name(file: PlainFile, reply: Reply) -> str:
    return file_name(reply.url, reply.headers.get("content-disposition"))


def size_of(path: Path) -> int:
    """How many bytes of a file are on the disk."""
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
