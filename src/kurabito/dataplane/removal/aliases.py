"""One file that is seen through two mounts looks like two files of equal content, and has no second copy.

A pool of disks (mergerfs, overlayfs) shows what its disks show, under a device of its own; so does a share that leads back to
the same machine. The two names cannot be told from two files by looking at them. So something is done to the one, in the trash
and not in a library, and it is looked for through the other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from kurabito.dataplane.removal.file_refs import FileRef, RemovalRefused
from kurabito.dataplane.removal.pairs import Pair
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.error_codes import ErrorCode

_HIGHEST: Final = 128
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


def refuse_twins(pair: Pair) -> None:
    """Refuse two files on different devices that have one inode number and the same times to the nanosecond."""
    ours, theirs = pair.source_seen, pair.kept_seen
    if ours.device != theirs.device and (ours.inode, ours.size, ours.mtime_ns, ours.ctime_ns) == (
        theirs.inode,
        theirs.size,
        theirs.mtime_ns,
        theirs.ctime_ns,
    ):
        raise _alias()


def refuse_seen_elsewhere(pair: Pair, probe: FileRef) -> None:
    """Refuse a pair when something in the trash of the one is seen, under another device, in a trash above the other.

    The same name with the same inode is no sign of anything: both files may well have one trash.
    """
    here, inside = probe.look(), probe.in_trash
    if here is None or inside is None:
        raise RemovalRefused(
            ErrorCode.DISK_FAILURE, "what was put into the trash is not there; who else removes things there?"
        )
    path = "/".join((TRASH_FOLDER, *inside))
    for folder in _upwards(pair.kept.folder):
        try:
            found = os.stat(path, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue
        if (found.st_dev, found.st_ino) != here.file:
            raise _alias()


def refuse_touched(before: tuple[int, int], after: tuple[int, int]) -> None:
    """Refuse when the kept copy got another name at the moment in which the file that goes was given one."""
    if before != after:
        raise _alias()


def _upwards(folder: int) -> Iterator[int]:
    """An open folder and the folders above it, to the top of everything."""
    current = os.dup(folder)
    try:
        for _ in range(_HIGHEST):
            yield current
            try:
                above = os.open("..", _FOLDER, dir_fd=current)
            except OSError:
                return
            is_top = os.path.samestat(os.fstat(above), os.fstat(current))
            os.close(current)
            current = above
            if is_top:
                return
    finally:
        os.close(current)


def _alias() -> RemovalRefused:
    return RemovalRefused(
        ErrorCode.SAME_FILE,
        "the kept copy is the same file, seen through another mount (a pool over a disk, or a share of it), so this is its "
        "only copy; keep either the pool or its disks as libraries",
    )
