"""When files were made, as far as their file system remembers.

A file system gives the inode of a file that is gone to the next one that is made. A file whose inode, size and mtime are those of
a known one therefore need not be that one. But it is when it was made before the known one was last looked at: no two files have
one inode at the same time.

Asking costs more than a look at a file does, so only those few are asked for that something hangs on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.clock import SECOND
from kurabito.dataplane.errors import PathEscapes
from kurabito.dataplane.files.paths import Root, as_name, check_relative
from kurabito.dataplane.files.statx import BIRTH, INODE, NO_FOLLOW, statx
from kurabito.protocol.terms import BIRTH_MARGIN_SECONDS

_MARGIN: Final = BIRTH_MARGIN_SECONDS * SECOND
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
    if (known := statx(folder, name, flags=NO_FOLLOW, wanted=INODE | BIRTH)) is not None:
        return known.inode, None if known.birth_ns is None else known.birth_ns // 1000
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    born = getattr(found, "st_birthtime", None)
    return found.st_ino, None if born is None else round(born * SECOND)
