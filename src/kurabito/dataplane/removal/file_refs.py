"""Names of files, held by the folders they are in, and what was seen there.

A removal looks at a file, compares it, and acts on its name. In between another file may have been laid there, so everything
is done through open folders, and what is found is compared with what was seen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

from kurabito.dataplane.errors import DiskError, RootUnavailable
from kurabito.dataplane.files.paths import Root, as_name, check_relative
from kurabito.dataplane.removal.syscalls import links_and_ctime
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.error_codes import ErrorCode

K = TypeVar("K")

_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
_SYNCS: Final = 8
"""Folders that are synced at the same time."""
_PRIVATE: Final = 0o700
"""What lies in the trash had folders above it that may have been closed to others."""


class RemovalRefused(DiskError):
    """A file stays where it is, because moving or removing it would not be safe."""

    code = "refused"

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error_code = code


class Stranded(RemovalRefused):
    """A file was moved, should have stayed, and could not be put back: another one has its name by now. It is in the trash."""

    code = "stranded"


@dataclass(frozen=True, slots=True)
class FileStamp:
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

    def is_same_content(self, other: FileStamp | None) -> bool:
        """Whether this is the same file, not written to since. A rename or a link alone changes only the ctime."""
        return other is not None and (self.file, self.size, self.mtime_ns) == (other.file, other.size, other.mtime_ns)


@dataclass(frozen=True, slots=True)
class FileRef:
    """A name in a folder that is held open, and the way there from the root that it belongs to."""

    folder: int
    name: str
    root: Path
    folders: tuple[str, ...] = ()
    """The folders between the root and the name, as text."""

    def look(self) -> FileStamp | None:
        """The regular file that has this name; None when there is none."""
        try:
            found = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return FileStamp.of(found) if S_ISREG(found.st_mode) else None

    def is_taken(self) -> bool:
        """Whether anything at all has this name."""
        try:
            os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def find(self) -> FileStamp | None:
        """The regular file that is here for everybody who comes by its path from the root; None when there is none.

        The folder that is held open may lie elsewhere by now, or the root be another disk. The file is opened and its times
        are asked of its file system, because a pool or a share may answer a mere look from memory.
        """
        try:
            with Root(self.root) as root:
                fd = os.open(self.name, _FILE, dir_fd=root.open_folder(list(self.folders)))
                try:
                    found, (_, ctime_ns) = os.fstat(fd), links_and_ctime(fd)
                finally:
                    os.close(fd)
        except (OSError, RootUnavailable):
            return None
        return replace(FileStamp.of(found), ctime_ns=ctime_ns) if S_ISREG(found.st_mode) else None

    def open(self) -> int:
        """A descriptor for reading; raises OSError, for a link too."""
        return os.open(self.name, _FILE, dir_fd=self.folder)

    def beside(self, ending: str) -> FileRef:
        """The file whose name has this ending more."""
        return replace(self, name=self.name + ending)

    @property
    def in_trash(self) -> tuple[str, ...] | None:
        """The way from the trash folder that it lies in to this name; None when it lies in none."""
        above = [*self.root.resolve().parts, *map(as_name, self.folders)]
        if TRASH_FOLDER not in above:
            return None
        last = len(above) - above[::-1].index(TRASH_FOLDER)
        return (*above[last:], self.name)

    @property
    def shown(self) -> str:
        """The whole path, for people."""
        return str(self.root.joinpath(*map(as_name, self.folders), self.name))


def sync(*files: FileRef) -> None:
    """Have the names on the disk before anything is said about them."""
    for folder in dict.fromkeys(file.folder for file in files):
        os.fsync(folder)


class OpenRoots(Generic[K]):
    """Opens files below some roots for one removal; use it as a context. `folder_of` tells where a root is."""

    def __init__(self, folder_of: Callable[[K], Path]) -> None:
        self._folder_of = folder_of
        self._roots: dict[K, Root] = {}
        self._with_new: dict[tuple[K, tuple[str, ...]], int] = {}
        self._of_many: dict[tuple[K, tuple[str, ...]], FileRef] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def file(self, key: K, relative_path: str, *, create: bool = False) -> FileRef:
        """The file at a path, there or not; with `create` its folders are made. Raises OSError when they cannot be opened."""
        root = self._root(key)
        *folders, name = check_relative(relative_path)
        if create:
            for _, above in _make_folders(root, folders):
                os.fsync(above)
        folder = os.dup(root.open_folder(folders))
        self._open.callback(os.close, folder)
        return FileRef(folder, as_name(name), root.folder, tuple(folders))

    def file_of_many(self, key: K, relative_path: str) -> FileRef:
        """As `file` with `create`, for many: their folders are opened once, and on the disk only after `sync_many`."""
        *folders, name = check_relative(relative_path)
        where = key, tuple(folders)
        if where not in self._of_many:
            try:
                self._of_many[where] = self.file(key, relative_path)
            except FileNotFoundError:
                self._make_of_many(key, folders)
                self._of_many[where] = self.file(key, relative_path)
        beside = self._of_many[where]
        return FileRef(beside.folder, as_name(name), beside.root, beside.folders)

    def sync_many(self) -> None:
        """Have on the disk what was named by `file_of_many`, and the folders that it made: each folder is synced once."""
        folders = {where: file.folder for where, file in self._of_many.items()} | self._with_new
        self._with_new.clear()
        if folders:
            # At the same time: a file system writes all of them with one entry of its journal.
            with ThreadPoolExecutor(min(_SYNCS, len(folders)), "sync") as threads:
                for _ in threads.map(os.fsync, folders.values()):
                    pass

    def remove_empty(self, key: K, relative_path: str) -> None:
        """Take away the folders that a file was in, as far as nothing is in them any more."""
        root = self._root(key)
        *folders, _ = check_relative(relative_path)
        for depth in range(len(folders), 0, -1):
            try:
                os.rmdir(as_name(folders[depth - 1]), dir_fd=root.open_folder(folders[: depth - 1]))
            except OSError:
                # It has other files, or went already.
                return

    def trash_path(self, key: K, relative_path: str, *inside: str) -> str:
        """Where in the trash a file goes: at the top of its own file system, so that a rename takes it there."""
        top = self.top(key, relative_path)
        return "/".join([*check_relative(relative_path)[:top], TRASH_FOLDER, *inside])

    def top(self, key: K, relative_path: str) -> int:
        """How many folders below the root the file system of a file begins."""
        root = self._root(key)
        *folders, _ = check_relative(relative_path)
        devices = [os.fstat(root.open_folder(folders[:depth])).st_dev for depth in range(len(folders) + 1)]
        top = len(folders)
        while top and devices[top - 1] == devices[-1]:
            top -= 1
        return top

    def begun(self, key: K, relative_path: str, trash_path: str) -> tuple[FileRef, FileRef]:
        """Where a step that was begun acted: its file and the one in the trash.

        A disk that is not mounted looks like a folder in which nothing ever was. So without any trace of what was begun
        nothing is concluded: raises RootUnavailable.
        """
        root = self._root(key)
        if not _is_there(root, trash_path.rpartition("/")[0]) and not _is_there(root, relative_path):
            raise RootUnavailable(f"neither a file nor the trash beside it is there in {root.folder}; is it mounted?")
        return self.file(key, relative_path, create=True), self.file(key, trash_path, create=True)

    def open_path(self, key: K, relative_path: str) -> int:
        """A descriptor for reading the file at a path, which is not in the trash; raises PathEscapes and OSError."""
        fd = self._root(key).open_file(relative_path)
        self._open.callback(os.close, fd)
        return fd

    def open_file(self, file: FileRef) -> int:
        """A descriptor for reading the file that has this name now; raises OSError."""
        fd = file.open()
        self._open.callback(os.close, fd)
        return fd

    def _make_of_many(self, key: K, folders: list[str]) -> None:
        for depth, above in _make_folders(self._root(key), folders):
            where = key, tuple(folders[:depth])
            if where not in self._with_new:
                self._with_new[where] = os.dup(above)
                self._open.callback(os.close, self._with_new[where])

    def _root(self, key: K) -> Root:
        if key not in self._roots:
            self._roots[key] = self._open.enter_context(Root(self._folder_of(key)))
        return self._roots[key]


def _is_there(root: Root, relative_path: str) -> bool:
    *folders, name = check_relative(relative_path)
    try:
        return FileRef(root.open_folder(folders), as_name(name), root.folder).is_taken()
    except (FileNotFoundError, NotADirectoryError):
        return False


def _make_folders(root: Root, folders: list[str]) -> Iterator[tuple[int, int]]:
    """Make the folders that are missing; the folder that each new one is in, to be synced, and how deep that lies."""
    for depth, name in enumerate(folders):
        above = root.open_folder(folders[:depth])
        mode = _PRIVATE if TRASH_FOLDER in folders[: depth + 1] else 0o777
        try:
            os.mkdir(as_name(name), mode, dir_fd=above)
        except FileExistsError:
            continue
        yield depth, above
