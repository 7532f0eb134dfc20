"""The files of a library as the database knows them, and how they differ from what a scan sees."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from kurabito.dataplane.files.columns import file_columns
from kurabito.dataplane.files.walk import Entry, path_of
from kurabito.dataplane.scan.chunks import Columns
from kurabito.dataplane.scan.comebacks import Comeback
from kurabito.dataplane.scan.queries import SQL
from kurabito.db import Connection
from kurabito.db.rows import Column


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
        rows = conn.all(SQL.known_after, values)
    else:
        rows = conn.all(SQL.known_until, {**values, "until": until})
    return cast("list[Entry]", rows)


def encoded_files(conn: Connection, library: int, after: str, until: str, most: int) -> str | None:
    """All that is known of a chunk in one text, as `encode_files` makes it of what is seen; None of nothing.

    Where nothing changed this is enough, and the database makes it while another thread walks: rows would come one by one.
    """
    values = {"library": library, "after": after, "until": until, "most": most}
    return cast("str | None", conn.value(SQL.encoded_until, values))


def differences(seen: list[Entry], known: list[Entry], back: Mapping[str, Comeback]) -> Differences:
    """Compare what is seen with what is known of the same chunk; `back` are paths with more on record."""
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
        conn.run(SQL.bring_back, {"library": library, "paths": found.returned})


def add(conn: Connection, library: int, files: Columns, to_hash: set[int]) -> None:
    """Store files that are not known, to be hashed where the size is one of these."""
    conn.run_rows(SQL.add_files, _stored(files, to_hash), {"library": library})


def note(conn: Connection, session: int, library: int, finding: str, paths: Iterable[str]) -> None:
    """Remember files for the end of the scan, when everything was seen."""
    if listed := list(paths):
        values = {"session": session, "library": library, "finding": finding, "paths": listed}
        conn.run(SQL.note_findings, values)


def _change(conn: Connection, library: int, files: Columns, to_hash: set[int]) -> None:
    conn.run_rows(SQL.change_files, _stored(files, to_hash), {"library": library})


def _stored(files: Columns, to_hash: set[int]) -> list[Column]:
    """The columns that are stored."""
    return file_columns((*files, [1 if size in to_hash else 0 for size in files.sizes]))
