"""Imported dumps as the database keeps them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final

from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries, Query
from kurabito.metadata.dumps.model import DumpEntry, DumpSource, SkippedRows

_SQL: Final = Queries("kurabito.metadata.dumps", "store.sql")
_AT_ONCE: Final = 5_000


@dataclass(frozen=True, slots=True)
class ImportedDump:
    """A dump that was imported, and what came of it."""

    source: DumpSource
    file_name: str
    entries: int
    skipped: int
    imported_at: datetime


def replace_dump(
    conn: Connection, source: DumpSource, entries: Sequence[DumpEntry], *, file_name: str, skipped: SkippedRows
) -> None:
    """Store what a dump says, in the place of what it said before."""
    conn.run(_SQL.forget, {"source": source})
    rows = (
        [number, json.dumps(entry.as_stored(), ensure_ascii=False, separators=(",", ":"))]
        for number, entry in enumerate(entries)
    )
    run_in_chunks(conn, _SQL.add, rows, source=source)
    values = {"source": source, "file_name": file_name, "entries": len(entries), "skipped": skipped.count}
    conn.run(_SQL.note_import, values)


def read_dump(conn: Connection, source: DumpSource) -> Iterator[DumpEntry]:
    """What a dump says, in its order."""
    for (facts,) in conn.all(_SQL.facts, {"source": source}):
        yield DumpEntry.from_stored(json.loads(facts))


def imported_dumps(conn: Connection) -> list[ImportedDump]:
    """The dumps that were imported, by their names."""
    return [
        ImportedDump(DumpSource(source), file_name, entries, skipped, to_datetime(imported_at))
        for source, file_name, entries, skipped, imported_at in conn.all(_SQL.imports)
    ]


def run_in_chunks(conn: Connection, query: Query, rows: Iterable[list[Any]], **values: Any) -> None:
    """Run a statement of `{given}` rows for many, some thousands at a time."""
    rows = iter(rows)
    while chunk := list(islice(rows, _AT_ONCE)):
        conn.run(query, {"rows": json.dumps(chunk, ensure_ascii=False), **values})
