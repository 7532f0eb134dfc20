"""`thumbs` in the state folder: nothing is written or removed outside of it, whatever a row says."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kurabito.dataplane.errors import PathEscapes
from kurabito.dataplane.files.paths import check_relative
from kurabito.protocol.leased.thumbnails import PARTS_FOLDER, THUMBS_FOLDER

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD: Final = 3600.0
"""Seconds after which a part is left over: no picture is drawn for so long."""


class PartialFile:
    """A picture that is written whole and has no name of its own yet.

    The disk is not waited for: what a power cut leaves short does not have the length that its row says, and is drawn again.
    """

    def __init__(self, folder: ThumbFolder, parts: int) -> None:
        self.name = secrets.token_hex(16)
        self.is_published = False
        self._folder = folder
        self._parts = parts

    def publish(self, output_path: str) -> None:
        """Give it its own name; raises PathEscapes and OSError. Nothing is left to do the second time."""
        if self.is_published:
            return
        *folders, name = _checked(output_path)
        with self._folder.opened(folders, create=True) as folder:
            os.rename(self.name, name, src_dir_fd=self._parts, dst_dir_fd=folder)
        self.is_published = True


class ThumbFolder:
    """The folder of thumbnails. Paths are relative to it.

    Each part of a path is opened from the folder before it, and no link is followed.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / THUMBS_FOLDER

    @contextmanager
    def part(self, content: bytes) -> Iterator[PartialFile]:
        """A picture under a name that is not asked for; it goes at the end unless it was published."""
        with self.opened([PARTS_FOLDER], create=True) as parts:
            part = PartialFile(self, parts)
            try:
                _write(content, os.open(part.name, _NEW, 0o666, dir_fd=parts))
                yield part
            finally:
                if not part.is_published:
                    _unlink(part.name, parts)

    def remove(self, output_path: str) -> None:
        """Remove a picture, if it is there; raises PathEscapes and OSError."""
        *folders, name = _checked(output_path)
        try:
            with self.opened(folders, create=False) as folder:
                _unlink(name, folder)
        except FileNotFoundError:
            pass

    def sweep_parts(self) -> None:
        """Remove what was left behind by those who were killed while they wrote."""
        with self.opened([PARTS_FOLDER], create=True) as parts, os.scandir(parts) as entries:
            oldest = time.time() - _OLD
            for entry in entries:
                if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                    _unlink(entry.name, parts)

    @contextmanager
    def opened(self, folders: list[str], *, create: bool) -> Iterator[int]:
        """A descriptor of a folder in here; raises OSError, for a link too."""
        fd = self._root(create=create)
        try:
            for name in folders:
                inner = _open_inside(fd, name, create=create)
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)

    def _root(self, *, create: bool) -> int:
        # Here a link is followed: where the state folder has its parts is the keeper's own choice.
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        try:
            return os.open(self._folder, flags)
        except FileNotFoundError:
            if not create:
                raise
        self._folder.mkdir(parents=True, exist_ok=True)
        return os.open(self._folder, flags)


def _open_inside(folder: int, name: str, *, create: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        # Another runner made it in between.
        pass
    return os.open(name, _FOLDER, dir_fd=folder)


def _checked(output_path: str) -> tuple[str, ...]:
    parts = check_relative(output_path)
    if parts[0] == PARTS_FOLDER:
        raise PathEscapes(f"{output_path!r} is in the folder of what is not finished")
    return parts


def _write(content: bytes, fd: int) -> None:
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(fd, rest) :]
    finally:
        os.close(fd)


def _unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
