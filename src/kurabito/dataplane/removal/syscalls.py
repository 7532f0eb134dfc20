"""What Linux can do and Python does not offer. Where it cannot be had the caller is told, and decides what that means."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any, Final

_AT_EMPTY_PATH: Final = 0x1000
_AT_STATX_FORCE_SYNC: Final = 0x2000
_NLINK_AND_CTIME: Final = 0x0004 | 0x0080
_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})
"""What a kernel or file system answers that knows no such way to move a file."""


class _Statx(ctypes.Structure):
    """The beginning of the kernel's `struct statx`, as far as it is read here."""

    _fields_ = (
        ("mask", ctypes.c_uint32),
        ("blksize", ctypes.c_uint32),
        ("attributes", ctypes.c_uint64),
        ("nlink", ctypes.c_uint32),
        ("uid_gid_mode_and_spare", ctypes.c_uint32 * 3),
        ("ino_size_blocks_and_attributes_mask", ctypes.c_uint64 * 4),
        ("atime", ctypes.c_int64 * 2),
        ("btime", ctypes.c_int64 * 2),
        ("ctime_seconds", ctypes.c_int64),
        ("ctime_nanoseconds", ctypes.c_uint32),
        ("rest", ctypes.c_uint8 * 148),
    )


def rename_without_replacing(source: tuple[int, str], target: tuple[int, str]) -> None:
    """Rename, each name in its open folder, unless the target is taken; raises OSError, `UNSUPPORTED` where it cannot be done."""
    _rename(source, target, _NOREPLACE)


def swap(one: tuple[int, str], other: tuple[int, str]) -> None:
    """Give each of two files the name of the other, in one step; raises OSError, `UNSUPPORTED` where it cannot be done."""
    _rename(one, other, _EXCHANGE)


def links_and_ctime(fd: int) -> tuple[int, int]:
    """How many names an open file has and when it last changed, as its file system knows it and not as a cache remembers it."""
    function = _function("statx")
    if function is not None:
        found = _Statx()
        flags = _AT_EMPTY_PATH | _AT_STATX_FORCE_SYNC
        if not function(fd, b"", flags, _NLINK_AND_CTIME, ctypes.byref(found)):
            return found.nlink, found.ctime_seconds * 1_000_000_000 + found.ctime_nanoseconds
    seen = os.fstat(fd)
    return seen.st_nlink, seen.st_ctime_ns


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
