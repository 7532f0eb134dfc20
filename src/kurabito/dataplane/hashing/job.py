"""Hashing the files of a library that may have equals.

First every file that waits is sampled: small ones are read whole, of the others the edges. Then those whose edges agree with
another file's of the same size, in whichever library, are read whole. The rest have no equal and cost nothing more.

A job ends after a while even if files are left, so that a scan never waits long; they stay marked and the next job goes on,
also in the middle of a large file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.dataplane.errors import RootUnavailable
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.files.walk import Identity, identity_of
from kurabito.dataplane.hashing import store
from kurabito.dataplane.hashing.large_files import TURN, LargeFile, reading_in_turns
from kurabito.dataplane.hashing.store import FileToHash, HashedLibrary
from kurabito.dataplane.jobs import JobFailed, LeasedJob
from kurabito.dataplane.leasing.paced_writer import PacedWriter
from kurabito.dataplane.readers.pool import MOST_BYTES, MOST_FILES, ReaderPool
from kurabito.dataplane.readers.process import Answer, Problem, Question, Wanted
from kurabito.db import Connection
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.terms import HASH_SECONDS, READ_WHOLE

T = TypeVar("T")

_PATIENCE: Final = 0.5
_BETWEEN_WRITES: Final = 1.0
_FEWEST: Final = 100
"""Rows of a transaction: a hash is a good deal more work for the database than a file that was seen."""
_WRITTEN_TOGETHER: Final = 128
"""Few enough that little is left to be written at the end, when no core has anything to read any more."""
_LARGE: Final = 4 * MOST_BYTES
"""What is larger is read in turns, by a process that has nothing else to do meanwhile."""
_PARTS: Final = 8
"""A question has at most so many bytes, and at most such a part of those that are still to be asked for."""

_Portion = tuple[bool, list[FileToHash]]
"""Files to be read together, and whether they are read whole."""


class HashFiles:
    """Does hash jobs. The processes that read for it stay a while after each, for the next one.

    A job ends after `most_seconds`; a large file is read in turns of `turn` seconds.
    """

    def __init__(self, *, most_seconds: float = HASH_SECONDS, turn: float = TURN, clock: Clock | None = None) -> None:
        self._most = round(most_seconds * SECOND)
        self._turn = turn
        self._clock = clock or SystemClock()
        self._pool = ReaderPool[_Portion](start=reading_in_turns)

    def __call__(self, job: LeasedJob) -> None:
        library = job.read(lambda conn: store.library(conn, job.library_id))
        if library is None:
            raise JobFailed(ErrorCode.ROOT_UNAVAILABLE, f"there is no library {job.library_id} any more")
        until = self._clock.now() + self._most
        try:
            with PacedWriter(job, MOST_FILES, fewest=_FEWEST) as writer:
                hashing = _Hashing(job, library, writer, self._pool, self._turn, lambda: self._clock.now() >= until)
                hashing.read(hashing.to_be_sampled())
                # Reading one may call for a twin that was passed already.
                while hashing.read(hashing.alike()):
                    pass
        finally:
            # The next job for these files goes on where this one was, whether it was late, lost or given back.
            self._pool.set_aside()
            self._pool.forget()


@dataclass(slots=True)
class _Taken:
    """What was found out and is not written yet."""

    edges: list[tuple[FileToHash, bytes]] = field(default_factory=list)
    contents: list[tuple[FileToHash, bytes]] = field(default_factory=list)
    problems: list[tuple[FileToHash, Problem]] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.edges) + len(self.contents) + len(self.problems)


class _Hashing:
    """One job under way."""

    def __init__(
        self,
        job: LeasedJob,
        library: HashedLibrary,
        writer: PacedWriter,
        pool: ReaderPool[_Portion],
        turn: float,
        is_late: Callable[[], bool],
    ) -> None:
        self._job = job
        self._library = library
        self._writer = writer
        self._pool = pool
        self._turn = turn
        self._is_late = is_late
        self._identity = _opened(library.folder)
        self._total = job.read(lambda conn: store.count_waiting(conn, job.library_id))
        self._done = 0
        self._taken = _Taken()
        self._write_at = time.monotonic() + _BETWEEN_WRITES

    def to_be_sampled(self) -> Iterator[_Portion]:
        """The files that have not been sampled yet."""
        after = store.START
        while page := self._job.read(partial(self._unsampled, after)):
            after = page[-1]
            # Where every file is read whole, a sample gains nothing. A file of the same size in another library finds it without one.
            every_file = self._library.every_file
            yield from _portions([row for row in page if every_file or row.size_bytes <= READ_WHOLE], whole=True)
            yield from _portions([row for row in page if not every_file and row.size_bytes > READ_WHOLE], whole=False)

    def alike(self) -> Iterator[_Portion]:
        """The files whose edges agree with another's; those that stand alone are settled on the way."""
        after = store.START
        # To look whether there are any costs less than a transaction that finds none.
        while self._job.read(partial(self._has_sampled, after)):
            page = self._job.write(partial(self._decide, after))
            if not page:
                return
            after = page[-1][0]
            rows = [row for row, has_twin in page if has_twin]
            self._count(len(page) - len(rows))
            yield from _portions(rows, whole=True)

    def _unsampled(self, after: FileToHash, conn: Connection) -> list[FileToHash]:
        return store.unsampled(conn, self._job.library_id, after, MOST_FILES)

    def _has_sampled(self, after: FileToHash, conn: Connection) -> bool:
        return bool(store.sampled(conn, self._job.library_id, after, 1))

    def _decide(self, after: FileToHash, conn: Connection) -> list[tuple[FileToHash, bool]]:
        page = store.sampled(conn, self._job.library_id, after, MOST_FILES)
        if self._library.every_file:
            return [(row, True) for row, _ in page]
        store.settle_unique(conn, [row for row, has_twin in page if not has_twin])
        store.want_twins(conn, [row for row, has_twin in page if has_twin])
        return page

    def read(self, portions: Iterator[_Portion]) -> bool:
        """Have files read, and write what came of it, until there are no more or it is late; false when there were none."""
        pool, some = self._pool, False
        while True:
            while pool.has_room and not self._is_late() and (portion := next(portions, None)):
                self._ask(portion)
                some = True
            if self._is_late():
                pool.set_aside()
            if not pool.waiting:
                self._write()
                return some
            for (whole, rows), answer in pool.answers(_PATIENCE):
                self._take(whole, rows, answer)
            if self._taken.count >= _WRITTEN_TOGETHER or time.monotonic() >= self._write_at:
                self._write()
            self._job.check()

    def _ask(self, portion: _Portion) -> None:
        whole, rows = portion
        folder, algorithm = self._library.folder, self._library.algorithm.value
        if whole and _is_large(rows[0]):
            large = LargeFile(folder, algorithm, _wanted(rows[0]), self._turn)
            self._pool.ask(large, portion, turns=large)
        else:
            # Neighbours are opened faster one after the other.
            question = Question(folder, algorithm if whole else None, sorted(map(_wanted, rows)))
            self._pool.ask(question, portion)

    def _take(self, whole: bool, rows: list[FileToHash], answer: Answer) -> None:
        taken = self._taken
        for row, digest in zip(sorted(rows, key=lambda row: row.relative_path), answer, strict=True):
            if not isinstance(digest, bytes):
                taken.problems.append((row, digest))
            elif whole:
                taken.contents.append((row, digest))
            else:
                taken.edges.append((row, digest))

    def _write(self) -> None:
        """Write what was found out. Not after each answer: a commit takes longer than many a file."""
        taken, self._taken = self._taken, _Taken()
        self._write_at = time.monotonic() + _BETWEEN_WRITES
        if not taken.count:
            return
        if taken.problems and not _is_in_place(self._library.folder, self._identity):
            raise JobFailed(
                ErrorCode.ROOT_UNAVAILABLE,
                f"the folder {self._library.folder} is not the one it was when this began; is its disk still there?",
            )
        self._note(store.note_edges, taken.edges)
        self._note(self._note_contents, taken.contents)
        self._note(store.note_problems, taken.problems)
        self._count(len(taken.contents) + len(taken.problems))

    def _note_contents(self, conn: Connection, found: list[tuple[FileToHash, bytes]]) -> None:
        now = store.library(conn, self._job.library_id)
        if now is None or now.algorithm is not self._library.algorithm:
            # The keeper chose another algorithm meanwhile: the files wait, and the next job reads them with that.
            return
        store.note_contents(conn, found, self._library.algorithm)
        if self._library.every_file:
            store.want_sampled(conn, [row for row, _ in found])

    def _note(self, note: Callable[[Connection, list[T]], None], found: list[T]) -> None:
        begin = rows = 0

        def write(conn: Connection) -> None:
            note(conn, found[begin : begin + rows])

        while begin < len(found):
            rows = self._writer.rows
            self._writer.write(write)
            begin += rows

    def _count(self, files: int) -> None:
        """Report how many files are done."""
        self._done += files
        self._job.report(self._done, self._done / max(self._total, self._done, 1))


def _wanted(row: FileToHash) -> Wanted:
    return row.relative_path, row.size_bytes, row.mtime_ns, row.inode, row.device


def _is_large(row: FileToHash) -> bool:
    return row.size_bytes > _LARGE


def _portions(rows: list[FileToHash], *, whole: bool) -> Iterator[_Portion]:
    """The files in lists, which get shorter towards the end, lest one core wait for another. Large files come last, each alone:
    they may take hours, and the others need not wait for them."""
    large = [row for row in rows if whole and _is_large(row)]
    rows = [row for row in rows if not whole or not _is_large(row)]
    rest = sum(row.size_bytes for row in rows) if whole else 0
    portion: list[FileToHash] = []
    size = 0
    for row in rows:
        portion.append(row)
        size += row.size_bytes if whole else 0
        if size >= min(_LARGE, max(MOST_BYTES, rest // _PARTS)):
            yield whole, portion
            rest -= size
            portion, size = [], 0
    if portion:
        yield whole, portion
    yield from ((whole, [row]) for row in large)


def _opened(folder: str) -> Identity:
    """Which folder it is, seen through an open one: what cannot be opened, or is no folder, says nothing about its files."""
    try:
        with Root(Path(folder)) as root:
            return identity_of(root.fd)
    except RootUnavailable as gone:
        raise JobFailed(ErrorCode.ROOT_UNAVAILABLE, str(gone)) from None


def _is_in_place(folder: str, identity: Identity) -> bool:
    """Whether that folder is still at its path; another one, or none, is there when its disk was taken away."""
    try:
        found = os.stat(folder)  # noqa: PTH116 - only the numbers are wanted
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == identity
