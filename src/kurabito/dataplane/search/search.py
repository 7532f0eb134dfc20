"""Looking for files of equal content below some folders, without a server.

Files fall through sieves. Each holds back the first file of a kind until a second one comes, and lets both go on then:

    size  ──►  edges  ──►  whole content  ──►  groups
               (small files are read whole at once)

What has no equal stays behind, read as little as possible. The first files are read while the last are still being found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from kurabito.dataplane.readers.pool import MOST_BYTES, MOST_FILES, ReaderPool, forked
from kurabito.dataplane.readers.process import Answer, Question
from kurabito.dataplane.search.cache import UNKNOWN, CachedFile, Known
from kurabito.dataplane.search.found import File, Found
from kurabito.dataplane.search.roots import SearchRoot
from kurabito.dataplane.search.sieve import Sieve
from kurabito.dataplane.search.walk import EVERYTHING, FolderListing, Part, answer
from kurabito.dataplane.search.walk import Found as Looked
from kurabito.protocol.terms import EDGE, READ_WHOLE

ALGORITHM: Final = "blake3"
_PATIENCE: Final = 0.1
_PARTS: Final = 16
"""Folders beside each other are shared out in so many parts, if there are as many; if not, they are listed first."""
_FEW: Final = 4
_MOST_LISTED: Final = 64

_Pool = ReaderPool[Callable[[Any], None]]
"""Each question comes with what takes in its answer."""


class EqualFiles(NamedTuple):
    """Files of equal content, in the order of their paths."""

    digest: bytes
    size: int
    paths: list[str]
    copies: int
    """How many of them are files of their own, and not other names of one."""
    find: Callable[[], tuple[File, ...]]
    """Gives the files themselves, which few have a use for."""

    @property
    def files(self) -> tuple[File, ...]:
        return self.find()

    @property
    def key(self) -> str:
        return f"{ALGORITHM}:{self.digest.hex()}"

    @property
    def waste(self) -> int:
        return self.size * (self.copies - 1)


class SearchProgress:
    """How far a search is."""

    def __init__(self) -> None:
        self.files = 0
        self.bytes = 0
        self.read = 0
        """How often a file was read, or a sample of it."""
        self.looking = 0
        """How many questions about folders have no answer yet."""


class _Lot:
    """Files that wait to be read together."""

    def __init__(self) -> None:
        self.files: list[int] = []
        self.bytes = 0


class Search:
    """One search. `run` gives the groups; `problems` is what could not be looked at.

    `linked` takes other names of one file for duplicates too.
    """

    def __init__(
        self,
        roots: Sequence[SearchRoot],
        known: Known,
        *,
        linked: bool = False,
        report: Callable[[SearchProgress], None] = lambda _: None,
    ) -> None:
        self.progress = SearchProgress()
        self.problems: list[tuple[str, str]] = []
        self._roots = roots
        self._known = known
        self._linked = linked
        self._report = report
        self._found = Found()
        self._sizes = Sieve(self._found.identities, linked=linked)
        self._edges = Sieve(self._found.identities, linked=linked)
        self._groups: defaultdict[bytes, list[int]] = defaultdict(list)
        self._lots: defaultdict[str | None, _Lot] = defaultdict(_Lot)
        self._listed = 0
        self._overlooked: set[SearchRoot] = set()
        """Those in which something could not be looked at."""

    def run(self) -> list[EqualFiles]:
        """Search. What was learnt is kept for the next time, also when this one is interrupted."""
        looked = False
        try:
            with _Pool(start=forked(answer)) as pool:
                for root in self._roots:
                    self._begin(root, pool)
                while pool.waiting or any(lot.files for lot in self._lots.values()):
                    # Full lots as long as everybody is busy, then whatever is there.
                    self._hand_out(pool, all_of_it=pool.has_room and not self.progress.looking)
                    for take_in, found in pool.answers(_PATIENCE):
                        take_in(found)
                    self._report(self.progress)
            looked = True
        finally:
            self._keep(looked=looked)
        return sorted(self._all_groups(), key=lambda group: (-group.waste, -group.size, group.digest))

    def _begin(self, root: SearchRoot, pool: _Pool) -> None:
        if not root.named:
            root.check()
            self._look_into(root, pool, [EVERYTHING])
        # Loaded while others are looking already.
        root.known = self._known.below(root.real)
        if root.named:
            self._take_folders(root, pool, root.look_at_named())

    def _look_into(self, root: SearchRoot, pool: _Pool, parts: list[Part]) -> None:
        """Have folders walked; if they are too few to share, have them listed, and share what is in them."""
        deep = len(parts) >= _PARTS or self._listed >= _MOST_LISTED
        size = 1 + len(parts) // (_PARTS if deep else _FEW)
        for at in range(0, len(parts), size):
            question = FolderListing(root.folder, parts[at : at + size], deep, root.elsewhere)
            pool.ask(question, partial(self._take_looked, root, pool))
            self.progress.looking += 1
            self._listed += not deep

    def _take_looked(self, root: SearchRoot, pool: _Pool, looked: Looked) -> None:
        self.progress.looking -= 1
        self._look_into(root, pool, looked[1])
        self._take_folders(root, pool, looked)

    def _take_folders(self, root: SearchRoot, pool: _Pool, looked: Looked) -> None:
        folders, _, problems = looked
        self.problems += [(root.shown(path), reason) for path, reason in problems]
        if problems:
            self._overlooked.add(root)
        found = self._found
        for path, names, facts in folders:
            files = found.add(root, path, CachedFile(names, facts))
            sizes = found.sizes[files.start :]
            self.progress.bytes += sum(sizes)
            self._sized(self._sizes.sift(files, sizes))
        self.progress.files = len(found)
        self._hand_out(pool)

    def _sized(self, files: Sequence[int]) -> None:
        sizes, edges, contents = self._found.sizes, self._found.edges, self._found.contents
        edged, small, large = [], [], []
        for file in files:
            if edges[file] != UNKNOWN:
                edged.append(file)
            elif contents[file] != UNKNOWN:
                self._groups[contents[file]].append(file)
            elif sizes[file] > READ_WHOLE:
                large.append(file)
            elif sizes[file]:
                small.append(file)
        self._edged(edged)
        self._want(small, ALGORITHM)
        self._want(large, None)

    def _edged(self, files: Sequence[int]) -> None:
        sizes, edges, contents = self._found.sizes, self._found.edges, self._found.contents
        wanted = []
        for file in self._edges.sift(files, [(sizes[file], edges[file]) for file in files]):
            if contents[file] != UNKNOWN:
                self._groups[contents[file]].append(file)
            else:
                wanted.append(file)
        self._want(wanted, ALGORITHM)

    def _want(self, files: list[int], algorithm: str | None) -> None:
        lot = self._lots[algorithm]
        lot.files += files
        lot.bytes += sum([self._found.sizes[file] for file in files]) if algorithm else 2 * EDGE * len(files)

    def _hand_out(self, pool: _Pool, *, all_of_it: bool = False) -> None:
        for algorithm, lot in self._lots.items():
            if lot.files and (all_of_it or len(lot.files) >= MOST_FILES or lot.bytes >= MOST_BYTES):
                for root, files in self._found.by_root(lot.files).items():
                    question = Question(root.folder, algorithm, self._found.entries(files))  # type: ignore[arg-type]
                    pool.ask(question, partial(self._take_contents if algorithm else self._take_edges, files))
                lot.files, lot.bytes = [], 0

    def _take_edges(self, files: list[int], digests: Answer) -> None:
        self._edged(list(self._take(self._found.edges, files, digests)))

    def _take_contents(self, files: list[int], digests: Answer) -> None:
        groups = self._groups
        for file, digest in self._take(self._found.contents, files, digests).items():
            groups[digest].append(file)

    def _take(self, column: list[bytes], files: list[int], digests: Answer) -> Mapping[int, bytes]:
        """Write down what was read; what it was, file by file."""
        self.progress.read += len(files)
        read = {file: digest for file, digest in zip(files, digests, strict=True) if isinstance(digest, bytes)}
        self._found.note(column, read)
        if len(read) < len(files):
            problems = [(file, found) for file, found in zip(files, digests, strict=True) if file not in read]
            self.problems += [(self._found.path(file), str(reason)) for file, (_, reason) in problems]
        return read

    def _keep(self, *, looked: bool) -> None:
        for root in self._roots:
            learnt = self._found.learnt(root)
            # What was not looked at may be there all the same.
            gone = self._found.gone(root) if looked and root.whole and root not in self._overlooked else ()
            if learnt or gone:
                self._known.keep(root.real, learnt, gone)

    def _all_groups(self) -> Iterator[EqualFiles]:
        found = self._found
        for digest, files in self._groups.items():
            if len(files) > 1:
                copies = len({found.identities[file] for file in files})
                if copies > 1 or self._linked:
                    paths = sorted(map(found.path, files))
                    yield EqualFiles(digest, found.sizes[files[0]], paths, copies, partial(found.files, files))
