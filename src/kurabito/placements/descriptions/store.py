"""What was written to describe series, what is due, and the placements that write, rewrite or rename."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from kurabito.db import Connection, Queries
from kurabito.placements.descriptions.files import DescriptionFile

_SQL: Final = Queries("kurabito.placements.descriptions", "store.sql")
_AT_ONCE: Final = 20


@dataclass(frozen=True, slots=True)
class DueSeries:
    """A series whose files in a library are to be compared with what is known of it."""

    series_id: int
    library_id: int
    wants_nfo: bool
    wants_poster: bool


def due(conn: Connection) -> list[DueSeries]:
    """The next ones, in libraries that have any."""
    rows = conn.all(_SQL.due, {"limit": _AT_ONCE})
    return [DueSeries(series, library, bool(nfo), bool(poster)) for series, library, nfo, poster in rows]


def note_placed(conn: Connection, placement_ids: Sequence[int]) -> None:
    """Have the series be compared whose files, or descriptions, these placements brought into a library."""
    found = {
        (series_id, library_id)
        for library_id, named_by, subject in conn.all(_SQL.placed, {"ids": list(placement_ids)})
        if (series_id := _series_of(named_by, subject)) is not None
    }
    for series_id, library_id in sorted(found):
        conn.run(_SQL.note_due, {"series_id": series_id, "library_id": library_id})


def _series_of(named_by: str | None, subject: str | None) -> int | None:
    if subject is not None:
        return int(subject.partition("/")[0])
    return None if named_by is None else json.loads(named_by).get("series_id")


def note_described(conn: Connection, library_id: int, members: Sequence[int]) -> None:
    """Have these series be described as well as they can be by now."""
    conn.run(_SQL.note_described, {"library_id": library_id, "ids": list(members)})


def foreign(conn: Connection) -> list[int]:
    """The placements that another file is in the way of, or whose own file the user changed."""
    return [found for (found,) in conn.all(_SQL.foreign)]


def leave_foreign(conn: Connection) -> None:
    """Give these up: such a file stays as it is."""
    given = {"ids": foreign(conn)}
    conn.run(_SQL.forget, given)
    conn.run(_SQL.leave, given)


def write(conn: Connection, library_id: int, files: Sequence[DescriptionFile], *, reserve: int) -> int:
    """Make the placements that bring these files up to date; how many."""
    return sum(_write(conn, library_id, file, reserve) for file in files)


def _write(conn: Connection, library_id: int, file: DescriptionFile, reserve: int) -> bool:
    where = {"library_id": library_id, "subject": file.subject, "path": file.path, "digest": file.digest}
    known = conn.one(_SQL.known, where)
    if known is None:
        if conn.one(_SQL.is_taken, where) is not None:
            return False
        placement_id = _place(conn, library_id, file, reserve)
    else:
        path, digest = known
        if path == file.path and digest == file.digest:
            return False
        own = conn.one(_SQL.unchanged, where)
        if own is None:
            return False
        size, mtime_ns = own
        if path != file.path:
            if conn.one(_SQL.is_taken, where) is not None:
                return False
            # What it says is looked at again once it has its name.
            where["digest"] = digest
            placement_id = conn.value(_SQL.rename, {**where, "source": path, "size": size, "mtime_ns": mtime_ns})
        else:
            placement_id = _place(conn, library_id, file, reserve, replaces=(size, mtime_ns))
    conn.run(_SQL.keep, {**where, "placement_id": placement_id})
    return True


def _place(
    conn: Connection, library_id: int, file: DescriptionFile, reserve: int, replaces: tuple[int, int] | None = None
) -> int:
    """A placement that writes a file, in the place of the one of this size and mtime that was written before."""
    size, mtime_ns = replaces or (None, None)
    values = {
        "library_id": library_id,
        "path": file.path,
        "content": file.content,
        "size": len(file.content),
        "reserve": reserve,
        "replaces": None if replaces is None else file.path,
        "replaces_size": size,
        "replaces_mtime_ns": mtime_ns,
        "trash_id": None if replaces is None else uuid4().hex,
    }
    return int(conn.value(_SQL.place, values))
