"""Makes the index of all that was imported: the entries of bangumi-data, completed and extended by the other dumps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList
from kurabito.metadata.dumps.index import ID_FIELDS, IndexEntries, IndexEntry, NameSource
from kurabito.metadata.dumps.model import ROMAJI, DumpName, DumpSource, sound_of
from kurabito.metadata.dumps.names import IndexName, added_names, franchises_of
from kurabito.metadata.dumps.store import note_joined, read_dump, run_in_chunks
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.titles import fold_title

_ENTRY: Final = ColumnList(
    "id, kind, year, air_date, bgm_id, anidb_id, mal_id, anilist_id, tmdb_id, tmdb_kind, tmdb_season"
)
JOIN: Final = Queries("kurabito.metadata.dumps", "join.sql", entry=_ENTRY)
_ORDER: Final = (
    DumpSource.ARCHIVE,
    DumpSource.OFFLINE_DATABASE,
    DumpSource.ANIDB,
    DumpSource.ANIME_LISTS,
)
"""First those that add entries, so that the others find them to name."""


@dataclass(frozen=True, slots=True)
class Joined:
    """What the index is made of now."""

    entries: int
    names: int
    franchises: int
    homeless: int
    """Entries of dumps that belong to none of the index."""


@dataclass(frozen=True, slots=True)
class IndexContent:
    """What the tables of the index are to hold beside what bangumi-data says."""

    joined: Joined
    entries: list[list[Any]]
    """The rows of entries that bangumi-data does not have."""
    completions: list[list[Any]]
    """What the dumps add to every entry."""
    titles: list[IndexName]
    sounds: list[tuple[str, int]]
    offsets: list[list[Any]]


def join_dumps(conn: Connection) -> Joined:
    """Add what the dumps know to the entries of bangumi-data, in the caller's transaction."""
    for statement in (JOIN.forget_titles, JOIN.forget_entries, JOIN.forget_sounds, JOIN.forget_offsets):
        conn.run(statement)
    content = content_of_dumps(conn)
    run_in_chunks(conn, JOIN.add_entries, content.entries)
    run_in_chunks(conn, JOIN.complete, content.completions)
    run_in_chunks(conn, JOIN.add_titles, content.titles)
    run_in_chunks(conn, JOIN.add_sounds, content.sounds)
    run_in_chunks(conn, JOIN.add_offsets, content.offsets)
    note_joined(conn)
    return content.joined


def content_of_dumps(conn: Connection) -> IndexContent:
    """What the index is to hold by all that was imported. Nothing is written."""
    entries = IndexEntries(_known(conn), _numbers(conn))
    homeless = sum(entries.add_all(source, list(read_dump(conn, source))) for source in _ORDER)
    franchises = franchises_of(entries)
    names = list(added_names(entries, franchises))
    return IndexContent(
        Joined(sum(1 for _ in entries), len(names), len(set(franchises.values())), homeless),
        [_row(one) for one in entries if one.source is not DumpSource.BANGUMI_DATA],
        [_completion(one, franchises.get(one.id)) for one in entries],
        names,
        _sounds(entries, names),
        list(_offsets(entries)),
    )


def _numbers(conn: Connection) -> dict[tuple[str, int], int]:
    """The ids of the entries that are of dumps alone, by their ids elsewhere."""
    return {
        (name, value): row.id
        for row in map(_ENTRY.row, conn.all(JOIN.of_dumps))
        for name in ID_FIELDS
        if (value := getattr(row, name)) is not None
    }


def _known(conn: Connection) -> list[IndexEntry]:
    """The entries of bangumi-data with their names."""
    known: dict[int, IndexEntry] = {}
    for row in map(_ENTRY.row, conn.all(JOIN.known)):
        is_show = row.tmdb_kind == TmdbKind.TV and row.tmdb_id is not None
        known[row.id] = IndexEntry(
            id=row.id,
            kind=RecordKind(row.kind),
            year=row.year,
            began=date.fromisoformat(row.air_date) if row.air_date else None,
            ids={name: getattr(row, name) for name in ID_FIELDS if getattr(row, name) is not None},
            shows={row.tmdb_id} if is_show else set(),
        )
    by_bangumi_data = NameSource(DumpSource.BANGUMI_DATA, None)
    for folded, entry_id in conn.all(JOIN.known_titles):
        if entry_id in known:
            known[entry_id].own[folded] = by_bangumi_data
    return list(known.values())


def _row(entry: IndexEntry) -> list[Any]:
    title = _title(entry.titles, "ja") or entry.titles[0]
    language = title.language or (ROMAJI if title.title.isascii() else "ja")
    day = entry.began
    return [
        entry.id,
        entry.source,
        entry.kind,
        title.title,
        language,
        day and day.isoformat(),
        day and day.isoweekday(),
        entry.year,
        entry.ids.get("bgm_id"),
    ]


def _completion(entry: IndexEntry, franchise: int | None) -> list[Any]:
    chinese, english = _title(entry.titles, "zh-Hans", "zh"), _title(entry.titles, "en")
    return [
        entry.id,
        *(entry.ids.get(name) for name in ("anidb_id", "mal_id", "anilist_id")),
        chinese and chinese.title,
        english and english.title,
        entry.episode_count,
        franchise,
    ]


def _sounds(entries: Iterable[IndexEntry], names: Iterable[IndexName]) -> list[tuple[str, int]]:
    """The sounds of titles in Latin letters; those of a name that an entry may not have are left out with it."""
    kept = {(name.folded, name.entry_id) for name in names}
    found = {
        (sound, entry.id)
        for entry in entries
        for title in entry.titles
        if title.language in (None, ROMAJI) and (fold_title(title.title), entry.id) in kept
        if (sound := sound_of(title.title)) is not None
    }
    return sorted(found)


def _offsets(entries: Iterable[IndexEntry]) -> Iterable[list[Any]]:
    for entry in entries:
        for source, first in entry.first.items():
            yield [entry.id, source, first.season, first.number]


def _title(titles: Sequence[DumpName], *languages: str) -> DumpName | None:
    return next((name for language in languages for name in titles if name.language == language), None)
