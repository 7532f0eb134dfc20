"""Names of files, held by the folders they are in, and what was seen there.

A step looks at a file, compares it, and acts on its name. In between somebody may have laid another file there, so everything
is done through open folders, and what is found is compared with what was seen.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import Final, Self

from kurabito.dataplane.names import as_name
from kurabito.dataplane.paths import Root, check_relative
from kurabito.errors import KurabitoError, RootUnavailable
from kurabito.protocol.codes import ErrorCode
from kurabito.protocol.deletion import TRASH_FOLDER

_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK


class Refused(KurabitoError):
    """A step is not taken, and nothing was changed."""

    code = "refused"

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error_code = code


@dataclass(frozen=True, slots=True)
class Seen:
    """What tells that a file is still the one that was looked at."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    @property
    def file(self) -> tuple[int, int]:
        """Which file it is, under whatever name."""
        return self.device, self.inode

    def is_same_content(self, other: Seen | None) -> bool:
        """Whether this is the same file and nobody wrote to it. A rename or a link alone changes only the ctime."""
        return other is not None and (self.file, self.size, self.mtime_ns) == (other.file, other.size, other.mtime_ns)


@dataclass(frozen=True, slots=True)
class Place:
    """A name in a folder that is held open."""

    folder: int
    name: str

    def look(self) -> Seen | None:
        """The regular file that has this name; None when there is none."""
        try:
            found = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return Seen.of(found) if S_ISREG(found.st_mode) else None

    def is_taken(self) -> bool:
        """Whether anything at all has this name."""
        try:
            os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def open(self) -> int:
        """A descriptor for reading; raises OSError, for a link too."""
        return os.open(self.name, _FILE, dir_fd=self.folder)


class Visit:
    """Opens places in libraries for one step; use it as a context. `folder_of` tells where a library is."""

    def __init__(self, folder_of: Callable[[int], Path]) -> None:
        self._folder_of = folder_of
        self._roots: dict[int, Root] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def place(self, library_id: int, relative_path: str, *, create: bool = False) -> Place:
        """The place of a path; with `create` its folders are made. Raises OSError when they cannot be opened."""
        root = self._root(library_id)
        *folders, name = check_relative(relative_path)
        if create:
            _make_folders(root, folders)
        folder = os.dup(root.open_folder(folders))
        self._open.callback(os.close, folder)
        return Place(folder, as_name(name))

    def trash_path(self, library_id: int, relative_path: str, entry_id: str) -> str:
        """Where in the trash a file goes: at the top of its own file system, so that a rename takes it there."""
        root = self._root(library_id)
        *folders, _ = check_relative(relative_path)
        devices = [os.fstat(root.open_folder(folders[:depth])).st_dev for depth in range(len(folders) + 1)]
        top = len(folders)
        while top and devices[top - 1] == devices[-1]:
            top -= 1
        return "/".join([*folders[:top], TRASH_FOLDER, entry_id])

    def begun(self, library_id: int, relative_path: str, trash_path: str) -> tuple[Place, Place]:
        """Where a step that was begun acted: the place of its file and the one in the trash.

        A disk that is not mounted looks like a folder in which nothing ever was. So without any trace of what was begun
        nothing is concluded: raises RootUnavailable.
        """
        root = self._root(library_id)
        if not _is_there(root, trash_path.rpartition("/")[0]) and not _is_there(root, relative_path):
            raise RootUnavailable(f"neither a file nor the trash beside it is there in {root.folder}; is it mounted?")
        return self.place(library_id, relative_path, create=True), self.place(library_id, trash_path, create=True)

    def open_file(self, place: Place) -> int:
        """A descriptor for reading the file that has this name now; raises OSError."""
        fd = place.open()
        self._open.callback(os.close, fd)
        return fd

    def _root(self, library_id: int) -> Root:
        if library_id not in self._roots:
            self._roots[library_id] = self._open.enter_context(Root(self._folder_of(library_id)))
        return self._roots[library_id]


def _is_there(root: Root, relative_path: str) -> bool:
    *folders, name = check_relative(relative_path)
    try:
        return Place(root.open_folder(folders), as_name(name)).is_taken()
    except (FileNotFoundError, NotADirectoryError):
        return False


def _make_folders(root: Root, folders: list[str]) -> None:
    for depth, name in enumerate(folders):
        above = root.open_folder(folders[:depth])
        try:
            os.mkdir(as_name(name), dir_fd=above)
        except FileExistsError:
            continue
        os.fsync(above)
