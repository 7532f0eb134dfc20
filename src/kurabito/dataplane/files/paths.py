"""Names and paths of files: as text that every database can hold, checked before every use, never followed out of their root.

A name is bytes. Nearly all are UTF-8 and are stored as what they say. A byte that is not, becomes one character of a private
range (U+EF80 for 0x80 … U+EFFF for 0xFF), and a real character of that range becomes the escapes of its own bytes, so that
every name has exactly one text and every such text leads back to its name.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.terms import LONGEST_PATH

_BASE: Final = 0xEF00
_ODD: Final = re.compile("[\udc80-\udcff\uef80-\uefff]")
_ESCAPES: Final = re.compile("[\uef80-\uefff]+")
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
_NO_NAMES: Final = ("", ".", "..")


def is_plain(names: str) -> bool:
    """True when every name in here is its own text."""
    return names.isascii() or not _ODD.search(names)


def as_text(name: str) -> str:
    """The text of a name as the operating system's functions give it."""
    if is_plain(name):
        return name
    return _ODD.sub(_escape, name)


def as_name(text: str) -> str:
    """The name that a text stands for, as the operating system's functions take it."""
    if text.isascii() or not _ESCAPES.search(text):
        return text
    return _ESCAPES.sub(_restore, text)


def shown(text: str) -> str:
    """The text for people: bytes that are no text are written out."""
    return _ESCAPES.sub(lambda found: "".join(f"\\x{ord(char) & 0xFF:02x}" for char in found[0]), text)


def check_relative(text: str) -> tuple[str, ...]:
    """The parts of a relative path that stays where it is; raises PathEscapes."""
    parts = tuple(text.split("/"))
    if not text or "\0" in text or len(text) > LONGEST_PATH or any(part in _NO_NAMES for part in parts):
        raise PathEscapes(f"{shown(text)!r} is not the path of something below a library's folder")
    return parts


class Root:
    """A library's folder, held open. What is opened through it lies below it, whatever links are laid meanwhile.

    Each part of a path is opened from the folder before it, and no link is followed. The folders of the path that was
    opened last stay open, because the next one mostly lies beside it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: list[tuple[str, int]] = []
        self._folder_of_last: str | None = None

    def __enter__(self) -> Self:
        try:
            # Here a link is followed: which folder the library is was the keeper's own choice.
            self._open.append(("", os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)))
        except OSError as problem:
            raise RootUnavailable(
                f"the folder {self.folder} cannot be read: {problem.strerror}; is the disk there, and the share mounted?"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, fd in self._open:
            os.close(fd)
        self._open.clear()

    @property
    def fd(self) -> int:
        """The folder itself."""
        return self._open[0][1]

    def is_in_place(self) -> bool:
        """Whether the folder that is open is still the one at its path: an unmounted share leaves another there."""
        try:
            return os.path.samestat(self.folder.stat(), os.fstat(self.fd))
        except OSError:
            return False

    def open_file(self, relative_path: str) -> int:
        """A descriptor for reading a file of the library; raises PathEscapes and OSError."""
        folder, _, name = relative_path.rpartition("/")
        is_beside_last = folder == self._folder_of_last and len(relative_path) <= LONGEST_PATH
        if not is_beside_last or name in _NO_NAMES or "\0" in name:
            *folders, name = check_relative(relative_path)
            if TRASH_FOLDER in folders:
                raise PathEscapes(f"{shown(relative_path)!r} leads into the trash, which belongs to no library")
            self.open_folder(folders)
            self._folder_of_last = folder
        return os.open(as_name(name), _FILE, dir_fd=self._open[-1][1])

    def open_folder(self, parts: list[str]) -> int:
        """A descriptor of a folder below the root, which stays ours; raises OSError, for a link too."""
        self._folder_of_last = None
        depth = 0
        while depth < len(parts) and depth + 1 < len(self._open) and self._open[depth + 1][0] == parts[depth]:
            depth += 1
        while len(self._open) > depth + 1:
            os.close(self._open.pop()[1])
        for part in parts[depth:]:
            self._open.append((part, os.open(as_name(part), _FOLDER, dir_fd=self._open[-1][1])))
        return self._open[-1][1]


def _escape(found: re.Match[str]) -> str:
    return "".join(chr(_BASE + byte) for byte in found[0].encode("utf-8", "surrogateescape"))


def _restore(found: re.Match[str]) -> str:
    return bytes(ord(char) & 0xFF for char in found[0]).decode("utf-8", "surrogateescape")
