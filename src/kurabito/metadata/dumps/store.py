"""Imported dumps as the database keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

from kurabito.db import Connection, Database, Queries, Query
from kurabito.metadata.dumps.model import DumpEntry, DumpSource, SkippedRows
from kurabito.metadata.sources.bangumi_data import OfflineEntry

_SQL: Final = Queries("kurabito.metadata.dumps", "store.sql")
BATCH: Final = 250
"""Rows of one transaction: the writer is another's again after some milliseconds."""
_AT_ONCE: Final = 5_000
_ROOM: Final = 10_000_000
"""Numbers for the rows of one edition."""


def replace_dump(
    database: Database,
    source: DumpSource,
    entries: Sequence[DumpEntry | OfflineEntry],
    *,
    file_name: str,
    skipped: SkippedRows,
    report: Callable[[int], object],
    note: Callable[[Connection], object] = lambda _conn: None,
) -> None:
    """Store what a dump says, in the place of what it said before: some rows at a time, and valid all at once.

    The rows of an edition lie beside those of the one before until the last is there; `note` is called in the transaction that
    makes them valid. What an import that was killed left is removed by the next.
    """
    edition = 1 + database.read_blocking(lambda conn: _edition(conn, source))
    _forget_others(database, source, edition - 1)
    rows = _numbered(entries, edition)
    while batch := list(islice(rows, BATCH)):
        # Without waiting for the disk: the import is noted at the end, and what is durable then has all of this before it.
        database.write_blocking(partial(run_in_chunks, query=_SQL.add, rows=batch, source=source), durable=False)
        report(len(batch))
    noted = {"source": source, "file_name": file_name, "entries": len(entries), "skipped": skipped.count}

    def make_valid(conn: Connection) -> None:
        conn.run(_SQL.note_import, {**noted, "edition": edition})
        note(conn)

    database.write_blocking(make_valid)
    _forget_others(database, source, edition)


def put_dump(conn: Connection, source: DumpSource, entries: Sequence[DumpEntry | OfflineEntry]) -> None:
    """Store what a dump says, in the place of what it said before, in the caller's transaction."""
    edition = 1 + _edition(conn, source)
    conn.run(_SQL.forget_all, {"source": source})
    run_in_chunks(conn, _SQL.add, _numbered(entries, edition), source=source)
    noted = {"source": source, "file_name": source, "entries": len(entries), "skipped": 0, "edition": edition}
    conn.run(_SQL.note_import, noted)


def read_dump(conn: Connection, source: DumpSource) -> Iterator[DumpEntry]:
    """What a dump says, in its order."""
    return map(DumpEntry.from_stored, _facts(conn, source))


def read_base(conn: Connection) -> Iterator[OfflineEntry] | None:
    """What bangumi-data says, in its order; None when it was imported by a version that did not keep that."""
    if not _edition(conn, DumpSource.BANGUMI_DATA):
        return None
    return map(OfflineEntry.from_stored, _facts(conn, DumpSource.BANGUMI_DATA))


def editions(conn: Connection) -> list[tuple[str, int]]:
    """The edition of each dump that the index is to be made of."""
    return [(source, edition) for source, edition in conn.all(_SQL.editions)]


def is_unjoined(conn: Connection) -> bool:
    """Whether the index was not made of an import yet: it was interrupted, or runs."""
    return conn.one(_SQL.any_unjoined) is not None


def note_joined(conn: Connection) -> None:
    """Say that the index is made of all imports."""
    conn.run(_SQL.note_joined)


def _numbered(entries: Iterable[DumpEntry | OfflineEntry], edition: int) -> Iterator[tuple[int, str]]:
    for number, entry in enumerate(entries, edition * _ROOM):
        yield number, json.dumps(entry.as_stored(), ensure_ascii=False, separators=(",", ":"))


def _facts(conn: Connection, source: DumpSource) -> Iterator[dict[str, Any]]:
    for (facts,) in conn.all(_SQL.facts, {"source": source, **_range(_edition(conn, source))}):
        yield json.loads(facts)


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


def run_in_chunks(conn: Connection, query: Query, rows: Iterable[Sequence[Any]], **values: Any) -> None:
    """Run a statement of `{given}` rows for many, some thousands at a time."""
    rows = iter(rows)
    while chunk := list(islice(rows, _AT_ONCE)):
        conn.run(query, {"rows": json.dumps(chunk, ensure_ascii=False), **values})
