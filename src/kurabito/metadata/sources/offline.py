"""Ids without a request: an index of names, imported from a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.metadata.dumps.changes import join_dumps
from kurabito.metadata.dumps.model import DumpSource
from kurabito.metadata.dumps.store import put_dump
from kurabito.metadata.records import Details, RecordKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.metadata.sources.entry_rows import ENTRY, entry_of
from kurabito.titles import fold_title

_SQL: Final = Queries("kurabito.metadata.sources", "offline.sql", entry=ENTRY)


def replace_entries(conn: Connection, entries: Iterable[OfflineEntry]) -> int:
    """Replace all entries in the caller's transaction; returns their number. What is large is imported by `import_index`."""
    listed = list(entries)
    put_dump(conn, DumpSource.BANGUMI_DATA, listed)
    join_dumps(conn)
    look_again(conn)
    return len(listed)


def look_again(conn: Connection) -> None:
    """Have the next sync look up records without an id again."""
    conn.run(_SQL.look_again)


def is_there(conn: Connection) -> bool:
    """Whether an index was imported."""
    return conn.one(_SQL.any_entry) is not None


def years(conn: Connection) -> range:
    """The years in which something began, the first to the last; none without an index."""
    ((first, last),) = conn.all(_SQL.years)
    return range(0) if first is None else range(date.fromisoformat(first).year, date.fromisoformat(last).year + 1)


def find_entries(conn: Connection, wanted: Sequence[Details]) -> list[OfflineEntry | None]:
    """The entry that each record stands for, by its id of bgm.tv, else by its name and year; None where that is not clear.

    However many are wanted, the database is asked twice.
    """
    bgm_ids = {details.bgm_id for details in wanted if details.bgm_id is not None}
    by_bgm = {}
    if bgm_ids:
        rows = conn.all(_SQL.of_bgm, {"rows": _json([[bgm_id] for bgm_id in bgm_ids])})
        by_bgm = {entry.ids.bgm_id: entry for entry in map(entry_of, rows)}
    folded = [fold_title(details.title_japanese or "") for details in wanted]
    by_name = named(conn, set(folded))
    return [
        (by_bgm.get(details.bgm_id) if details.bgm_id is not None else None) or _the_one(by_name.get(name, ()), details)
        for details, name in zip(wanted, folded, strict=True)
    ]


def named(conn: Connection, names: Iterable[str]) -> dict[str, list[OfflineEntry]]:
    """The entries that have each of these names, which are folded already."""
    found: dict[str, list[OfflineEntry]] = {}
    for name, *row in conn.all(_SQL.named, {"rows": _json([[name] for name in names])}):
        found.setdefault(name, []).append(entry_of(tuple(row)))
    return found


def containing(conn: Connection, folded: str, *, limit: int) -> list[OfflineEntry]:
    """The entries with a text in one of their names, which is folded already; those first that are called exactly so."""
    rows = conn.all(_SQL.containing, {"folded": folded, "pattern": f"%{folded}%", "limit": limit})
    return [entry_of(row) for row in rows]


def sounding(conn: Connection, sounds: Iterable[str]) -> dict[str, list[OfflineEntry]]:
    """The entries that have a name of each of these sounds."""
    found: dict[str, list[OfflineEntry]] = {}
    for sound, *row in conn.all(_SQL.sounding, {"rows": _json([[sound] for sound in sounds])}):
        found.setdefault(sound, []).append(entry_of(tuple(row)))
    return found


def of_shows(conn: Connection, tmdb_ids: Iterable[int]) -> list[OfflineEntry]:
    """The seasons of some shows of TMDB."""
    rows = conn.all(_SQL.of_shows, {"rows": _json([[tmdb_id] for tmdb_id in tmdb_ids])})
    return [entry_of(row) for row in rows]


def namesakes(conn: Connection, names: Iterable[str]) -> dict[str, set[str]]:
    """The names, folded like these, that stand for the same. A name that stands for several tells nothing, and is left out."""
    entries: dict[str, set[int]] = {}
    others: dict[str, set[str]] = {}
    for name, entry, other in conn.all(_SQL.namesakes, {"rows": _json([[name] for name in names])}):
        entries.setdefault(name, set()).add(entry)
        others.setdefault(name, set()).add(other)
    return {name: found for name, found in others.items() if len(entries[name]) == 1}


def begun_between(conn: Connection, first: date, last: date) -> list[OfflineEntry]:
    """What began from one day on and before another, in that order."""
    values = {"first": first.isoformat(), "last": last.isoformat()}
    return [entry_of(row) for row in conn.all(_SQL.begun_between, values)]


def _the_one(named: Sequence[OfflineEntry], details: Details) -> OfflineEntry | None:
    """The only one that is left after each question; a name alone may belong to a remake, a film and a season."""
    if details.year is not None:
        named = _nearest(named, details.year)
    for fits in (
        lambda entry: entry.title == details.title_japanese,
        lambda entry: (entry.kind is RecordKind.MOVIE) == (details.kind is RecordKind.MOVIE),
    ):
        if len(named) > 1:
            named = [entry for entry in named if fits(entry)]
    return named[0] if len(named) == 1 else None


def _nearest(named: Sequence[OfflineEntry], year: int) -> list[OfflineEntry]:
    distances = {abs(entry.began_in - year) for entry in named if entry.began_in}
    nearest = min(distances, default=None)
    if nearest is None or nearest > 1:
        return []
    return [entry for entry in named if entry.began_in and abs(entry.began_in - year) == nearest]


def _json(rows: Sequence[Any]) -> str:
    return json.dumps(rows, ensure_ascii=False)
