"""Walking a library in the order of its paths.

The order is that of the index in the database, so that the files on the disk and those in the database are compared in one pass, with bounded
memory, and a walk that was interrupted goes on after the path it came to. A folder sorts as its name with a slash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from stat import S_ISREG
from typing import Final

from kurabito.dataplane.files.paths import as_name, as_text, is_plain
from kurabito.protocol.deletion import TRASH_FOLDER

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_AFTER_SLASH: Final = "0"
"""The character after the slash: everything below `a/` sorts before `a0`."""
_LARGEST: Final = (1 << 63) - 1
_TRASH: Final = TRASH_FOLDER + "/"


Entry = tuple[str, int, int, int, int]
"""A file as a walk sees it: relative path, size, mtime in ns, inode, device. Not a class: one is made for every file, and rows
of the database are compared with them as they come."""

path_of: Final = itemgetter(0)
size_of: Final = itemgetter(1)

Identity = tuple[int, int]
"""The device and inode of a folder: what it is, by whatever path one came to it."""

Keep = Callable[[str, list[str]], list[str]]
"""Of the names in a folder those that are looked at. The folder is given as the path before its names; names of folders in it
end with a slash."""


@dataclass
class Walk:
    """One walk through a folder that is open.

    Everything up to the path `after` is passed over, as are names that `keep` leaves out, the folders in `closed`, and what
    was put into the trash.
    """

    root: int
    after: str = ""
    keep: Keep | None = None
    closed: frozenset[Identity] = frozenset()
    prefix: str = ""
    """What the paths of the files begin with, where the root is a folder inside of a library."""
    names: list[str] | None = None
    """The names in the root that are walked, in order, where they were listed before; folders end with a slash."""
    above: frozenset[Identity] = frozenset()
    """The folders that the root lies in."""
    folders: int = 0
    """How many folders were entered below the root, not counting those that were entered on the way to `after`."""
    problems: list[tuple[str, OSError]] = field(default_factory=list)
    """Folders and files that are there and could not be looked at."""

    def batches(self) -> Iterator[list[Entry]]:
        """The files, in lists of neighbours, in order."""
        stack = [self.enter()]
        try:
            while stack:
                folder = stack[-1]
                if files := folder.take_files():
                    yield files
                if folder.is_done:
                    stack.pop().close()
                elif (inner := folder.enter_next(self.above.union([each.identity for each in stack]))) is not None:
                    stack.append(inner)
        finally:
            for folder in stack:
                folder.close()

    def enter(self) -> WalkedFolder:
        """The root, as the first folder of the walk."""
        return WalkedFolder(self.prefix, os.dup(self.root), identity_of(self.root), self, self.names)


class WalkedFolder:
    """An open folder, and what of it is still to come."""

    def __init__(self, prefix: str, fd: int, identity: Identity, walk: Walk, names: list[str] | None = None) -> None:
        self.prefix = prefix
        self.identity = identity
        self._fd = fd
        self._walk = walk
        self._folders: set[str] = set()
        self._plain = True
        self._names = self._list() if names is None else self._given(names)
        self._next = 0

    def _given(self, names: list[str]) -> list[str]:
        self._plain = is_plain("".join(names))
        self._folders = {name for name in names if name.endswith("/")}
        return names

    def _list(self) -> list[str]:
        walk, prefix = self._walk, self.prefix
        files: list[str] = []
        folders: list[str] = []
        try:
            with os.scandir(self._fd) as entries:
                for entry in entries:
                    # Whatever is no folder is looked at more closely when its turn comes.
                    (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        except OSError as problem:
            walk.problems.append((prefix, problem))
        self._plain = is_plain("".join(files)) and is_plain("".join(folders))
        if not self._plain:
            files, folders = list(map(as_text, files)), list(map(as_text, folders))
        if prefix <= walk.after:
            files, folders = self._after(walk.after, files, folders)
        self._folders = {name + "/" for name in folders}
        self._folders.discard(_TRASH)
        names = [*files, *self._folders]
        if walk.keep is not None:
            names = walk.keep(prefix, names)
        names.sort()
        return names

    def _after(self, after: str, files: list[str], folders: list[str]) -> tuple[list[str], list[str]]:
        prefix = self.prefix
        return (
            [name for name in files if prefix + name > after],
            [name for name in folders if prefix + name + _AFTER_SLASH > after],
        )

    @property
    def is_done(self) -> bool:
        return self._next >= len(self._names)

    @property
    def folders(self) -> int:
        """How many folders are in it."""
        return len(self._folders)

    def take_names(self, most: int, most_folders: int) -> list[str]:
        """The names that come next, to be walked elsewhere."""
        begin, end = self._next, min(self._next + most, len(self._names))
        folders = 0
        for place in range(begin, end):
            folders += self._names[place] in self._folders
            if folders > most_folders:
                end = place
                break
        self._next = end
        return self._names[begin:end]

    def take_files(self) -> list[Entry]:
        """The files up to the next folder."""
        names, folders = self._names, self._folders
        begin = self._next
        if folders:
            while self._next < len(names) and names[self._next] not in folders:
                self._next += 1
        else:
            self._next = len(names)
        mine = names[begin : self._next]
        return self._look_at(mine, mine if self._plain else map(as_name, mine))

    def _look_at(self, texts: list[str], names: Iterable[str]) -> list[Entry]:
        stat, prefix, fd = os.stat, self.prefix, self._fd
        found = []
        for text, name in zip(texts, names, strict=True):
            try:
                seen = stat(name, dir_fd=fd, follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError as problem:
                self._walk.problems.append((prefix + text, problem))
                continue
            # Links, sockets, devices: not ours to read.
            if S_ISREG(seen.st_mode):
                inode, mtime = seen.st_ino, seen.st_mtime_ns
                if inode > _LARGEST or mtime > _LARGEST:
                    inode, mtime = signed(inode), signed(mtime)
                found.append((prefix + text, seen.st_size, mtime, inode, seen.st_dev))
        return found

    def enter_next(self, above: frozenset[Identity]) -> WalkedFolder | None:
        """The folder that comes next, opened; None when it cannot be, is closed to us, or the walk is inside of it already."""
        text = self._names[self._next]
        self._next += 1
        try:
            fd = os.open(as_name(text[:-1]), _FOLDER, dir_fd=self._fd)
        except FileNotFoundError:
            return None
        except OSError as problem:
            self._walk.problems.append((self.prefix + text, problem))
            return None
        identity = identity_of(fd)
        # It is above itself when it is mounted there.
        if identity in above or identity in self._walk.closed:
            os.close(fd)
            return None
        if self.prefix + text > self._walk.after:
            self._walk.folders += 1
        return WalkedFolder(self.prefix + text, fd, identity, self._walk)

    def close(self) -> None:
        os.close(self._fd)


def identity_of(folder: int) -> Identity:
    """What an open folder is, however one came to it."""
    found = os.fstat(folder)
    return found.st_dev, found.st_ino


def signed(number: int) -> int:
    """A number of 64 bits as databases keep it; one that needs more loses the rest."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
