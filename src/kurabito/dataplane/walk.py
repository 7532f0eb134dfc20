"""Walking a library in the order of its paths.

The order is that of the index in the database, so that what is there and what is known are compared in one pass, with bounded
memory, and a walk that was interrupted goes on after the path it came to. A folder sorts as its name with a slash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from stat import S_ISREG
from typing import Final

from kurabito.dataplane.names import as_name, as_text

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_AFTER_SLASH: Final = "0"
"""The character after the slash: everything below `a/` sorts before `a0`."""


Entry = tuple[str, int, int, int, int]
"""A file as a walk sees it: relative path, size, mtime in ns, inode, device. Not a class: one is made for every file, and rows
of the database are compared with them as they come."""


@dataclass
class Walk:
    """One walk through a folder that is open; `ignored` says which paths are passed over."""

    root: int
    after: str = ""
    ignored: Callable[[str], bool] = lambda _: False
    folders: int = 0
    problems: list[tuple[str, OSError]] = field(default_factory=list)
    """Folders and files that are there and could not be looked at."""

    def batches(self) -> Iterator[list[Entry]]:
        """The files, in lists of neighbours, in order."""
        stack = [_Folder("", os.dup(self.root), self)]
        try:
            while stack:
                folder = stack[-1]
                if files := folder.take_files():
                    yield files
                if folder.is_done:
                    stack.pop().close()
                elif (inner := folder.enter_next({each.identity for each in stack})) is not None:
                    stack.append(inner)
        finally:
            for folder in stack:
                folder.close()


class _Folder:
    """An open folder, and what of it is still to come."""

    def __init__(self, prefix: str, fd: int, walk: Walk) -> None:
        self.prefix = prefix
        self._fd = fd
        self._walk = walk
        found = os.fstat(fd)
        self.identity = (found.st_dev, found.st_ino)
        walk.folders += 1
        self._folders: set[str] = set()
        self._names = self._list()
        self._next = 0

    def _list(self) -> list[str]:
        walk, prefix, after = self._walk, self.prefix, self._walk.after
        names: list[str] = []
        try:
            with os.scandir(self._fd) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        text = as_text(entry.name) + "/"
                        if after and prefix + text[:-1] + _AFTER_SLASH <= after:
                            continue
                        self._folders.add(text)
                    elif entry.is_file(follow_symlinks=False):
                        text = as_text(entry.name)
                        if after and prefix + text <= after:
                            continue
                    else:
                        # Links, sockets, devices: not ours to read.
                        continue
                    names.append(text)
        except OSError as problem:
            walk.problems.append((prefix, problem))
        if walk.ignored is not Walk.ignored:
            names = [name for name in names if not walk.ignored(prefix + name)]
        names.sort()
        return names

    @property
    def is_done(self) -> bool:
        return self._next >= len(self._names)

    def take_files(self) -> list[Entry]:
        """The files up to the next folder."""
        names, folders, fd, prefix = self._names, self._folders, self._fd, self.prefix
        if not folders:
            mine, self._next = names, len(names)
        else:
            begin = self._next
            while self._next < len(names) and names[self._next] not in folders:
                self._next += 1
            mine = names[begin : self._next]
        found = []
        for text in mine:
            try:
                seen = os.stat(as_name(text), dir_fd=fd, follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError as problem:
                self._walk.problems.append((prefix + text, problem))
                continue
            if S_ISREG(seen.st_mode):
                found.append((prefix + text, seen.st_size, seen.st_mtime_ns, signed(seen.st_ino), signed(seen.st_dev)))
        return found

    def enter_next(self, above: set[tuple[int, int]]) -> _Folder | None:
        """The folder that comes next, opened; None when it cannot be, or when the walk is inside of it already."""
        text = self._names[self._next]
        self._next += 1
        try:
            fd = os.open(as_name(text[:-1]), _FOLDER, dir_fd=self._fd)
        except FileNotFoundError:
            return None
        except OSError as problem:
            self._walk.problems.append((self.prefix + text, problem))
            return None
        inner = _Folder(self.prefix + text, fd, self._walk)
        if inner.identity in above:
            # A folder that was mounted into itself.
            inner.close()
            return None
        return inner

    def close(self) -> None:
        os.close(self._fd)


def signed(number: int) -> int:
    """A number of 64 bits as databases keep it."""
    return number - (1 << 64) if number >= 1 << 63 else number
