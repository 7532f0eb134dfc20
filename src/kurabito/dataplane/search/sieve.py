"""Sifting files: what has no equal by its kind (size, edges) need not be looked at more closely."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Final

_OPEN: Final = -1


class Sieve:
    """Holds back the files of a kind until two of them are not the same one under two names."""

    def __init__(self, identities: Sequence[object], *, linked: bool) -> None:
        self._first: dict[Hashable, int] = {}
        """The first file of each kind while it is held back, and _OPEN from then on."""
        self._links: defaultdict[Hashable, list[int]] = defaultdict(list)
        """Other names of a first file."""
        self._identities = identities
        self._linked = linked

    def sift(self, files: Iterable[int], kinds: Iterable[Hashable]) -> list[int]:
        """What goes on now: of these files, and of those that waited for them."""
        through: list[int] = []
        first_of = self._first.setdefault
        for file, kind in zip(files, kinds, strict=True):
            first = first_of(kind, file)
            if first == _OPEN:
                through.append(file)
            elif first != file:
                if self._linked or self._identities[first] != self._identities[file]:
                    through += (first, *self._links.pop(kind, ()), file)
                    self._first[kind] = _OPEN
                else:
                    self._links[kind].append(file)
        return through
