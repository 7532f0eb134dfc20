"""Makes the index of all that was imported: the entries of bangumi-data, completed and extended by the other dumps."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList
from kurabito.metadata.dumps.index import ID_FIELDS, IndexEntries, IndexEntry, NameSource
from kurabito.metadata.dumps.model import (
    ROMAJI,
    DumpName,
    DumpSource,
    folded_spellings,
    folded_without_article,
    sound_of,
)
from kurabito.metadata.dumps.names import IndexName, franchises_of, names_of
from kurabito.metadata.dumps.store import read_base, read_dump
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.metadata.sources.entry_rows import ENTRY, entry_of
from kurabito.titles import fold_title
from kurabito.titles.kana import kana_to_romaji

ROW: Final = ColumnList(
    "id, source, kind, title, title_chinese, title_english, language, air_date, air_weekday, year, bgm_id, tmdb_id, tmdb_kind, "
    "tmdb_season, anidb_id, anilist_id, mal_id, mikan_id, episode_count, franchise_id, last_date"
)
_KNOWN: Final = ColumnList("id, source, title, air_date, bgm_id, anidb_id, mal_id, anilist_id")
JOIN: Final = Queries("kurabito.metadata.dumps", "join.sql", entry=ENTRY, row=ROW, known=_KNOWN)
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
    """What the tables of the index are to hold."""

    joined: Joined
    entries: list[tuple[Any, ...]]
    titles: list[IndexName]
    sounds: list[tuple[str, int]]
    offsets: list[list[Any]]


def content_of_dumps(conn: Connection) -> IndexContent:
    """What the index is to hold by all that was imported. Nothing is written."""
    numbers = _Numbers(map(_KNOWN.row, conn.all(JOIN.numbers)))
    entries = IndexEntries(_base(conn, numbers), numbers.of_dumps, numbers.last)
    homeless = sum(entries.add_all(source, list(read_dump(conn, source))) for source in _ORDER)
    franchises = franchises_of(entries)
    names = list(names_of(entries, franchises))
    added = [name for name in names if name.source is not DumpSource.BANGUMI_DATA]
    return IndexContent(
        Joined(sum(1 for _ in entries), len(added), len(set(franchises.values())), homeless),
        [_row(one, franchises.get(one.id)) for one in entries],
        names,
        _sounds(entries, added),
        list(_offsets(entries)),
    )


class _Numbers:
    """The numbers that entries have, so that they keep them: only then is a new edition a few changes."""

    def __init__(self, rows: Iterable[Any]) -> None:
        self.last = 0
        self.of_dumps: dict[tuple[str, int], int] = {}
        self._known: dict[Hashable, deque[int]] = {}
        for row in rows:
            self.last = max(self.last, row.id)
            self._known.setdefault(_identity(row.bgm_id, row.title, row.air_date), deque()).append(row.id)
            if row.source != DumpSource.BANGUMI_DATA:
                ids = ((name, getattr(row, name)) for name in ID_FIELDS)
                self.of_dumps |= {(name, value): row.id for name, value in ids if value is not None}

    def take(self, entry: OfflineEntry) -> int:
        """The number of an entry of bangumi-data, or a new one."""
        day = entry.air_date.isoformat() if entry.air_date else None
        if waiting := self._known.get(_identity(entry.ids.bgm_id, entry.title, day)):
            return waiting.popleft()
        self.last += 1
        return self.last


def _identity(bgm_id: int | None, title: str, day: str | None) -> Hashable:
    return (title, day) if bgm_id is None else bgm_id


def _base(conn: Connection, numbers: _Numbers) -> list[IndexEntry]:
    """The entries of bangumi-data with their names."""
    stored = read_base(conn)
    if stored is None:
        return _base_in_use(conn)
    return [
        _index_entry(
            numbers.take(entry), entry, (folded for title in entry.titles for folded in folded_spellings(title))
        )
        for entry in stored
    ]


def _base_in_use(conn: Connection) -> list[IndexEntry]:
    """The same as the index has them, for one that was imported before files were kept."""
    names: dict[int, list[str]] = {}
    for folded, entry_id in conn.all(JOIN.base_titles):
        names.setdefault(entry_id, []).append(folded)
    return [
        _index_entry(number, entry_of(tuple(row)), names.get(number, ()))
        for number, *row in conn.all(JOIN.base_entries)
    ]


def _index_entry(number: int, entry: OfflineEntry, names: Iterable[str]) -> IndexEntry:
    ids = entry.ids
    return IndexEntry(
        id=number,
        kind=entry.kind,
        year=entry.began_in,
        began=entry.air_date,
        ids={name: value for name in ID_FIELDS if (value := getattr(ids, name)) is not None},
        own=dict.fromkeys(names, NameSource(DumpSource.BANGUMI_DATA, None)),
        others=dict.fromkeys(
            filter(None, map(folded_without_article, entry.titles)), NameSource(DumpSource.BANGUMI_DATA, None)
        ),
        shows={ids.tmdb_id} if ids.tmdb_kind is TmdbKind.TV and ids.tmdb_id is not None else set(),
        base=entry,
    )


def _row(entry: IndexEntry, franchise: int | None) -> tuple[Any, ...]:
    """An entry as the index has it: what bangumi-data says, and for the rest what the dumps do."""
    base = entry.base or _named_by_dumps(entry)
    chinese, english = _title(entry.titles, "zh-Hans", "zh"), _title(entry.titles, "en")
    day, ids = base.air_date, base.ids
    return (
        entry.id,
        entry.source,
        entry.kind,
        base.title,
        base.title_chinese or (chinese and chinese.title),
        base.title_english or (english and english.title),
        base.language,
        day and day.isoformat(),
        day and day.isoweekday(),
        base.began_in,
        ids.bgm_id,
        ids.tmdb_id,
        ids.tmdb_kind,
        ids.tmdb_season,
        entry.ids.get("anidb_id"),
        entry.ids.get("anilist_id"),
        entry.ids.get("mal_id"),
        ids.mikan_id,
        entry.episode_count,
        franchise,
        base.last_date and base.last_date.isoformat(),
    )


def _named_by_dumps(entry: IndexEntry) -> OfflineEntry:
    title = _title(entry.titles, "ja") or entry.titles[0]
    language = title.language or (ROMAJI if title.title.isascii() else "ja")
    ids = Ids(bgm_id=entry.ids.get("bgm_id"))
    return OfflineEntry(title.title, entry.kind, language, ids, air_date=entry.began, year=entry.year)


def _sounds(entries: Iterable[IndexEntry], names: Iterable[IndexName]) -> list[tuple[str, int]]:
    """The sounds of titles in Latin letters and in kana; those of a name that an entry may not have are left out with it."""
    kept = {(name.folded, name.entry_id) for name in names}
    found = {
        (sound, entry.id)
        for entry in entries
        for title in (() if entry.base is None else entry.base.titles)
        if (read := kana_to_romaji(title)) is not None and (sound := sound_of(read)) is not None
    }
    found |= {
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
