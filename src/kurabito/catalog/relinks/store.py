"""Runs of reading again, as they are stored: why, how many links, and which of them went where."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from kurabito.catalog.errors import RelinkNotFound
from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList

_RELINK: Final = ColumnList("id, cause, links_read, links_moved, links_held, started_at, finished_at")
_MOVED: Final = ColumnList(
    "link_id, title, from_series, from_title, from_season, from_number, to_series, to_title, to_season, to_number, held_reason"
)
_SQL: Final = Queries("kurabito.catalog.relinks", "store.sql", relink=_RELINK)
_KEPT: Final = 50


class RelinkCause(StrEnum):
    """Why links were read again."""

    RULE = "rule"
    """A title rule changed."""
    OFFSET = "offset"
    NAMES = "names"
    """A name of a series came or went."""
    INDEX = "index"
    """The offline index was imported."""
    PARSER = "parser"
    """A new version reads titles otherwise."""


@dataclass(frozen=True, slots=True)
class Relink:
    """One run: links were read again, and some of them moved."""

    id: int
    cause: RelinkCause
    links_read: int
    links_moved: int
    links_held: int
    """Those of them that waited to be confirmed."""
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class RelinkedLink:
    """A link that moved: where it was, and where it went."""

    link_id: int
    title: str
    from_series: int
    from_title: str
    from_season: int
    from_number: float | None
    to_series: int
    to_title: str
    to_season: int
    to_number: float | None
    is_waiting: bool
    """It is not downloaded until that is confirmed."""


def begin(conn: Connection, cause: RelinkCause) -> int:
    """The run that goes on from now: one that a crash left, or a new one; its id."""
    if (left := conn.value(_SQL.unfinished, {"cause": cause})) is not None:
        return int(left)
    return int(conn.value(_SQL.add, {"cause": cause}))


def note_moved(conn: Connection, relink_id: int, moved: Iterable[dict[str, Any]]) -> None:
    """Note links that moved: each with `link_id`, and `series` and `number` from which and to which."""
    if rows := list(moved):
        conn.run(_SQL.note_moved, {"relink_id": relink_id, "rows": json.dumps(rows)})


def finish(conn: Connection, relink_id: int, *, read: int, is_kept: bool) -> None:
    """End a run. One that moved nothing is forgotten unless `is_kept`; so are the oldest."""
    conn.run(_SQL.finish, {"id": relink_id, "read": read})
    if not is_kept:
        conn.run(_SQL.forget_empty, {"id": relink_id})
    conn.run(_SQL.forget_old, {"kept": _KEPT})


def page(conn: Connection, *, before: int, limit: int) -> list[Relink]:
    """The runs, the newest first."""
    return [_relink(row) for row in conn.all(_SQL.page, {"before": before, "limit": limit})]


def find(conn: Connection, relink_id: int) -> Relink:
    """One run; raises RelinkNotFound."""
    row = conn.one(_SQL.get, {"id": relink_id})
    if row is None:
        raise RelinkNotFound(f"links were not read again under the id {relink_id}; the oldest runs are forgotten")
    return _relink(row)


def moved(conn: Connection, relink_id: int, *, before: int, limit: int) -> list[RelinkedLink]:
    """The links that a run moved, the newest first."""
    rows = conn.all(_SQL.moved, {"id": relink_id, "before": before, "limit": limit})
    return [_relinked(row) for row in rows]


def _relinked(values: Row) -> RelinkedLink:
    row = _MOVED.row(values)
    return RelinkedLink(
        row.link_id,
        row.title,
        row.from_series,
        row.from_title,
        row.from_season,
        row.from_number,
        row.to_series,
        row.to_title,
        row.to_season,
        row.to_number,
        is_waiting=row.held_reason == "read_again",
    )


def _relink(values: Row) -> Relink:
    row = _RELINK.row(values)
    return Relink(
        row.id,
        RelinkCause(row.cause),
        row.links_read,
        row.links_moved,
        row.links_held,
        to_datetime(row.started_at),
        None if row.finished_at is None else to_datetime(row.finished_at),
    )
