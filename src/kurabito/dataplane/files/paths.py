"""Paths that come from the database or from elsewhere: checked before every use, and never followed out of their root."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.files.names import as_name, shown

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
_LONGEST: Final = 4096
_NO_NAMES: Final = ("", ".", "..")


def check_relative(text: str) -> tuple[str, ...]:
    """The parts of a relative path that stays where it is; raises PathEscapes."""
    parts = tuple(text.split("/"))
    if not text or "\0" in text or len(text) > _LONGEST or any(part in _NO_NAMES for part in parts):
        raise PathEscapes(f"{shown(text)!r} is not the path of something below a library's folder")
    return parts


class Root:
    """A library's folder, held open. What is opened through it lies below it, whatever links somebody lays meanwhile.

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
        """A descriptor for reading a file; raises PathEscapes and OSError."""
        folder, _, name = relative_path.rpartition("/")
        if folder != self._folder_of_last or name in _NO_NAMES or "\0" in name:
            *folders, name = check_relative(relative_path)
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
