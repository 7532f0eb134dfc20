"""Taking surplus copies away, one by one, each only after it was compared byte for byte with the copy that stays.

Nothing is destroyed: a copy is moved into a trash folder on its own file system, under the path that it had. Who wants it back
moves it back; who wants the room removes the folder.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from kurabito.dataplane.dedupe import Group
from kurabito.dataplane.dedupe_found import File, path_of
from kurabito.dataplane.names import as_name
from kurabito.dataplane.paths import Root, check_relative
from kurabito.dataplane.walk import Entry, signed
from kurabito.errors import DiskError
from kurabito.protocol.deletion import TRASH_FOLDER

_BUFFER: Final = 1 << 20
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class RemovalRefused(DiskError):
    """A copy stays where it is, because removing it would not be safe."""

    code = "removal_refused"


@dataclass(frozen=True, slots=True)
class Removal:
    """What is planned for one group."""

    size: int
    kept: File
    surplus: tuple[File, ...]

    @property
    def freed(self) -> int:
        return self.size * len({entry[3:] for _, entry in self.surplus})


def plan(groups: Iterable[Group]) -> Iterator[Removal]:
    """Which copy of each group stays: of the path that was given first, and of those the oldest.

    Further names of the copy that stays take no room, and stay too.
    """
    for group in groups:
        kept = min(group.files, key=_preference)
        surplus = tuple(file for file in group.files if file[1][3:] != kept[1][3:])
        if surplus:
            yield Removal(group.size, kept, surplus)


def _preference(file: File) -> tuple[int, int, str]:
    place, entry = file
    return place.rank(entry[0]), entry[2], path_of(file)


class Trash:
    """Moves copies into trash folders, one for each file system, all under the same new name."""

    def __init__(self, moment: datetime) -> None:
        self._name = f"{moment:%Y%m%d-%H%M%S}-{os.getpid()}"
        self.folders: dict[str, int] = {}
        """The folders that were used, and how many files went there."""
        self._buffers = (memoryview(mmap.mmap(-1, _BUFFER)), memoryview(mmap.mmap(-1, _BUFFER)))

    def take(self, surplus: File, kept: File) -> None:
        """Move a copy away, if it is one at this very moment; raises RemovalRefused, and the copy is where it was."""
        path = path_of(surplus)
        if surplus[1][3:] == kept[1][3:]:
            raise RemovalRefused(f"{path} stays: it is {path_of(kept)} under another name")
        with ExitStack() as opened:
            try:
                mine = opened.enter_context(Root(Path(surplus[0].folder)))
                theirs = opened.enter_context(Root(Path(kept[0].folder)))
                fd = _open(mine, surplus[1], opened)
                other = _open(theirs, kept[1], opened)
                self._compare(fd, other)
                # Whoever wrote into one of them while they were compared has changed its time.
                unchanged = _is(fd, surplus[1]) and _is(other, kept[1])
                if not unchanged:
                    raise RemovalRefused("one of the two changed meanwhile")
                self._move(mine, surplus, opened)
            except OSError as problem:
                raise RemovalRefused(f"{path} stays: {problem.strerror}") from None
            except DiskError as problem:
                raise RemovalRefused(f"{path} stays: {problem}") from None

    def _compare(self, fd: int, other: int) -> None:
        one, two = self._buffers
        offset = 0
        while read := os.preadv(fd, (one,), offset):
            if os.preadv(other, (two,), offset) != read or one[:read] != two[:read]:
                raise RemovalRefused("its content is not that of the copy that would be kept")
            offset += read
        if os.preadv(other, (two,), offset):
            raise RemovalRefused("its content is not that of the copy that would be kept")

    def _move(self, root: Root, file: File, opened: ExitStack) -> None:
        place, entry = file
        *folders, name = check_relative(entry[0])
        depth = _top_of_file_system(root, folders, entry)
        trash = root.open_folder(folders[:depth])
        for part in (TRASH_FOLDER, self._name, *folders[depth:]):
            trash = _enter(trash, part, opened)
        source = root.open_folder(folders)
        os.rename(as_name(name), as_name(name), src_dir_fd=source, dst_dir_fd=trash)
        moved = os.stat(as_name(name), dir_fd=trash, follow_symlinks=False)
        if (signed(moved.st_ino), signed(moved.st_dev)) != entry[3:]:
            # Somebody put another file there between the last look and the move.
            os.rename(as_name(name), as_name(name), src_dir_fd=trash, dst_dir_fd=source)
            raise RemovalRefused("it was replaced meanwhile")
        used = place.shown("/".join([*folders[:depth], TRASH_FOLDER, self._name]))
        self.folders[used] = self.folders.get(used, 0) + 1


def _top_of_file_system(root: Root, folders: list[str], entry: Entry) -> int:
    """How many folders below the root the file's own file system begins."""
    for depth in range(len(folders) + 1):
        if signed(os.fstat(root.open_folder(folders[:depth])).st_dev) == entry[4]:
            return depth
    raise RemovalRefused("it is on another file system than its folder")


def _open(root: Root, entry: Entry, opened: ExitStack) -> int:
    fd = root.open_file(entry[0])
    opened.callback(os.close, fd)
    if not _is(fd, entry):
        raise RemovalRefused(f"{root.folder}/{entry[0]} changed since it was read")
    return fd


def _is(fd: int, entry: Entry) -> bool:
    now = os.fstat(fd)
    return (now.st_size, now.st_mtime_ns, signed(now.st_ino), signed(now.st_dev)) == entry[1:]


def _enter(folder: int, part: str, opened: ExitStack) -> int:
    """A folder inside another, made if it is not there."""
    try:
        os.mkdir(as_name(part), 0o700, dir_fd=folder)
    except FileExistsError:
        pass
    inner = os.open(as_name(part), _FOLDER, dir_fd=folder)
    opened.callback(os.close, inner)
    return inner
