"""The file that goes and the copy that stays: both held open, compared to the last byte, and seen again before anything is done."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, OpenRoots, RemovalRefused
from kurabito.protocol.error_codes import ErrorCode

K = TypeVar("K")

_BLOCK: Final = 256 * 1024
"""Small enough that two of them stay in a core's own cache; between 64 KiB and 1 MiB this was the fastest."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A file that is to go and the copy that stays."""

    source: FileRef
    source_fd: int
    source_seen: FileStamp
    kept: FileRef
    kept_fd: int
    kept_seen: FileStamp

    def compare(self, between: Callable[[], None] = lambda: None) -> None:
        """Read both to the end; raises RemovalRefused unless they are the same to the last byte. `between` is called often."""
        if self.source_seen.file == self.kept_seen.file:
            raise RemovalRefused(
                ErrorCode.SAME_FILE, "both paths lead to one and the same file, which is its own last copy"
            )
        ours, theirs = bytearray(_BLOCK), bytearray(_BLOCK)
        offset = 0
        while True:
            between()
            read = _fill(self.source_fd, ours, offset)
            if _fill(self.kept_fd, theirs, offset) != read or not _begin_equally(ours, theirs, read):
                raise RemovalRefused(
                    ErrorCode.CONTENT_DIFFERS,
                    "its content is not that of the copy that would stay; both are read again",
                )
            if read < _BLOCK:
                return
            offset += read

    def look_again(self) -> None:
        """See, by their paths from their roots, that both are still what was compared, untouched; raises RemovalRefused."""
        if self.source.find() != self.source_seen:
            raise RemovalRefused(ErrorCode.FILE_CHANGED, "the file changed while it was compared; scan and plan again")
        if self.kept.find() != self.kept_seen:
            raise RemovalRefused(
                ErrorCode.KEPT_CHANGED, "the kept copy changed while it was compared; scan and plan again"
            )

    def check_kept(self) -> None:
        """See, by its path from its root, that the copy that stays is there and is another file; raises RemovalRefused."""
        now = self.kept.find()
        if now is None:
            raise RemovalRefused(ErrorCode.KEPT_MISSING, "the kept copy went in the same moment, so this one stays")
        if now.file == self.source_seen.file:
            raise RemovalRefused(
                ErrorCode.SAME_FILE, "the kept copy became another name of this file, so this one stays"
            )
        if now != self.kept_seen:
            # A pool may show a file from memory that is gone. But what is done to a file changes its ctime, seen from anywhere.
            raise RemovalRefused(
                ErrorCode.KEPT_CHANGED,
                "the kept copy changed in the same moment, or is this very file seen through another mount; this one stays",
            )


def open_pair(roots: OpenRoots[K], source: FileRef, kept: FileRef) -> Pair:
    """Both files, open; raises RemovalRefused when one is not there, is no regular file, or the kept one lies in a trash."""
    if kept.in_trash is not None:
        raise RemovalRefused(
            ErrorCode.KEPT_IN_DOUBT, "the kept copy lies in a trash folder, where it is no copy that stays"
        )
    source_seen, kept_seen = source.look(), kept.look()
    if source_seen is None:
        raise RemovalRefused(ErrorCode.FILE_MISSING, "the file is not there any more")
    if kept_seen is None:
        raise RemovalRefused(ErrorCode.KEPT_MISSING, "the kept copy is not there any more, so this one stays")
    source_fd, kept_fd = roots.open_file(source), roots.open_file(kept)
    if FileStamp.of(os.fstat(source_fd)) != source_seen:
        raise RemovalRefused(ErrorCode.FILE_CHANGED, "another file was laid in its place a moment ago")
    if FileStamp.of(os.fstat(kept_fd)) != kept_seen:
        raise RemovalRefused(ErrorCode.KEPT_CHANGED, "another file was laid in the kept copy's place a moment ago")
    return Pair(source, source_fd, source_seen, kept, kept_fd, kept_seen)


def _fill(fd: int, buffer: bytearray, offset: int) -> int:
    """Read a whole block if there is one: a share may give less at once."""
    filled = 0
    with memoryview(buffer) as view:
        while filled < len(buffer) and (read := os.preadv(fd, (view[filled:],), offset + filled)):
            filled += read
    return filled


def _begin_equally(one: bytearray, other: bytearray, length: int) -> bool:
    return one == other if length == len(one) else one[:length] == other[:length]
