"""Scanning a library: what is on the disk and what is known are walked through side by side, in the order of their paths.

A chunk of a few thousand files is compared as a whole, and only where something differs is anything written. What was not
seen is only noted. At the end, and only if everything could be read, it is moved or marked missing.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from kurabito.dataplane.errors import PatternsUnreadable, RootUnavailable
from kurabito.dataplane.files.ignore import Ignored
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.files.walk import Entry, Identity, path_of
from kurabito.dataplane.jobs import JobFailed, LeasedJob
from kurabito.dataplane.leasing.leased_row import Stopped
from kurabito.dataplane.leasing.paced_writer import PacedWriter
from kurabito.dataplane.scan import finish, known_files
from kurabito.dataplane.scan import session as scan_session
from kurabito.dataplane.scan.chunks import Chunk, Columns, gathered
from kurabito.dataplane.scan.comebacks import comebacks
from kurabito.dataplane.scan.finish import SizeIndex
from kurabito.dataplane.scan.known_files import Differences
from kurabito.dataplane.scan.prefetch import KnownFilesPrefetch
from kurabito.dataplane.scan.queries import SQL
from kurabito.dataplane.scan.session import ScanProgress
from kurabito.dataplane.scan.shards import PIECE, ScanTarget
from kurabito.dataplane.scan.trash_adoption import adopt_trash, adopt_unknown
from kurabito.dataplane.scan.walkers import SharedWalk, Walkers
from kurabito.db import Connection
from kurabito.errors import LeaseLost
from kurabito.protocol.enums import HashPolicy, ScanStatus
from kurabito.protocol.error_codes import ErrorCode

CHUNK: Final = 5000
"""Files that are compared, and if need be written, at once."""
_MARK_EVERY: Final = 20
"""Chunks without a change after which it is written down how far the scan came."""


@dataclass(frozen=True, slots=True)
class _Library:
    id: int
    folder: Path
    ignored: str
    """A JSON list of patterns, as the row has it."""
    hashes_all: bool
    """Every file is hashed, and not only what may have an equal."""
    is_new: bool
    """No file of it is known, so nothing can have changed, moved or gone."""


class Scanner:
    """Does scan jobs. `state` is our own folder, which is never scanned, wherever it lies."""

    def __init__(self, state: Path, *, chunk: int = CHUNK, walkers: Walkers | None = None) -> None:
        self._state = state
        self._chunk = chunk
        self._prefetch = KnownFilesPrefetch()
        self._walkers = walkers or Walkers()

    def __call__(self, job: LeasedJob) -> None:
        library = job.read(lambda conn: _find_library(conn, job.library_id))
        session = job.write(lambda conn: scan_session.begin(conn, job.id, library.id))
        # What an earlier worker saw counts before this one has seen anything.
        job.report(session.paths, session.progress)
        if session.status is ScanStatus.SUCCEEDED:
            # The worker that finished it did not live to say so.
            return
        try:
            adopt = adopt_trash if library.is_new else adopt_unknown
            adopt(job, library.id, library.folder)
            with Root(library.folder) as root, PacedWriter(job, self._chunk) as writer:
                encodes = not library.is_new
                target = ScanTarget(
                    root, Ignored.stored(library.ignored), self._closed(), encodes, min(PIECE, self._chunk)
                )
                walk = SharedWalk(target, self._walkers, job.check)
                _Scan(job, library, session, root, writer, walk).run(self._prefetch)
        except (LeaseLost, Stopped):
            raise
        except RootUnavailable as gone:
            raise _failed(job, session, ErrorCode.ROOT_UNAVAILABLE, str(gone)) from gone
        except PatternsUnreadable as odd:
            raise _failed(job, session, ErrorCode.WORKER_FAILURE, str(odd)) from odd
        except JobFailed as failed:
            raise _failed(job, session, failed.error_code, str(failed)) from failed

    def _closed(self) -> frozenset[Identity]:
        try:
            state = self._state.stat()
        except OSError:
            # There is none on this machine, or none that we come to.
            return frozenset()
        return frozenset({(state.st_dev, state.st_ino)})


class _Scan:
    """One scan of one library by one worker."""

    def __init__(
        self,
        job: LeasedJob,
        library: _Library,
        session: ScanProgress,
        root: Root,
        writer: PacedWriter,
        walk: SharedWalk,
    ) -> None:
        self._job = job
        self._library = library
        self._session = session
        self._root = root
        self._writer = writer
        self._page = 2 * writer.rows
        self._sizes = SizeIndex(every_file=library.hashes_all)
        self._walk = walk
        self._after = session.resume_after
        """Up to here everything is compared."""
        self._unmarked = 0

    def run(self, prefetch: KnownFilesPrefetch) -> None:
        self._refuse_empty_folder()
        with closing(self._compared(prefetch)) as compared:
            for chunk, is_known in compared:
                self._job.check()
                self._count(chunk)
                if chunk.count:
                    if self._library.is_new:
                        self._add(chunk)
                    else:
                        self._compare(chunk, is_known=is_known)
                # Also behind the last file there may be folders.
                self._job.report(self._session.paths, self._session.progress)
        self._note_what_is_left()
        self._settle()

    def _compared(self, prefetch: KnownFilesPrefetch) -> Generator[tuple[Chunk, bool]]:
        """The chunks of the library, each with whether it is known exactly as it is."""
        job, library, writer = self._job, self._library, self._writer
        with closing(self._walk.chunks(self._after)) as pieces:
            walked = gathered(pieces, lambda: writer.rows)
            if library.is_new:
                yield from ((chunk, False) for chunk in walked)
            else:
                yield from prefetch.compare(job, library.id, self._after, walked)

    def _count(self, chunk: Chunk) -> None:
        session = self._session
        session.files += chunk.count
        session.bytes += chunk.bytes
        session.folders += chunk.folders
        for path, problem in chunk.problems:
            if not path:
                raise RootUnavailable(_unreadable(self._root, problem))
            session.note_problem(path, problem)

    def _compare(self, chunk: Chunk, *, is_known: bool) -> None:
        """Compare a chunk with what is known of it, a page at a time: much may have been there that is not any more."""
        end = chunk.end
        if is_known:
            self._store([], [], end, is_end=True)
            self._after = end
            return
        seen = chunk.files
        while self._after < end:
            known = self._known(end)
            if len(known) < self._page:
                part, seen, until = seen, [], end
            else:
                until = known[-1][0]
                here = bisect_right(seen, until, key=path_of)
                part, seen = seen[:here], seen[here:]
            self._store(part, known, until, is_end=until == end)
            self._after = until

    def _add(self, chunk: Chunk) -> None:
        """Store a chunk of a library that is not known yet."""
        new = chunk.columns or Columns.of(chunk.files)
        to_hash = self._sizes.to_hash(new)
        self._session.resume_after = self._after = chunk.end

        def write(conn: Connection) -> None:
            known_files.add(conn, self._library.id, new, to_hash)
            scan_session.count(conn, self._session, added=chunk.count)

        self._write(write, is_end=True)

    def _store(self, seen: list[Entry], known: list[Entry], until: str, *, is_end: bool) -> None:
        if is_end:
            self._session.resume_after = until
        self._unmarked += 1
        if seen != known:
            to_hash = self._sizes.to_hash(Columns.of(seen))
            back = comebacks(self._job, self._library.id, self._library.folder, seen, known)
            found = known_files.differences(seen, known, back)
            self._write(lambda conn: self._write_differences(conn, found, to_hash), is_end=is_end)
        elif self._unmarked >= _MARK_EVERY:
            self._write(lambda _: None, is_end=is_end)

    def _write(self, write: Callable[[Connection], None], *, is_end: bool) -> None:
        """Write while the walk goes on; at the end of a chunk also how far the scan came."""
        # The walk goes on meanwhile, so what is written of the session must not change.
        marked = replace(self._session, unreadable=[*self._session.unreadable]) if is_end else None

        def write_and_mark(conn: Connection) -> None:
            write(conn)
            if marked is not None:
                scan_session.mark(conn, marked)

        self._writer.write_behind(write_and_mark)
        self._unmarked = 0

    def _write_differences(self, conn: Connection, found: Differences, to_hash: set[int]) -> None:
        library, session = self._library, self._session
        known_files.store(conn, library.id, found, to_hash)
        came = map(path_of, (*found.added, *found.replaced))
        known_files.note(conn, session.id, library.id, "added", came)
        known_files.note(conn, session.id, library.id, "unseen", found.unseen)
        added = len(found.added) + len(found.returned) + len(found.replaced)
        scan_session.count(conn, session, added=added, changed=len(found.changed))

    def _note_what_is_left(self) -> None:
        """What is known behind the last file that was seen was not seen."""
        while known := self._known(None):
            if not self._session.files:
                raise JobFailed(ErrorCode.ROOT_EMPTY, _empty(self._root))
            self._store([], known, known[-1][0], is_end=False)
            self._after = known[-1][0]

    def _settle(self) -> None:
        session, writer = self._session, self._writer
        writer.catch_up()
        if not self._root.is_in_place():
            raise RootUnavailable(
                f"the folder {self._root.folder} was taken away while it was scanned; is the share still mounted?"
            )
        if not session.errors:
            finish.move_files(self._job, session, self._library.folder, writer)
            finish.mark_missing(session, writer)
        counted = self._library.is_new and self._sizes.is_complete
        late = self._sizes.late if counted else None
        finish.choose_candidates(self._job, self._library.id, session, writer, late)
        finish.forget_findings(session, writer)
        self._job.write(lambda conn: scan_session.succeed(conn, session))

    def _refuse_empty_folder(self) -> None:
        """An empty folder is most likely a share that is not mounted, also when an earlier worker still saw files in it."""
        if self._library.is_new:
            return
        try:
            with os.scandir(self._root.fd) as entries:
                is_empty = next(entries, None) is None
        except OSError as problem:
            raise RootUnavailable(_unreadable(self._root, problem)) from None
        if is_empty and self._job.read(lambda conn: known_files.known_files(conn, self._library.id, "", None, 1)):
            raise JobFailed(ErrorCode.ROOT_EMPTY, _empty(self._root))

    def _known(self, until: str | None) -> list[Entry]:
        if self._library.is_new:
            return []
        return self._job.read(
            lambda conn: known_files.known_files(conn, self._library.id, self._after, until, self._page)
        )


def _find_library(conn: Connection, library: int | None) -> _Library:
    row = conn.one(SQL.find_library, {"library": library})
    if library is None or row is None:
        raise JobFailed(ErrorCode.ROOT_UNAVAILABLE, f"there is no library {library} any more: it was removed")
    root_path, ignored, policy, has_files = row
    return _Library(
        id=library,
        folder=Path(root_path),
        ignored=ignored,
        hashes_all=policy == HashPolicy.ALL,
        is_new=not has_files,
    )


def _failed(job: LeasedJob, session: ScanProgress, code: ErrorCode, message: str) -> JobFailed:
    job.write(lambda conn: scan_session.fail(conn, session, code, message))
    return JobFailed(code, message)


def _empty(root: Root) -> str:
    return (
        f"the folder {root.folder} is empty although files of it are known, so nothing is marked missing; "
        "is the share mounted? If it is meant to be empty, remove the library"
    )


def _unreadable(root: Root, problem: OSError) -> str:
    return f"the folder {root.folder} cannot be read: {problem.strerror}; may this user read it?"
