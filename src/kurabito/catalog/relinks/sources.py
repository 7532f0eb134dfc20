"""By which parser and which index links were read last. Where these are newer, all links are due to be read again."""

from __future__ import annotations

from typing import Final, NamedTuple

from kurabito.catalog.relinks.store import RelinkCause
from kurabito.db import Connection, Queries
from kurabito.titles import PARSER_VERSION

_SQL: Final = Queries("kurabito.catalog.relinks", "sources.sql")


class ReadBy(NamedTuple):
    """What titles are read by, and names are compared with."""

    parser: int
    index_at: int | None
    """When the offline index was made last, of its file and the dumps beside it."""


def current(conn: Connection) -> ReadBy:
    """What a link would be read by now."""
    return ReadBy(PARSER_VERSION, conn.value(_SQL.index_at))


def due(conn: Connection) -> RelinkCause | None:
    """Why all links are to be read again; None when nothing is newer than they are, or there are none."""
    now, row = current(conn), conn.one(_SQL.read_by)
    before = None if row is None else ReadBy(*row)
    if before == now:
        return None
    if conn.one(_SQL.any_link) is None:
        return None
    return RelinkCause.PARSER if before is None or before.parser != now.parser else RelinkCause.INDEX


def note(conn: Connection, read_by: ReadBy) -> None:
    """Say by what all links were read."""
    conn.run(_SQL.note, read_by._asdict())
