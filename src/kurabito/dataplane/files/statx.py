"""`statx`: what Linux knows of a file and Python has no name for before 3.15."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any, Final, NamedTuple

NO_FOLLOW: Final = 0x0100
EMPTY_PATH: Final = 0x1000
"""The descriptor is the file itself, and no folder."""
FORCE_SYNC: Final = 0x2000
"""Ask the file system and not a cache."""
LINKS: Final = 0x0004
CTIME: Final = 0x0080
INODE: Final = 0x0100
BIRTH: Final = 0x0800


class _Timestamp(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_int64), ("nanoseconds", ctypes.c_uint32), ("spare", ctypes.c_int32))

    @property
    def ns(self) -> int:
        return int(self.seconds) * 1_000_000_000 + int(self.nanoseconds)


class _Answer(ctypes.Structure):
    """The kernel's `struct statx`, as far as it is read here."""

    _fields_ = (
        ("mask", ctypes.c_uint32),
        ("blksize", ctypes.c_uint32),
        ("attributes", ctypes.c_uint64),
        ("nlink", ctypes.c_uint32),
        ("uid_gid_mode_and_spare", ctypes.c_uint32 * 3),
        ("ino", ctypes.c_uint64),
        ("size_blocks_and_attributes_mask", ctypes.c_uint64 * 3),
        ("atime", _Timestamp),
        ("btime", _Timestamp),
        ("ctime", _Timestamp),
        ("rest", ctypes.c_uint8 * 144),
    )


class Statx(NamedTuple):
    """What was asked for; the rest is 0."""

    links: int
    inode: int
    ctime_ns: int
    birth_ns: int | None
    """None when the file system does not know it."""


def statx(folder: int, name: str, *, flags: int, wanted: int) -> Statx | None:
    """Look at a name in an open folder; None where there is no such call. Raises OSError."""
    if (function := _function()) is None:
        return None
    found = _Answer()
    if function(folder, os.fsencode(name), flags, wanted, ctypes.byref(found)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    # Some file systems say that they know when a file was made, and answer 0.
    knows_birth = found.mask & BIRTH and found.btime.ns
    return Statx(found.nlink, found.ino, found.ctime.ns, found.btime.ns if knows_birth else None)


@cache
def _function() -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), "statx", None) if sys.platform == "linux" else None
