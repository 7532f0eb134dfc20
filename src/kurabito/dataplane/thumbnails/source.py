"""Opens the file that a thumbnail is drawn from: below its library, no link followed, and the very one that was meant."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.thumbnails.picture import ThumbnailFailed
from kurabito.protocol.error_codes import ErrorCode


@dataclass(frozen=True, slots=True)
class ThumbnailSource:
    """A file of a library as it was when its thumbnail was asked for."""

    root: str
    relative_path: str
    size: int
    mtime_ns: int

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor for reading it; raises ThumbnailFailed, at the end too when it changed meanwhile."""
        fd = _open(self.root, self.relative_path)
        try:
            self._check(fd)
            yield fd
            self._check(fd)
        finally:
            os.close(fd)

    def _check(self, fd: int) -> None:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise ThumbnailFailed(ErrorCode.THUMB_NOT_A_FILE, "it is no ordinary file")
        if (found.st_size, found.st_mtime_ns) != (self.size, self.mtime_ns):
            raise ThumbnailFailed(ErrorCode.FILE_CHANGED, "it changed since its thumbnail was asked for")
        if not found.st_size:
            raise ThumbnailFailed(ErrorCode.THUMB_EMPTY, "it has no content")


def look_at(root: str, relative_path: str) -> tuple[int, int]:
    """Size and mtime of a file as it lies there; raises ThumbnailFailed."""
    fd = _open(root, relative_path)
    try:
        found = os.fstat(fd)
    finally:
        os.close(fd)
    return found.st_size, found.st_mtime_ns


def _open(root: str, relative_path: str) -> int:
    try:
        with Root(Path(root)) as opened:
            return opened.open_file(relative_path)
    except PathEscapes as problem:
        raise ThumbnailFailed(ErrorCode.PATH_ESCAPES, str(problem)) from None
    except RootUnavailable as problem:
        raise ThumbnailFailed(ErrorCode.ROOT_UNAVAILABLE, str(problem)) from None
    except OSError as problem:
        raise _unreadable(problem) from None


def _unreadable(problem: OSError) -> ThumbnailFailed:
    match problem:
        case FileNotFoundError():
            return ThumbnailFailed(ErrorCode.FILE_MISSING, "it is not there any more")
        case NotADirectoryError():
            return ThumbnailFailed(ErrorCode.PATH_ESCAPES, "a folder of its path is a link, or no folder")
        case _ if problem.errno == errno.ELOOP:
            return ThumbnailFailed(ErrorCode.PATH_ESCAPES, "it is a link, which is not followed")
        case _:
            return ThumbnailFailed(ErrorCode.FILE_UNREADABLE, problem.strerror or type(problem).__name__)
