"""The end of a scan, when everything was seen: what moved, what is missing, and what is worth hashing.

Each step is done in small transactions that leave less to do, so that whoever goes on after a crash does only the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from kurabito.dataplane import scan_session
from kurabito.dataplane.files import births
from kurabito.dataplane.files.births import Birth, Suspect
from kurabito.dataplane.held import HeldJob
from kurabito.dataplane.pace import Pace
from kurabito.dataplane.scan_queries import ROWS, given, sql
from kurabito.dataplane.scan_session import Session
from kurabito.db import Connection, Dialect
from kurabito.db.rowsource import Column, row_source

T = TypeVar("T")


class Pair(NamedTuple):
    """A file that is gone, and one that came and looks like it."""

    gone: int
    came: int
    path: str
    inode: int
    known_at: int


def move_files(job: HeldJob, session: Session, folder: Path, pace: Pace) -> None:
    """Give files that went from one path to another their old row back, with its id and its hash.

    What was made since is another file, however much it looks alike. Where it cannot be told, the row has to be hashed again.
    """
    pairs = [Pair(*row) for row in job.read(lambda conn: conn.all(sql(conn).moved_files, {"session": session.id}))]
    for part in _parts(pairs, pace):
        job.check()
        asked = [Suspect(pair.path, pair.inode, pair.known_at) for pair in part]
        judged = list(zip(part, births.look_up(folder, asked), strict=True))
        moved = [pair for pair, birth in judged if birth is not Birth.AFTER]
        doubtful = [pair.gone for pair, birth in judged if birth not in (Birth.BEFORE, Birth.AFTER)]
        if moved:
            pace.write(lambda conn, moved=moved, doubtful=doubtful: _move(conn, session, moved, doubtful))  # type: ignore[misc]


def mark_missing(session: Session, pace: Pace) -> None:
    """Mark every file that was known and not seen."""
    while pace.write(lambda conn: _mark_some_missing(conn, session, pace.rows)):
        pass


def choose_candidates(
    job: HeldJob, library: int, session: Session, pace: Pace, late: Sequence[str] | None = None
) -> None:
    """Have exactly those files hashed that may have a duplicate, in all libraries.

    `late` are the files of this library that have to be, and were not marked; None when the scan could not tell.
    """
    if late is not None and not job.read(lambda conn: _has_others(conn, library)):
        # Nobody else's files count, so there is nothing to look for.
        for paths in _parts(late, pace):
            pace.write(lambda conn, paths=paths: _want_hash(conn, library, paths))  # type: ignore[misc]
        return

    def misjudged(conn: Connection) -> list[tuple[int, int]]:
        if not scan_session.has_changes(conn, session) and not _is_unsettled(conn, library, session):
            return []
        return [(file, wanted) for file, wanted in conn.all(sql(conn).misjudged_files)]

    found = job.read(misjudged)
    for wanted in (1, 0):
        files = [file for file, judged in found if judged == wanted]
        for part in _parts(files, pace):
            pace.write(lambda conn, part=part, wanted=wanted: _judge(conn, part, wanted=wanted))  # type: ignore[misc]


def forget_findings(session: Session, pace: Pace) -> None:
    """Drop what was noted during the scan, and what scans that were given up left behind."""
    while pace.write(lambda conn: conn.run(sql(conn).forget_some_findings, {"session": session.id, "most": pace.rows})):
        pass


def _parts(rows: Sequence[T], pace: Pace) -> Iterator[Sequence[T]]:
    begin = 0
    while begin < len(rows):
        end = begin + pace.rows
        yield rows[begin:end]
        begin = end


def _move(conn: Connection, session: Session, pairs: Sequence[Pair], doubtful: Sequence[int]) -> None:
    queries = sql(conn)
    moved = [(pair.gone, pair.path) for pair in pairs]
    # The new row makes way for the old one: the path can have only one of them.
    conn.run(queries.forget_files, {"given": given(conn, [pair.came for pair in pairs])})
    if conn.dialect is Dialect.SQLITE:
        now = conn.now()
        conn.raw.executemany(queries.move_files_sqlite, [(now, *row) for row in moved])
    else:
        ids, targets = zip(*moved, strict=True)
        source, arrays = row_source(Column("id", "bigint", ids), Column("relative_path", "text", targets))
        conn.run(queries.move_files_postgres.replace(ROWS, source), arrays)
    if doubtful:
        # What is worth hashing is decided for all files together, a little later.
        conn.run(queries.want_no_hash, {"given": given(conn, doubtful)})
    settled = given(conn, [file for pair in pairs for file in (pair.gone, pair.came)])
    conn.run(queries.forget_findings_about, {"session": session.id, "given": settled})
    scan_session.count(conn, session, added=-len(pairs), moved=len(pairs))


def _mark_some_missing(conn: Connection, session: Session, most: int) -> int:
    queries = sql(conn)
    files = [file for (file,) in conn.all(queries.some_unseen, {"session": session.id, "most": most})]
    if files:
        listed = given(conn, files)
        removed = conn.run(queries.mark_missing, {"given": listed, "session": session.id})
        conn.run(queries.forget_findings_about, {"session": session.id, "given": listed})
        scan_session.count(conn, session, removed=removed)
    return len(files)


def _is_unsettled(conn: Connection, library: int, session: Session) -> bool:
    return conn.one(sql(conn).unsettled, {"library": library, "session": session.id}) is not None


def _has_others(conn: Connection, library: int) -> bool:
    row = conn.one(sql(conn).other_files, {"library": library})
    return row is not None and bool(row[0])


def _want_hash(conn: Connection, library: int, paths: Sequence[str]) -> None:
    conn.run(sql(conn).want_hash_at, {"library": library, "given": given(conn, paths)})


def _judge(conn: Connection, files: Sequence[int], *, wanted: int) -> None:
    conn.run(sql(conn).want_hash if wanted else sql(conn).want_no_hash, {"given": given(conn, files)})
