"""Many files as columns: so they go from one process to another and into a database, without an object for each of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, Self, cast

from kurabito.dataplane.files.walk import Entry

SEPARATOR: Final = "//"
"""Between files in one text; no path has two slashes in a row."""


class Columns(NamedTuple):
    """Files in order: what stands at the same place of every column belongs to the same file."""

    paths: Sequence[str]
    sizes: Sequence[int]
    mtimes: Sequence[int]
    inodes: Sequence[int]
    devices: Sequence[int]

    @classmethod
    def of(cls, files: Sequence[Entry]) -> Self:
        """The columns of files that are there one by one."""
        return cls(*zip(*files, strict=True)) if files else cls((), (), (), (), ())

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All files of some that follow each other."""
        return parts[0] if len(parts) == 1 else cls(*map(_chained, zip(*parts, strict=True)))

    def files(self) -> list[Entry]:
        """The files one by one."""
        return cast("list[Entry]", list(zip(*self, strict=True)))

    def pack(self) -> tuple[str, bytes]:
        """The files for another process."""
        return SEPARATOR.join(self.paths), b"".join([array("q", numbers).tobytes() for numbers in self[1:]])

    @classmethod
    def unpack(cls, paths: str, numbers: bytes) -> Self:
        """Files that another process packed."""
        column = array("q", numbers)
        texts = paths.split(SEPARATOR)
        count = len(texts)
        return cls(texts, *(column[begin : begin + count] for begin in range(0, len(column), count)))


def _chained(parts: Iterable[Sequence[Any]]) -> list[Any]:
    return list(chain.from_iterable(parts))
