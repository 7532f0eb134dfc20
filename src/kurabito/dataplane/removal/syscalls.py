"""What Linux can do and Python does not offer. Where it is missing the caller gets an error, and decides what that means."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any, Final

from kurabito.dataplane.files.statx import CTIME, EMPTY_PATH, FORCE_SYNC, LINKS, statx

_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
_WRITE: Final = 2
UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})
"""What a kernel or file system answers that knows no such way to move a file."""


def rename_without_replacing(source: tuple[int, str], target: tuple[int, str]) -> None:
    """Rename, each name in its open folder, unless the target is taken; raises OSError, `UNSUPPORTED` where it cannot be done."""
    _rename(source, target, _NOREPLACE)


def swap(one: tuple[int, str], other: tuple[int, str]) -> None:
    """Give each of two files the name of the other, in one step; raises OSError, `UNSUPPORTED` where it cannot be done."""
    _rename(one, other, _EXCHANGE)


def links_and_ctime(fd: int) -> tuple[int, int]:
    """How many names an open file has and when it last changed, as its file system knows it and not as a cache remembers it."""
    try:
        found = statx(fd, "", flags=EMPTY_PATH | FORCE_SYNC, wanted=LINKS | CTIME)
    except OSError:
        found = None
    if found is not None:
        return found.links, found.ctime_ns
    seen = os.fstat(fd)
    return seen.st_nlink, seen.st_ctime_ns


def start_writing(fd: int, offset: int, length: int) -> None:
    """Have the disk begin with a part of a file, and do not wait for it. Promises nothing: an `fsync` finds less left to do."""
    if (function := _function("sync_file_range")) is not None:
        function(fd, ctypes.c_int64(offset), ctypes.c_int64(length), _WRITE)


def allocate(fd: int, size: int) -> None:
    """Have an empty file be so large, with room on its disk. Promises nothing: a write finds out what could not be done."""
    if (function := _function("fallocate")) is not None:
        function(fd, 0, ctypes.c_int64(0), ctypes.c_int64(size))


def _rename(source: tuple[int, str], target: tuple[int, str], flags: int) -> None:
    # As `os.rename` does, for those who watch what a program does to the disk.
    sys.audit("os.rename", source[1], target[1], source[0], target[0])
    function = _function("renameat2")
    if function is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), source[1], None, target[1])
    if function(source[0], os.fsencode(source[1]), target[0], os.fsencode(target[1]), flags):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), source[1], None, target[1])


@cache
def _function(name: str) -> Any:
    """A function of the C library; None where it has none of this name."""
    return getattr(ctypes.CDLL(None, use_errno=True), name, None)
