"""Imported dumps as the database keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, Final

from kurabito.clock import to_datetime
from kurabito.db import Connection, Database, Queries, Query
from kurabito.metadata.dumps.model import DumpEntry, DumpSource, SkippedRows

_SQL: Final = Queries("kurabito.metadata.dumps", "store.sql")
BATCH: Final = 250
"""Rows of one transaction: the writer is another's again after some milliseconds."""
_AT_ONCE: Final = 5_000
_ROOM: Final = 10_000_000
"""Numbers for the rows of one edition."""


@dataclass(frozen=True, slots=True)
class ImportedDump:
    """A dump that was imported, and what came of it."""

    source: DumpSource
    file_name: str
    entries: int
    skipped: int
    imported_at: datetime


def replace_dump(
    database: Database,
    source: DumpSource,
    entries: Sequence[DumpEntry],
    *,
    file_name: str,
    skipped: SkippedRows,
    report: Callable[[int], object],
) -> None:
    """Store what a dump says, in the place of what it said before: some rows at a time, and valid all at once.

    The rows of an edition lie beside those of the one before until the last is there. What an import that was killed left is
    removed by the next.
    """
    edition = 1 + database.read_blocking(lambda conn: _edition(conn, source))
    _forget_others(database, source, edition - 1)
    for start in range(0, len(entries), BATCH):
        rows = [
            [edition * _ROOM + start + place, json.dumps(entry.as_stored(), ensure_ascii=False, separators=(",", ":"))]
            for place, entry in enumerate(entries[start : start + BATCH])
        ]
        # Without waiting for the disk: the import is noted at the end, and what is durable then has all of this before it.
        database.write_blocking(partial(run_in_chunks, query=_SQL.add, rows=rows, source=source), durable=False)
        report(len(rows))
    noted = {"source": source, "file_name": file_name, "entries": len(entries), "skipped": skipped.count}
    database.write_blocking(lambda conn: conn.run(_SQL.note_import, {**noted, "edition": edition}))
    _forget_others(database, source, edition)


def read_dump(conn: Connection, source: DumpSource) -> Iterator[DumpEntry]:
    """What a dump says, in its order."""
    edition = _edition(conn, source)
    for (facts,) in conn.all(_SQL.facts, {"source": source, **_range(edition)}):
        yield DumpEntry.from_stored(json.loads(facts))


def editions(conn: Connection) -> list[tuple[str, int]]:
    """The edition of each dump that the index is to be made of."""
    return [(source, edition) for source, edition in conn.all(_SQL.editions)]


def is_unjoined(conn: Connection) -> bool:
    """Whether the index was not made of an import yet: it was interrupted, or runs."""
    return conn.one(_SQL.any_unjoined) is not None


def note_joined(conn: Connection) -> None:
    """Say that the index is made of all imports."""
    conn.run(_SQL.note_joined)


def _edition(conn: Connection, source: DumpSource) -> int:
    return int(conn.value(_SQL.edition, {"source": source}) or 0)


def _range(edition: int) -> dict[str, int]:
    return {"first": edition * _ROOM, "behind": (edition + 1) * _ROOM}


def _forget_others(database: Database, source: DumpSource, edition: int) -> None:
    def forget(conn: Connection) -> int:
        rows = [[number] for (number,) in conn.all(_SQL.others, {"source": source, **_range(edition), "limit": BATCH})]
        return conn.run(_SQL.forget, {"source": source, "rows": json.dumps(rows)}) if rows else 0

    while database.write_blocking(forget, durable=False):
        pass


def imported_dumps(conn: Connection) -> list[ImportedDump]:
    """The dumps that were imported, by their names."""
    return [
        ImportedDump(DumpSource(source), file_name, entries, skipped, to_datetime(imported_at))
        for source, file_name, entries, skipped, imported_at in conn.all(_SQL.imports)
    ]


def run_in_chunks(conn: Connection, query: Query, rows: Iterable[Sequence[Any]], **values: Any) -> None:
    """Run a statement of `{given}` rows for many, some thousands at a time."""
    rows = iter(rows)
    while chunk := list(islice(rows, _AT_ONCE)):
        conn.run(query, {"rows": json.dumps(chunk, ensure_ascii=False), **values})
