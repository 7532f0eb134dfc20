"""The corrections as they are stored: what was changed, by whom, and whether it was undone."""

from __future__ import annotations

import json
from typing import Any, Final

from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.model import Correction, CorrectionKind, MadeBy
from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.runtime.paging import BIGGEST_ID

_CORRECTION: Final = ColumnList("id, kind, series_id, other_id, made_by, facts, created_at, undone_at")
_SQL: Final = Queries("kurabito.catalog.corrections", "journal.sql", correction=_CORRECTION)


def add(
    conn: Connection,
    kind: CorrectionKind,
    series_id: int,
    *,
    other_id: int | None = None,
    made_by: MadeBy = MadeBy.KEEPER,
    **facts: Any,
) -> int:
    """Note a correction, whose changes follow; its id."""
    values = {
        "kind": kind,
        "series_id": series_id,
        "other_id": other_id,
        "made_by": made_by,
        "facts": json.dumps(facts, ensure_ascii=False),
        "changes": "[]",
    }
    return int(conn.value(_SQL.add, values))


def keep(conn: Connection, correction_id: int, changes: RowChanges) -> None:
    """Keep the changes of a correction, so that it can be undone."""
    conn.run(_SQL.set_changes, {"id": correction_id, "changes": changes.stored()})


def page(conn: Connection, series_id: int, *, before: int = BIGGEST_ID, limit: int) -> list[Correction]:
    """The corrections that touched a series, the newest first."""
    rows = conn.all(_SQL.page, {"series_id": series_id, "before": before, "limit": limit})
    return [_correction(row) for row in rows]


def last(conn: Connection, series_id: int) -> tuple[Correction, RowChanges] | None:
    """The last correction that touched a series and stands, with its changes."""
    row = conn.one(_SQL.last, {"series_id": series_id})
    if row is None:
        return None
    *told, changes = row
    return _correction(tuple(told)), RowChanges(conn, json.loads(changes))


def note_undone(conn: Connection, correction_id: int) -> None:
    """Say that a correction was undone."""
    conn.run(_SQL.note_undone, {"id": correction_id})


def _correction(values: Row) -> Correction:
    row = _CORRECTION.row(values)
    return Correction(
        row.id,
        CorrectionKind(row.kind),
        row.series_id,
        row.other_id,
        MadeBy(row.made_by),
        json.loads(row.facts),
        to_datetime(row.created_at),
        optional_datetime(row.undone_at),
    )
