"""Looking for files of equal content below some folders, without a server.

Files fall through sieves. Each holds back the first file of a kind until a second one comes, and lets both go on then:

    size  ──►  edges  ──►  whole content  ──►  groups
               (small files are read whole at once)

What has no equal stays behind, read as little as possible. The first files are read while the last are still being found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kurabito.dataplane.dedupe_cache import UNKNOWN, Known
from kurabito.dataplane.dedupe_places import Place
from kurabito.dataplane.digest import EDGE, READ_WHOLE
from kurabito.dataplane.hash_pool import MOST_BYTES, MOST_FILES, HashPool
from kurabito.dataplane.hash_process import Answer, Question
from kurabito.dataplane.walk import Entry

ALGORITHM: Final = "blake3"
_PATIENCE: Final = 0.1
_NOTHING_KNOWN: Final = (UNKNOWN, UNKNOWN)

File = tuple[Place, Entry]
"""A file that was found. Not a class, as `Entry` is none: there may be millions."""
_Pool = HashPool[tuple[str | None, list[File]]]


def path_of(file: File) -> str:
    """The path of a file, as the operating system takes it."""
    place, entry = file
    return place.shown(entry[0])


class Group(NamedTuple):
    """Files of equal content, in the order of their paths."""

    digest: bytes
    size: int
    files: tuple[File, ...]
    copies: int
    """How many of them are files of their own, and not further names of one."""

    @property
    def key(self) -> str:
        return f"{ALGORITHM}:{self.digest.hex()}"

    @property
    def waste(self) -> int:
        return self.size * (self.copies - 1)


@dataclass(slots=True)
class Progress:
    """How far a search is."""

    files: int = 0
    bytes: int = 0
    read: int = 0
    """How often a file was read, or a sample of it."""
    walking: bool = True


class _Sieve:
    """Holds back the files of a kind until two of them are not the same one under two names."""

    def __init__(self, *, linked: bool) -> None:
        self._held: dict[Hashable, list[File]] = {}
        self._linked = linked

    def let_through(self, kind: Hashable, file: File) -> Sequence[File]:
        """What goes on now: nothing, this file, or this file and those that waited for it."""
        held = self._held.get(kind)
        if held is None:
            self._held[kind] = [file]
            return ()
        if not held:
            return (file,)
        held.append(file)
        if held[0][1][3:] == file[1][3:] and not self._linked:
            return ()
        self._held[kind] = []
        return held


@dataclass(slots=True)
class _Lot:
    """Files that wait to be read together."""

    files: list[File] = field(default_factory=list)
    bytes: int = 0


class Search:
    """One search. `run` gives the groups; `problems` is what could not be looked at.

    `linked` takes further names of one file for duplicates too.
    """

    def __init__(
        self,
        places: Sequence[Place],
        known: Known,
        *,
        linked: bool = False,
        tell: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self.progress = Progress()
        self.problems: list[tuple[str, str]] = []
        self._places = places
        self._known = known
        self._linked = linked
        self._tell = tell
        self._sizes = _Sieve(linked=linked)
        self._edges = _Sieve(linked=linked)
        self._contents: defaultdict[bytes, list[File]] = defaultdict(list)
        self._lots: defaultdict[tuple[Place, str | None], _Lot] = defaultdict(_Lot)
        self._changed: defaultdict[Place, set[str]] = defaultdict(set)

    def run(self) -> list[Group]:
        """Search. What was learnt is kept for the next time, also when this one is interrupted."""
        try:
            with _Pool() as pool:
                for place in self._places:
                    self._walk(place, pool)
                self.progress.walking = False
                while pool.waiting or any(lot.files for lot in self._lots.values()):
                    # Full lots as long as everybody is busy, then whatever is there.
                    self._hand_out(pool, all_of_it=pool.has_room)
                    self._take_in(pool, _PATIENCE)
        finally:
            for place, changed in self._changed.items():
                self._known.keep(place.real, place.known, changed)
        return sorted(self._groups(), key=lambda group: (-group.waste, -group.size, group.digest))

    def _walk(self, place: Place, pool: _Pool) -> None:
        place.known = self._known.below(place.real)
        seen: set[str] = set()
        for batch in place.batches():
            seen.update([entry[0] for entry in batch])
            for entry in batch:
                if size := entry[1]:
                    self.progress.bytes += size
                    for file in self._sizes.let_through(size, (place, entry)):
                        self._sized(file)
            self.progress.files += len(batch)
            self._hand_out(pool)
            self._take_in(pool)
        self.problems += place.problems
        if place.whole and not place.problems:
            for path in place.known.keys() - seen:
                del place.known[path]
                self._changed[place].add(path)

    def _sized(self, file: File) -> None:
        edge, content = _known_of(file)
        if edge != UNKNOWN:
            self._edged(file, edge)
        elif content != UNKNOWN:
            self._contents[content].append(file)
        else:
            self._want(file, ALGORITHM if file[1][1] <= READ_WHOLE else None)

    def _edged(self, file: File, edge: bytes) -> None:
        for alike in self._edges.let_through((file[1][1], edge), file):
            _, content = _known_of(alike)
            if content != UNKNOWN:
                self._contents[content].append(alike)
            else:
                self._want(alike, ALGORITHM)

    def _want(self, file: File, algorithm: str | None) -> None:
        lot = self._lots[file[0], algorithm]
        lot.files.append(file)
        lot.bytes += file[1][1] if algorithm else 2 * EDGE

    def _hand_out(self, pool: _Pool, *, all_of_it: bool = False) -> None:
        for (place, algorithm), lot in self._lots.items():
            if lot.files and (all_of_it or len(lot.files) >= MOST_FILES or lot.bytes >= MOST_BYTES):
                # Neighbours are opened faster one after the other.
                lot.files.sort(key=_relative_path)
                pool.ask(Question(place.folder, algorithm, [entry for _, entry in lot.files]), (algorithm, lot.files))
                lot.files, lot.bytes = [], 0

    def _take_in(self, pool: _Pool, patience: float = 0.0) -> None:
        for (algorithm, files), answer in pool.answers(patience):
            self.progress.read += len(files)
            if algorithm is None:
                self._note_edges(files, answer)
            else:
                self._note_contents(files, answer)
        self._tell(self.progress)

    def _note_edges(self, files: list[File], answer: Answer) -> None:
        changed = self._changed[files[0][0]]
        for file, found in zip(files, answer, strict=True):
            if isinstance(found, bytes):
                place, (path, size, mtime_ns, inode, device) = file
                place.known[path] = (size, mtime_ns, inode, device, found, UNKNOWN)
                changed.add(path)
                self._edged(file, found)
            else:
                self.problems.append((path_of(file), found[1]))

    def _note_contents(self, files: list[File], answer: Answer) -> None:
        changed = self._changed[files[0][0]]
        for file, found in zip(files, answer, strict=True):
            if isinstance(found, bytes):
                place, (path, size, mtime_ns, inode, device) = file
                edge, _ = _known_of(file)
                place.known[path] = (size, mtime_ns, inode, device, edge, found)
                changed.add(path)
                self._contents[found].append(file)
            else:
                self.problems.append((path_of(file), found[1]))

    def _groups(self) -> Iterator[Group]:
        for digest, files in self._contents.items():
            if len(files) > 1:
                copies = len({entry[3:] for _, entry in files})
                if copies > 1 or self._linked:
                    yield Group(digest, files[0][1][1], tuple(sorted(files, key=path_of)), copies)


def _known_of(file: File) -> tuple[bytes, bytes]:
    """The digests of the edges and of the content, if the file is still what it was when they were made."""
    place, entry = file
    facts = place.known.get(entry[0])
    return facts[4:] if facts is not None and facts[:4] == entry[1:] else _NOTHING_KNOWN


def _relative_path(file: File) -> str:
    return file[1][0]
