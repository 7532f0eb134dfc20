"""What is known offline by some names: series of the catalog, records, entries of the offline index.

However many names there are, the database is asked a handful of questions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kurabito.catalog.identity.evidence import is_near
from kurabito.catalog.matching.choices import chosen, keys_of
from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import spelled
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries
from kurabito.metadata import records
from kurabito.metadata.dumps.model import sound_of
from kurabito.metadata.records import Details, Metadata, RecordKind, TmdbKind
from kurabito.metadata.search import details_of_entry
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry

_SQL: Final = Queries("kurabito.catalog.matching", "knowledge.sql")
_FIRST_SEASON: Final = 1


@dataclass(frozen=True, slots=True)
class Thing:
    """A show's season or a film that may be meant."""

    key: str
    details: Details
    metadata_id: int | None = None

    @property
    def is_film(self) -> bool:
        return self.details.kind is RecordKind.MOVIE

    @property
    def show(self) -> int | None:
        """The show of TMDB that it is a season of."""
        return self.details.tmdb_id if self.details.tmdb_kind is TmdbKind.TV else None

    @property
    def season(self) -> int | None:
        return self.details.tmdb_season or self.details.season


@dataclass(frozen=True, slots=True)
class KnownSeries:
    """A series of the catalog."""

    id: int
    title: str
    year: int | None
    kind: SeriesKind
    metadata_id: int | None


class Knowledge:
    """What is known by the names of some readings."""

    def __init__(self, conn: Connection, given: Sequence[FolderReading]) -> None:
        readings = [*given, *(sequel for one in given if (sequel := one.as_sequel()) is not None)]
        names = {name for reading in readings for name in _wanted(reading)}
        entries = offline.named(conn, names)
        # A record may have but the name in its own language, and the folder another that the index knows.
        own_titles = {records.folded_name(entry.title) for each in entries.values() for entry in each}
        found = records.named(conn, names | own_titles)
        self._series = _series_by_alias(conn, names)
        self._chosen = chosen(conn, names)
        of_series = {one.metadata_id for some in self._series.values() for one in some if one.metadata_id is not None}
        of_series |= set(self._chosen.values())
        self._records = {record.id: record for each in found.values() for record in each}
        self._records |= records.several(conn, of_series - self._records.keys())
        self._entry_of: dict[int, OfflineEntry] = {}
        self._record_of: dict[str, Metadata] = {}
        self._recognise(conn, [entry for each in entries.values() for entry in each])
        self._named = {
            name: _distinct([*map(self._of_record, found.get(name, ())), *map(self._of_entry, entries.get(name, ()))])
            for name in names
        }
        self._hear(conn, readings)
        self._seasons = self._read_seasons(conn, readings)

    def series(
        self, names: Iterable[Name], kind: SeriesKind, season: int, year: int | None = None
    ) -> KnownSeries | None:
        """The series that one of these names is an alias of; None when they lead to several that the year does not tell apart."""
        found = {one.id: one for name in names for one in self._series.get((name.folded, kind, season), ())}
        if len(found) > 1 and year is not None:
            found = {series_id: one for series_id, one in found.items() if is_near(one.year, year)}
        return next(iter(found.values())) if len(found) == 1 else None

    def record(self, metadata_id: int) -> Thing:
        """One of the records that series have."""
        return self._of_record(self._records[metadata_id])

    def chosen_before(self, reading: FolderReading) -> Thing | None:
        """What the keeper chose for another folder of this name and season; None when there were different choices."""
        found = {record for key in keys_of(reading) if (record := self._chosen.get(key)) is not None}
        return self.record(found.pop()) if len(found) == 1 else None

    def named(self, names: Iterable[Name], season: int | None = None) -> list[Thing]:
        """What has one of these names, or the name with the mark of a season behind it."""
        return self._with(
            text for name in names for text in ([name.folded] if season is None else spelled(name, season))
        )

    def films(self, names: Iterable[Name]) -> list[Thing]:
        """What has one of these names with the mark of a film."""
        return self._with(text for name in names for text in as_film(name))

    def of_year(self, names: Iterable[Name], year: int) -> list[Thing]:
        """What has one of these names with the year behind it: so are namesakes told apart."""
        return self._with(f"{name.folded}{year}" for name in names)

    def seasons_of(self, show: int) -> list[Thing]:
        """Every season of a show that is known, and its films where they stand in the same place."""
        return self._seasons.get(show, [])

    def _with(self, folded: Iterable[str]) -> list[Thing]:
        return _distinct([thing for text in folded for thing in self._named.get(text, ())])

    def _hear(self, conn: Connection, readings: Sequence[FolderReading]) -> None:
        """Find by their sound the names that are unknown as they are written."""
        unknown = {
            name for one in readings for name in (*one.names, *one.names_of_files) if not self._with([name.folded])
        }
        sounds = {name: sound for name in unknown if (sound := sound_of(name.shown)) is not None}
        heard = offline.sounding(conn, sounds.values())
        self._recognise(conn, [entry for each in heard.values() for entry in each])
        for name, sound in sounds.items():
            self._named[name.folded] = _distinct([self._of_entry(entry) for entry in heard.get(sound, ())])

    def _recognise(self, conn: Connection, entries: Sequence[OfflineEntry]) -> None:
        """Find out which records and entries are the same."""
        listed = list(self._records.values())
        for record, entry in zip(listed, offline.find_entries(conn, [one.details for one in listed]), strict=True):
            if entry is not None:
                self._entry_of[record.id] = entry
                self._record_of[entry_key(entry)] = record
        bgm_ids = {entry.ids.bgm_id for entry in entries if entry.ids.bgm_id is not None}
        for record in records.of_bgms(conn, bgm_ids):
            self._record_of[f"bgm:{record.details.bgm_id}"] = record

    def _read_seasons(self, conn: Connection, readings: Sequence[FolderReading]) -> dict[int, list[Thing]]:
        later = [one for one in readings if one.season is not None and one.season > _FIRST_SEASON]
        bases = [thing for one in later for names in (one.names, one.names_of_files) for thing in self.named(names)]
        shows = {thing.show for thing in bases if thing.show is not None}
        if not shows:
            return {}
        entries = offline.of_shows(conn, shows)
        self._recognise(conn, entries)
        of_shows = [*map(self._of_record, records.of_shows(conn, shows)), *map(self._of_entry, entries)]
        seasons: dict[int, list[Thing]] = {}
        for thing in _distinct(of_shows):
            if thing.show is not None:
                seasons.setdefault(thing.show, []).append(thing)
        return seasons

    def _of_record(self, record: Metadata) -> Thing:
        entry = self._entry_of.get(record.id)
        details = record.details if entry is None else _completed(record.details, details_of_entry(entry))
        return Thing(f"record:{record.id}", details, record.id)

    def _of_entry(self, entry: OfflineEntry) -> Thing:
        record = self._record_of.get(entry_key(entry))
        if record is None:
            return Thing(entry_key(entry), details_of_entry(entry))
        return Thing(f"record:{record.id}", _completed(record.details, details_of_entry(entry)), record.id)


def as_film(name: Name) -> list[str]:
    """How a film of this name may be called, folded."""
    before = ("劇場版", "映画", "剧场版", "電影", "gekijouban", "eiga")
    behind = ("劇場版", "剧场版", "themovie", "movie", "gekijouban")
    return [*(mark + name.folded for mark in before), *(name.folded + mark for mark in behind)]


def entry_key(entry: OfflineEntry) -> str:
    """What names an entry, also after the index was imported again."""
    if entry.ids.bgm_id is not None:
        return f"bgm:{entry.ids.bgm_id}"
    if entry.ids.tmdb_id is not None:
        return f"tmdb:{entry.ids.tmdb_kind}:{entry.ids.tmdb_id}:{entry.ids.tmdb_season}"
    return f"title:{entry.title[:200]}:{entry.air_date}"


def _wanted(reading: FolderReading) -> Iterable[str]:
    if reading.whole is not None:
        yield reading.whole.folded
    for name in (*reading.names, *reading.names_of_files):
        yield name.folded
        if reading.season is not None:
            yield from spelled(name, reading.season)
        if reading.kind is SeriesKind.MOVIE:
            yield from as_film(name)
        if reading.year is not None:
            yield f"{name.folded}{reading.year}"


def _completed(known: Details, other: Details) -> Details:
    missing = {name: getattr(other, name) for name in other.__dataclass_fields__ if getattr(known, name) is None}
    return replace(known, **missing)


def _distinct(things: Sequence[Thing]) -> list[Thing]:
    return list({thing.key: thing for thing in reversed(things)}.values())[::-1]


def _series_by_alias(conn: Connection, names: Iterable[str]) -> dict[tuple[str, SeriesKind, int], list[KnownSeries]]:
    rows = json.dumps([{"folded": name} for name in names], ensure_ascii=False)
    found: dict[tuple[str, SeriesKind, int], list[KnownSeries]] = {}
    for folded, kind, season, series_id, title, year, metadata_id in conn.all(_SQL.series_named, {"rows": rows}):
        known = KnownSeries(series_id, title, year, SeriesKind(kind), metadata_id)
        found.setdefault((folded, known.kind, season), []).append(known)
    return found
