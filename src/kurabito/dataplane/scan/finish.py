"""The end of a scan, when everything was seen: what moved, what is missing, and what is worth hashing.

Each step is done in small transactions that leave less to do, so that a successor after a crash does only the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from kurabito.dataplane.files import births
from kurabito.dataplane.files.births import Birth, Suspect
from kurabito.dataplane.jobs import LeasedJob
from kurabito.dataplane.leasing.paced_writer import PacedWriter
from kurabito.dataplane.scan import session as scan_session
from kurabito.dataplane.scan.chunks import Columns
from kurabito.dataplane.scan.queries import SQL
from kurabito.dataplane.scan.session import ScanProgress
from kurabito.db import Connection
from kurabito.db.rows import Column

T = TypeVar("T")

_MOST_SIZES: Final = 250_000


class SizeIndex:
    """The sizes that a scan came across, as many as fit into a bounded memory.

    A file whose size was met before is hashed. The first one of each size was stored by then, and is marked at the end.
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
        return len(self._first) < _MOST_SIZES

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


class MovedPair(NamedTuple):
    """A file that is gone, and one that came and looks like it."""

    gone: int
    came: int
    path: str
    inode: int
    known_at: int


def move_files(job: LeasedJob, session: ScanProgress, folder: Path, pace: PacedWriter) -> None:
    """Give files that went from one path to another their old row back, with its id and its hash.

    What was made since is another file, however much it looks alike. Where it cannot be told, the row has to be hashed again.
    """
    pairs = [MovedPair(*row) for row in job.read(lambda conn: conn.all(SQL.moved_files, {"session": session.id}))]
    for part in _parts(pairs, pace):
        job.check()
        asked = [Suspect(pair.path, pair.inode, pair.known_at) for pair in part]
        judged = list(zip(part, births.look_up(folder, asked), strict=True))
        moved = [pair for pair, birth in judged if birth is not Birth.AFTER]
        doubtful = [pair.gone for pair, birth in judged if birth not in (Birth.BEFORE, Birth.AFTER)]
        if moved:
            pace.write(lambda conn, moved=moved, doubtful=doubtful: _move(conn, session, moved, doubtful))  # type: ignore[misc]


def mark_missing(session: ScanProgress, pace: PacedWriter) -> None:
    """Mark every file that was known and not seen."""
    while pace.write(lambda conn: _mark_some_missing(conn, session, pace.rows)):
        pass


def choose_candidates(
    job: LeasedJob, library: int, session: ScanProgress, pace: PacedWriter, late: Sequence[str] | None = None
) -> None:
    """Have exactly those files hashed that may have a duplicate, in all libraries.

    `late` are the files of this library that have to be, and were not marked; None when the scan could not tell.
    """
    if late is not None and not job.read(lambda conn: _has_others(conn, library)):
        # No other library has files that count, so there is nothing to look for.
        for paths in _parts(late, pace):
            pace.write(lambda conn, paths=paths: _want_hash(conn, library, paths))  # type: ignore[misc]
        return

    def misjudged(conn: Connection) -> list[tuple[int, int]]:
        if not scan_session.has_changes(conn, session) and not _is_unsettled(conn, library, session):
            return []
        return [(file, wanted) for file, wanted in conn.all(SQL.misjudged_files)]

    found = job.read(misjudged)
    for wanted in (1, 0):
        files = [file for file, judged in found if judged == wanted]
        for part in _parts(files, pace):
            pace.write(lambda conn, part=part, wanted=wanted: _judge(conn, part, wanted=wanted))  # type: ignore[misc]


def forget_findings(session: ScanProgress, pace: PacedWriter) -> None:
    """Drop what was noted during the scan, and what scans that were given up left behind."""
    while pace.write(lambda conn: conn.run(SQL.forget_some_findings, {"session": session.id, "most": pace.rows})):
        pass


def _parts(rows: Sequence[T], pace: PacedWriter) -> Iterator[Sequence[T]]:
    begin = 0
    while begin < len(rows):
        end = begin + pace.rows
        yield rows[begin:end]
        begin = end


def _move(conn: Connection, session: ScanProgress, pairs: Sequence[MovedPair], doubtful: Sequence[int]) -> None:
    # The new row makes way for the old one: the path can have only one of them.
    conn.run(SQL.forget_files, {"files": [pair.came for pair in pairs]})
    ids, targets = [pair.gone for pair in pairs], [pair.path for pair in pairs]
    conn.run_rows(SQL.move_files, [Column("id", "bigint", ids), Column("relative_path", "text", targets)])
    if doubtful:
        # What is worth hashing is decided for all files together, a little later.
        conn.run(SQL.want_no_hash, {"files": doubtful})
    settled = [file for pair in pairs for file in (pair.gone, pair.came)]
    conn.run(SQL.forget_findings_about, {"session": session.id, "files": settled})
    scan_session.count(conn, session, added=-len(pairs), moved=len(pairs))


def _mark_some_missing(conn: Connection, session: ScanProgress, most: int) -> int:
    files = [file for (file,) in conn.all(SQL.some_unseen, {"session": session.id, "most": most})]
    if files:
        removed = conn.run(SQL.mark_missing, {"files": files, "session": session.id})
        conn.run(SQL.forget_findings_about, {"session": session.id, "files": files})
        scan_session.count(conn, session, removed=removed)
    return len(files)


def _is_unsettled(conn: Connection, library: int, session: ScanProgress) -> bool:
    return conn.one(SQL.unsettled, {"library": library, "session": session.id}) is not None


def _has_others(conn: Connection, library: int) -> bool:
    return bool(conn.value(SQL.other_files, {"library": library}))


def _want_hash(conn: Connection, library: int, paths: Sequence[str]) -> None:
    conn.run(SQL.want_hash_at, {"library": library, "paths": paths})


def _judge(conn: Connection, files: Sequence[int], *, wanted: int) -> None:
    conn.run(SQL.want_hash if wanted else SQL.want_no_hash, {"files": files})
