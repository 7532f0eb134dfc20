"""When files were made, as far as their file system remembers.

A file system gives the inode of a file that is gone to the next one that is made. A file whose inode, size and mtime are those of
a known one therefore need not be that one. But it is when it was made before the known one was last looked at: no two files have
one inode at the same time.

Asking costs more than a look at a file does, so only those few are asked for that something hangs on.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Sequence
from enum import Enum, auto
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from kurabito.clock import SECOND
from kurabito.dataplane.errors import PathEscapes
from kurabito.dataplane.files.names import as_name
from kurabito.dataplane.files.paths import Root, check_relative

_MARGIN: Final = 60 * SECOND
"""A file is looked at a while before that is written down, and the clocks of disk and database may differ."""
_NO_FOLLOW: Final = 0x100
_INODE: Final = 0x100
_BIRTH: Final = 0x800
_INODE_AT: Final = 32
_BIRTH_AT: Final = 80
_LENGTH: Final = 256
_SIXTY_FOUR_BITS: Final = 1 << 64


class Birth(Enum):
    """When the file at a path was made, seen from the moment at which a file with its inode was known."""

    BEFORE = auto()
    """It is the file that was known then."""
    AFTER = auto()
    """It is another one."""
    NEAR = auto()
    """It may be either."""
    UNKNOWN = auto()
    """Its file system does not say."""
    GONE = auto()
    """No file with that inode is at that path any more."""


class Suspect(NamedTuple):
    """A file that looks like a known one."""

    path: str
    inode: int
    known_at: int
    """When the known one was there, in microseconds."""


def look_up(folder: Path, suspects: Sequence[Suspect]) -> list[Birth]:
    """When these files of a library were made; raises RootUnavailable."""
    with Root(folder) as root:
        return [_birth(root, suspect) for suspect in suspects]


def _birth(root: Root, suspect: Suspect) -> Birth:
    try:
        *folders, name = check_relative(suspect.path)
        inode, born = _asked(root.open_folder(folders), as_name(name))
    except (OSError, PathEscapes):
        return Birth.GONE
    if (inode - suspect.inode) % _SIXTY_FOUR_BITS:
        return Birth.GONE
    if born is None:
        return Birth.UNKNOWN
    if abs(born - suspect.known_at) <= _MARGIN:
        return Birth.NEAR
    return Birth.BEFORE if born < suspect.known_at else Birth.AFTER


def _asked(folder: int, name: str) -> tuple[int, int | None]:
    """The inode of a name in an open folder, and when it was made in microseconds; raises OSError."""
    if (statx := _statx()) is None:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        born = getattr(found, "st_birthtime", None)
        return found.st_ino, None if born is None else round(born * SECOND)
    answer = ctypes.create_string_buffer(_LENGTH)
    if statx(folder, os.fsencode(name), _NO_FOLLOW, _INODE | _BIRTH, answer) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    (told,) = struct.unpack_from("I", answer)
    (inode,) = struct.unpack_from("Q", answer, _INODE_AT)
    seconds, nanoseconds = struct.unpack_from("qI", answer, _BIRTH_AT)
    # Some say that they know, and know nothing.
    knows = told & _BIRTH and (seconds or nanoseconds)
    return inode, seconds * SECOND + nanoseconds // 1000 if knows else None


@cache
def _statx() -> Any:
    """The call of Linux, for which Python has no name before 3.15; None elsewhere."""
    return getattr(ctypes.CDLL(None, use_errno=True), "statx", None) if sys.platform == "linux" else None
