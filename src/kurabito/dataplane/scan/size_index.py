"""Which files of a scan share their size with another: only they can have a duplicate."""

from __future__ import annotations

from collections import Counter
from typing import Final

from kurabito.dataplane.scan.columns import Columns

_MOST: Final = 250_000


class SizeIndex:
    """The sizes that a scan came across, as many as fit into a bounded memory.

    Whoever has a size that was met before is hashed. The first file of each size was stored by then, and is told at the end.
    """

    def __init__(self, *, every_file: bool = False) -> None:
        self._every_file = every_file
        self._first: dict[int, str | None] = {}
        """The only file of a size; None where there are more."""
        self.late: list[str] = []
        """Files that turned out to share their size only after they were given out as unique."""

    @property
    def is_complete(self) -> bool:
        """Whether every size that was met is remembered."""
        return len(self._first) < _MOST

    def to_hash(self, seen: Columns) -> set[int]:
        """The sizes among these whose files are to be hashed."""
        counts = Counter(seen.sizes)
        # Nothing is a duplicate of nothing.
        counts.pop(0, None)
        if self._every_file:
            return set(counts)
        shared = {size for size, files in counts.items() if files > 1}
        for size in self._first.keys() & counts.keys():
            shared.add(size)
            if (path := self._first[size]) is not None:
                self.late.append(path)
                self._first[size] = None
        if self.is_complete:
            known = self._first
            first = {size: path for path, size in zip(seen.paths, seen.sizes, strict=True) if size not in known}
            known |= first | dict.fromkeys(first.keys() & shared)
        return shared
