"""The files that a search found, as columns: there may be millions, and an object for each would take most of its time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kurabito.dataplane.files.paths import as_name
from kurabito.dataplane.files.walk import Entry
from kurabito.dataplane.search.cache import DIGEST, FACTS, CachedFile, Digests, added_to, recall
from kurabito.dataplane.search.roots import SearchRoot

File = tuple[SearchRoot, Entry]
"""A file with where it was found."""


def path_of(file: File) -> str:
    """The path of a file, as the operating system takes it."""
    root, entry = file
    return root.shown(entry[0])


class _Folder:
    """A folder with files that were found."""

    def __init__(self, root: SearchRoot, path: str, seen: CachedFile, first: int) -> None:
        self.root = root
        self.path = path
        self.shown = root.shown(path)
        self.seen = seen
        self.first = first
        """The number of its first file."""


class Found:
    """Files are numbered in the order in which they are found; a column has at that number what it knows of a file."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.edges: list[bytes] = []
        self.contents: list[bytes] = []
        self.identities: list[tuple[int, int]] = []
        """Inode and device: equal for two names of one file."""
        self._names: list[str] = []
        self._mtimes: list[int] = []
        self._folder_of: list[_Folder] = []
        self._folders: list[_Folder] = []
        self._changed: set[_Folder] = set()

    def add(self, root: SearchRoot, path: str, seen: CachedFile) -> range:
        """Take in the files of a folder; their numbers."""
        names = seen.names.split("/")
        count, first = len(names), len(self._names)
        folder = _Folder(root, path, seen, first)
        facts = memoryview(seen.facts).cast("q").tolist()
        self._names += names
        self.sizes += facts[:count]
        self._mtimes += facts[count : 2 * count]
        self.identities += zip(facts[2 * count : 3 * count], facts[3 * count :], strict=True)
        self._folder_of += [folder] * count
        self._folders.append(folder)
        known = root.known.get(path)
        if known is None or (known[0] != seen and root.whole):
            self._changed.add(folder)
        edges, contents = Digests.none_of(count) if known is None else recall(seen, *known)
        self.edges += _cut(edges)
        self.contents += _cut(contents)
        return range(first, first + count)

    def __len__(self) -> int:
        return len(self._names)

    def by_root(self, numbers: Iterable[int]) -> Mapping[SearchRoot, list[int]]:
        """Files, in order, by the roots that they were found in."""
        roots: defaultdict[SearchRoot, list[int]] = defaultdict(list)
        folder_of = self._folder_of
        for number in sorted(numbers):
            roots[folder_of[number].root].append(number)
        return roots

    def entries(self, numbers: Iterable[int]) -> list[Entry]:
        """Files as a walk sees them."""
        folder_of, names, sizes, mtimes = self._folder_of, self._names, self.sizes, self._mtimes
        identities = self.identities
        return [(folder_of[each].path + names[each], sizes[each], mtimes[each], *identities[each]) for each in numbers]

    def path(self, number: int) -> str:
        """The path of a file, as the operating system takes it."""
        return self._folder_of[number].shown + as_name(self._names[number])

    def files(self, numbers: Iterable[int]) -> tuple[File, ...]:
        """Files in the order of their paths."""
        listed = sorted(numbers, key=self.path)
        return tuple(zip([self._folder_of[each].root for each in listed], self.entries(listed), strict=True))

    def note(self, column: list[bytes], learnt: Mapping[int, bytes]) -> None:
        """Write down what was learnt of files in one of the two columns of digests."""
        for number, digest in learnt.items():
            column[number] = digest
        self._changed.update([self._folder_of[number] for number in learnt])

    def learnt(self, root: SearchRoot) -> Mapping[str, tuple[CachedFile, Digests]]:
        """The folders of a root that have other files now, or more digests."""
        return {folder.path: self._known_now(folder) for folder in self._changed if folder.root is root}

    def _known_now(self, folder: _Folder) -> tuple[CachedFile, Digests]:
        seen, known = folder.seen, folder.root.known.get(folder.path)
        files = slice(folder.first, folder.first + len(seen.facts) // FACTS)
        now = Digests(b"".join(self.edges[files]), b"".join(self.contents[files]))
        return (seen, now) if known is None or folder.root.whole else added_to(*known, seen, now)

    def gone(self, root: SearchRoot) -> Iterable[str]:
        """The folders of a root that are known and were not found."""
        return root.known.keys() - {folder.path for folder in self._folders if folder.root is root}


def _cut(digests: bytes) -> list[bytes]:
    return [digests[at : at + DIGEST] for at in range(0, len(digests), DIGEST)]
