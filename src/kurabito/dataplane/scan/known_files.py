"""The files of a library as the database knows them, and how they differ from what a scan sees."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Any, Final, cast

from kurabito.dataplane.files.walk import Entry, path_of
from kurabito.dataplane.scan.chunks import Columns
from kurabito.dataplane.scan.comebacks import Comeback
from kurabito.dataplane.scan.queries import ROWS, given, sql
from kurabito.db import Connection, Dialect
from kurabito.db.rows import Column, row_source

_AT_ONCE: Final = 250
"""Rows in one INSERT on SQLite: three times as fast as one by one, and more gains nothing."""
_COLUMNS: Final = (
    ("relative_path", "text"),
    ("size_bytes", "bigint"),
    ("mtime_ns", "bigint"),
    ("inode", "bigint"),
    ("device", "bigint"),
    ("needs_hash", "integer"),
)


@dataclass(frozen=True, slots=True)
class Differences:
    """How a chunk of a library differs from what was known of it."""

    added: Sequence[Entry] = ()
    changed: Sequence[Entry] = ()
    returned: Sequence[str] = ()
    """Paths that were missing and are there again, with the same file."""
    replaced: Sequence[Entry] = ()
    """Paths that were missing and are there again, with another file."""
    unseen: Collection[str] = ()


def known_files(conn: Connection, library: int, after: str, until: str | None, most: int) -> list[Entry]:
    """The files that were there at the last scan, from one path to another, in order; at most so many."""
    values = {"library": library, "after": after, "most": most}
    if until is None:
        rows = conn.all(sql(conn).known_after, values)
    else:
        rows = conn.all(sql(conn).known_until, {**values, "until": until})
    return cast("list[Entry]", rows)


def encoded_files(conn: Connection, library: int, after: str, until: str, most: int) -> str | None:
    """All that is known of a chunk in one text, as `encode_files` makes it of what is seen; None of nothing.

    Where nothing changed this is enough, and the database makes it while another thread walks: rows would come one by one.
    """
    row = conn.one(sql(conn).told_until, {"library": library, "after": after, "until": until, "most": most})
    return None if row is None else cast("str | None", row[0])


def differences(seen: list[Entry], known: list[Entry], back: Mapping[str, Comeback]) -> Differences:
    """Compare what is seen with what is known of the same chunk; `back` are paths of which more is on record."""
    unchanged = set(known)
    paths = set(map(path_of, known))
    fresh = [entry for entry in seen if entry not in unchanged]
    new = [entry for entry in fresh if entry[0] not in paths]
    return Differences(
        added=[entry for entry in new if entry[0] not in back],
        changed=[entry for entry in fresh if entry[0] in paths],
        returned=[entry[0] for entry in new if back.get(entry[0]) is Comeback.SAME],
        replaced=[entry for entry in new if back.get(entry[0]) is Comeback.OTHER],
        unseen=paths.difference(map(path_of, seen)),
    )


def store(conn: Connection, library: int, found: Differences, to_hash: set[int]) -> None:
    """Write what a chunk of the library is like now, to be hashed where the size is one of these.

    What was not seen stays as it is.
    """
    if found.added:
        add(conn, library, Columns.of(found.added), to_hash)
    if changed := [*found.changed, *found.replaced]:
        _change(conn, library, Columns.of(changed), to_hash)
    if found.returned:
        conn.run(sql(conn).bring_back, {"library": library, "given": given(conn, found.returned)})


def add(conn: Connection, library: int, files: Columns, to_hash: set[int]) -> None:
    """Store files of which nothing is known, to be hashed where the size is one of these."""
    columns = _stored(files, to_hash)
    if conn.dialect is Dialect.POSTGRES:
        _run_for_rows(conn, sql(conn).add_files_postgres, columns, {"library": library})
        return
    now, count = conn.now(), len(files.paths)
    for begin in range(0, count, _AT_ONCE):
        rows = min(_AT_ONCE, count - begin)
        values = [library, now, *repeat(None, rows * len(columns))]
        for place, column in enumerate(columns, 2):
            values[place :: len(columns)] = column[begin : begin + rows]
        conn.raw.execute(_inserting(sql(conn).add_files_sqlite, rows), values)


def _stored(files: Columns, to_hash: set[int]) -> tuple[Sequence[Any], ...]:
    """The values of the columns that are stored."""
    return (*files, [1 if size in to_hash else 0 for size in files.sizes])


def note(conn: Connection, session: int, library: int, finding: str, paths: Iterable[str]) -> None:
    """Remember files for the end of the scan, when everything was seen."""
    if listed := list(paths):
        values = {"session": session, "library": library, "finding": finding, "given": given(conn, listed)}
        conn.run(sql(conn).note_findings, values)


@cache
def _inserting(statement: str, rows: int) -> str:
    marks = f"({', '.join('?' * len(_COLUMNS))})"
    return statement.replace(ROWS, ", ".join([marks] * rows))


def _change(conn: Connection, library: int, files: Columns, to_hash: set[int]) -> None:
    columns = _stored(files, to_hash)
    if conn.dialect is Dialect.POSTGRES:
        _run_for_rows(conn, sql(conn).change_files_postgres, columns, {"library": library})
        return
    now = conn.now()
    rows = [(library, now, *row) for row in zip(*columns, strict=True)]
    conn.raw.executemany(sql(conn).change_files_sqlite, rows)


def _run_for_rows(conn: Connection, statement: str, columns: tuple[Sequence[Any], ...], values: dict[str, Any]) -> None:
    named = zip(_COLUMNS, columns, strict=True)
    source, arrays = row_source(*(Column(name, kind, column) for (name, kind), column in named))
    conn.run(statement.replace(ROWS, source), {**values, **arrays})
