"""Downloads that are filed, and the placements that take the names of their files away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kurabito.db import Connection, Queries

_SQL: Final = Queries("kurabito.placements.leftovers", "store.sql")
_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class FiledDownload:
    """A download of ours whose files are all in their places."""

    id: int
    module_id: int
    hash: str
    inspection_id: int


def filed(conn: Connection, after: int = 0) -> list[FiledDownload]:
    """Those with a higher id than `after`, the lowest first and some at a time, at downloaders that are to be tidied."""
    return [FiledDownload(*row) for row in conn.all(_SQL.filed, {"after": after, "limit": _AT_ONCE})]


def note_tidied(conn: Connection, download: FiledDownload) -> None:
    """Note that the downloader forgot it, and have the names of its files go that the library has."""
    values = {"id": download.id, "hash": download.hash, "module_id": download.module_id}
    conn.run(_SQL.note_tidied, values)
    conn.run(_SQL.take_names, {"id": download.id, "inspection_id": download.inspection_id})
    conn.notify()


def kept(conn: Connection) -> list[int]:
    """The placements of names that did not go: the file changed, is gone, or the library has it no more."""
    return [found for (found,) in conn.all(_SQL.kept)]


def leave_kept(conn: Connection) -> None:
    """Give these up: such a name stays."""
    conn.run(_SQL.leave, {"ids": kept(conn)})
