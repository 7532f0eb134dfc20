"""A series gets another record: a person's choice, which outweighs what was found, with the names that the record knows."""

from __future__ import annotations

import json
from typing import Any

from kurabito.catalog.corrections import journal
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.merge import NAME, SQL, find_series
from kurabito.catalog.corrections.model import CorrectionEffect, CorrectionKind
from kurabito.catalog.identity.aliases import AliasSource, alias_row, names_of_record
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection
from kurabito.metadata import records
from kurabito.metadata.records import Metadata


def give_record(conn: Connection, series_id: int, metadata_id: int) -> CorrectionEffect:
    """Say which record a series has; raises SeriesNotFound or MetadataNotFound. The caller has locked the catalog.

    Names that an earlier record brought go with it, and those of the new one lead here, where they are no other series'.
    """
    series, record = find_series(conn, series_id), records.find(conn, metadata_id)
    changes = RowChanges(conn)
    changes.column("series", "metadata_id", [(series_id, series.metadata_id, metadata_id)])
    changes.column("series", "is_record_said", [(series_id, series.is_record_said, 1)])
    if changes.is_empty:
        return changes.effect(None, series_id)
    names = _rename(conn, changes, series, record)
    correction_id = journal.add(
        conn, CorrectionKind.CHANGE, series_id, title=series.title, record=next(iter(record.details.titles), None)
    )
    journal.keep(conn, correction_id, changes)
    return changes.effect(correction_id, series_id, names)


def _rename(conn: Connection, changes: RowChanges, series: Any, record: Metadata) -> list[str]:
    """The names that it has of the new record, and has no longer of the old one; as they are shown."""
    known = [NAME.row(row)._asdict() for row in conn.all(SQL.names, {"id": series.id})]
    names, season = names_of_record(record.details)
    kind = SeriesKind(series.kind)
    # Beside another season these names stand for another series.
    listed = names if season == series.season else []
    wanted = {name.folded: {**alias_row(name, kind, season), "source": AliasSource.RECORD.value} for name in listed}
    taken = {
        folded for (folded,) in conn.all(SQL.taken, {"rows": json.dumps(list(wanted.values()), ensure_ascii=False)})
    }
    new = [row for folded, row in wanted.items() if folded not in taken]
    old = [row for row in known if row["source"] == AliasSource.RECORD and row["folded"] not in wanted]
    if series.metadata_id is None or len(old) == len(known) + len(new):
        # A series without a name would be found by nothing.
        old = []
    changes.names((row, series.id, None) for row in old)
    changes.names((row, None, series.id) for row in new)
    return [row["name"] for row in (*new, *old)]
