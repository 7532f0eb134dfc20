"""Takes the last correction of a series back."""

from __future__ import annotations

from typing import NamedTuple

from kurabito.catalog.corrections import journal
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.files import carry_place
from kurabito.catalog.corrections.merge import NAME, REFERRING, find_series
from kurabito.catalog.corrections.merge import SQL as MERGE
from kurabito.catalog.corrections.model import Correction, CorrectionKind
from kurabito.catalog.corrections.moves import SQL, find_links, place_links
from kurabito.catalog.errors import CorrectionConflict
from kurabito.catalog.identity import rulings
from kurabito.db import Connection
from kurabito.db.rows import given


class Undone(NamedTuple):
    """A correction that was taken back."""

    correction: Correction
    changes: RowChanges
    names: tuple[str, ...]
    """Folded: what has one of them may have come where the correction led it, and belong elsewhere now."""


def undo(conn: Connection, series_id: int) -> Undone:
    """Undo the last correction that touched a series; raises CorrectionConflict when there is none, or a later one stands on it.

    Downloads that it started go on: nothing is cancelled. The caller has locked the catalog.
    """
    found = journal.last(conn, series_id)
    if found is None:
        raise CorrectionConflict(f"nothing was corrected of series {series_id} that could be undone")
    correction, changes = found
    for touched in (correction.series_id, correction.other_id):
        later = None if touched is None else journal.last(conn, touched)
        if later is not None and later[0].id != correction.id:
            raise CorrectionConflict(f"series {touched} was corrected later; undo that first: {later[0].kind}")
    changes.undo()
    names = rulings.forget(conn, correction.id).union(changes.renamed())
    if correction.kind is CorrectionKind.SPLIT and correction.other_id is not None:
        _fold_back(conn, correction.other_id, into=correction.series_id)
    journal.note_undone(conn, correction.id)
    conn.run(SQL.settle_holds, given(changes.links()))
    return Undone(correction, changes, tuple(sorted(names)))


def _fold_back(conn: Connection, series_id: int, *, into: int) -> None:
    """What came to a series since it was split off goes back with it."""
    changes = RowChanges(conn)
    names = [NAME.row(row) for row in conn.all(MERGE.names, {"id": series_id})]
    changes.names((name._asdict(), series_id, into) for name in names)
    for table, column, referring in REFERRING:
        changes.column(table, column, ((row, series_id, into) for (row,) in conn.all(referring, {"id": series_id})))
    carry_place(conn, changes, series_id, into=into)
    if came := [link_id for link_id, *_ in conn.all(MERGE.links, {"id": series_id})]:
        place_links(conn, changes, find_links(conn, came), find_series(conn, into))
