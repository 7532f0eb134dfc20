"""Ids without a request: an index of names, imported from a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.metadata.dumps.join import join_dumps
from kurabito.metadata.dumps.model import folded_spellings
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import Details, RecordKind, TmdbKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.titles import fold_title

_ENTRY: Final = ColumnList(
    "kind, title, title_chinese, title_english, language, air_date, bgm_id, tmdb_id, tmdb_kind, tmdb_season, anidb_id, "
    "anilist_id, mal_id, mikan_id, year"
)
_SQL: Final = Queries("kurabito.metadata.sources", "offline.sql", entry=_ENTRY)


def replace_entries(conn: Connection, entries: Iterable[OfflineEntry]) -> int:
    """Replace all entries; returns their number. The next sync looks up records without an id again."""
    listed = list(entries)
    conn.run(_SQL.forget_titles)
    conn.run(_SQL.forget_entries)
    conn.run(_SQL.add_entries, {"rows": _json([_row(number, entry) for number, entry in enumerate(listed, 1)])})
    names = {
        (folded, number)
        for number, entry in enumerate(listed, 1)
        for title in entry.titles
        for folded in folded_spellings(title)
    }
    conn.run(_SQL.add_titles, {"rows": _json(sorted(names))})
    # What other dumps know of these entries is joined to the new ones.
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
        by_bgm = {entry.ids.bgm_id: entry for entry in map(_entry, rows)}
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
        found.setdefault(name, []).append(_entry(tuple(row)))
    return found


def containing(conn: Connection, folded: str, *, limit: int) -> list[OfflineEntry]:
    """The entries with a text in one of their names, which is folded already; those first that are called exactly so."""
    rows = conn.all(_SQL.containing, {"folded": folded, "pattern": f"%{folded}%", "limit": limit})
    return [_entry(row) for row in rows]


def sounding(conn: Connection, sounds: Iterable[str]) -> dict[str, list[OfflineEntry]]:
    """The entries that have a name of each of these sounds."""
    found: dict[str, list[OfflineEntry]] = {}
    for sound, *row in conn.all(_SQL.sounding, {"rows": _json([[sound] for sound in sounds])}):
        found.setdefault(sound, []).append(_entry(tuple(row)))
    return found


def of_shows(conn: Connection, tmdb_ids: Iterable[int]) -> list[OfflineEntry]:
    """The seasons of some shows of TMDB."""
    rows = conn.all(_SQL.of_shows, {"rows": _json([[tmdb_id] for tmdb_id in tmdb_ids])})
    return [_entry(row) for row in rows]


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
    return [_entry(row) for row in conn.all(_SQL.begun_between, values)]


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


def _row(number: int, entry: OfflineEntry) -> list[Any]:
    day, ids = entry.air_date, entry.ids
    return [
        number,
        entry.kind,
        entry.title,
        entry.title_chinese,
        entry.title_english,
        entry.language,
        day and day.isoformat(),
        day and day.isoweekday(),
        day and day.year,
        ids.bgm_id,
        ids.tmdb_id,
        ids.tmdb_kind,
        ids.tmdb_season,
        ids.anidb_id,
        ids.anilist_id,
        ids.mal_id,
        ids.mikan_id,
    ]


def _entry(row: Row) -> OfflineEntry:
    entry = _ENTRY.row(row)
    return OfflineEntry(
        title=entry.title,
        kind=RecordKind(entry.kind),
        language=entry.language,
        ids=Ids(
            bgm_id=entry.bgm_id,
            tmdb_id=entry.tmdb_id,
            tmdb_kind=None if entry.tmdb_kind is None else TmdbKind(entry.tmdb_kind),
            tmdb_season=entry.tmdb_season,
            anidb_id=entry.anidb_id,
            anilist_id=entry.anilist_id,
            mal_id=entry.mal_id,
            mikan_id=entry.mikan_id,
        ),
        air_date=None if entry.air_date is None else date.fromisoformat(entry.air_date),
        title_chinese=entry.title_chinese,
        title_english=entry.title_english,
        year=entry.year,
    )


def _json(rows: Sequence[Any]) -> str:
    return json.dumps(rows, ensure_ascii=False)
