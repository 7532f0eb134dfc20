"""A file that is made beside its place, and gets its name once it is whole.

Where the file system can, it has no name until then, so that a crash leaves nothing. Elsewhere it has a hidden name of our own,
which says whose it is; what a crash left of those is taken away by the next placement into the same folder.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from kurabito.dataplane.placing.refusals import PlacementRefused
from kurabito.dataplane.removal import successor
from kurabito.dataplane.removal.file_refs import FileRef
from kurabito.dataplane.removal.moves import NO_LINKS
from kurabito.dataplane.removal.own_names import unlink
from kurabito.protocol.error_codes import ErrorCode

_UNNAMED: Final = getattr(os, "O_TMPFILE", 0)
_NO_UNNAMED: Final = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS})
_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILES: Final = "/proc/self/fd"
_PART: Final = re.compile(r"\.kurabito-(\d+)-[0-9a-f]{16}\.part(\.[0-9a-f]{16})?")


@dataclass
class StagedFile:
    """A file that is open for writing and not yet in its place."""

    fd: int
    target: FileRef
    part: FileRef | None
    """Its hidden name; None when it has no name."""

    def publish(self) -> None:
        """Give it its name; raises FileExistsError when that is taken."""
        if self.part is None:
            link_open(self.fd, self.target)
            return
        successor.move(self.part, self.target)
        self.part = None

    def discard(self) -> None:
        """Leave nothing of it, unless it was published."""
        if self.part is not None:
            with suppress(FileNotFoundError):
                unlink(self.part)


@contextmanager
def stage(target: FileRef, placement_id: int) -> Iterator[StagedFile]:
    """A new file beside a target, which goes again unless it is published."""
    fd, part = _open_new(target, placement_id)
    staged = StagedFile(fd, target, part)
    try:
        yield staged
    finally:
        staged.discard()
        os.close(fd)


def link_open(fd: int, target: FileRef) -> None:
    """Give an open file another name, the very one that was looked at and whatever lies at its path now."""
    os.link(f"{_OPEN_FILES}/{fd}", target.name, dst_dir_fd=target.folder, follow_symlinks=True)


def link(source: FileRef, target: FileRef) -> None:
    """Give a file another name; raises PlacementRefused where there are no links."""
    try:
        os.link(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as problem:
        if problem.errno not in NO_LINKS:
            raise
        raise PlacementRefused(
            ErrorCode.LINK_UNSUPPORTED, path=target.shown, problem="neither links nor moves that replace nothing"
        ) from None


def can_link_open() -> bool:
    """Whether an open file can be given a name."""
    return Path(_OPEN_FILES).exists()


def remove_leftovers(beside: FileRef, abandoned: Callable[[set[int]], set[int]]) -> None:
    """Take away what placements that were killed left in a folder; `abandoned` tells which of these are not under way."""
    with os.scandir(beside.folder) as entries:
        found = {entry.name: int(match[1]) for entry in entries if (match := _PART.fullmatch(entry.name))}
    if not found:
        return
    over = abandoned(set(found.values()))
    for name, placement_id in found.items():
        if placement_id in over:
            with suppress(FileNotFoundError):
                unlink(replace(beside, name=name))


def _open_new(target: FileRef, placement_id: int) -> tuple[int, FileRef | None]:
    if _UNNAMED and can_link_open():
        try:
            return os.open(".", _UNNAMED | os.O_RDWR | os.O_CLOEXEC, 0o666, dir_fd=target.folder), None
        except OSError as problem:
            if problem.errno not in _NO_UNNAMED:
                raise
    part = replace(target, name=f".kurabito-{placement_id}-{secrets.token_hex(8)}.part")
    return os.open(part.name, _NEW, 0o666, dir_fd=part.folder), part
