"""The files that a search found, as columns: there may be millions, and an object for each would take most of its time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kurabito.dataplane.dedupe_cache import DIGEST, Digests, Seen, added_to, recall
from kurabito.dataplane.dedupe_places import Place
from kurabito.dataplane.names import as_name
from kurabito.dataplane.walk import Entry

File = tuple[Place, Entry]
"""A file with where it was found."""


def path_of(file: File) -> str:
    """The path of a file, as the operating system takes it."""
    place, entry = file
    return place.shown(entry[0])


class _Folder(NamedTuple):
    place: Place
    path: str
    shown: str
    seen: Seen
    files: range


class Found:
    """Files are numbered in the order in which they are found; a column has at that place what it tells of a file."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.edges: list[bytes] = []
        self.contents: list[bytes] = []
        self.identities: list[tuple[int, int]] = []
        """Inode and device: equal for two names of one file."""
        self._names: list[str] = []
        self._mtimes: list[int] = []
        self._folder_of: list[_Folder] = []
        self._folders: dict[tuple[Place, str], _Folder] = {}
        self._changed: set[tuple[Place, str]] = set()

    def add(self, place: Place, path: str, seen: Seen) -> range:
        """Take in the files of a folder; their numbers."""
        names = seen.names.split("/")
        count, first = len(names), len(self._names)
        folder = _Folder(place, path, place.shown(path), seen, range(first, first + count))
        facts = memoryview(seen.facts).cast("q").tolist()
        self._names += names
        self.sizes += facts[:count]
        self._mtimes += facts[count : 2 * count]
        self.identities += zip(facts[2 * count : 3 * count], facts[3 * count :], strict=True)
        self._folder_of += [folder] * count
        self._folders[place, path] = folder
        known = place.known.get(path)
        if known is None or (known[0] != seen and place.whole):
            self._changed.add((place, path))
        edges, contents = Digests.none_of(count) if known is None else recall(seen, *known)
        self.edges += _cut(edges)
        self.contents += _cut(contents)
        return folder.files

    def __len__(self) -> int:
        return len(self._names)

    def place_of(self, number: int) -> Place:
        return self._folder_of[number].place

    def entry(self, number: int) -> Entry:
        path = self._folder_of[number].path + self._names[number]
        return path, self.sizes[number], self._mtimes[number], *self.identities[number]

    def path(self, number: int) -> str:
        """The path of a file, as the operating system takes it."""
        return self._folder_of[number].shown + as_name(self._names[number])

    def file(self, number: int) -> File:
        return self._folder_of[number].place, self.entry(number)

    def note(self, column: list[bytes], number: int, digest: bytes) -> None:
        """Write down what was learnt of a file in one of the two columns of digests."""
        column[number] = digest
        folder = self._folder_of[number]
        self._changed.add((folder.place, folder.path))

    def learnt(self, place: Place) -> Mapping[str, tuple[Seen, Digests]]:
        """The folders of a place of which more is known than before, or other files."""
        return {path: self._known_now(place, path) for there, path in self._changed if there is place}

    def _known_now(self, place: Place, path: str) -> tuple[Seen, Digests]:
        folder = self._folders[place, path]
        files = slice(folder.files.start, folder.files.stop)
        now = Digests(b"".join(self.edges[files]), b"".join(self.contents[files]))
        known = place.known.get(path)
        return (folder.seen, now) if known is None or place.whole else added_to(*known, folder.seen, now)

    def gone(self, place: Place) -> Iterable[str]:
        """The folders of a place that are known and were not found."""
        return place.known.keys() - {path for there, path in self._folders if there is place}


def _cut(digests: bytes) -> list[bytes]:
    return [digests[at : at + DIGEST] for at in range(0, len(digests), DIGEST)]
