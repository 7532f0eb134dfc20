"""Franchises: which entries of the index tell one story, in which order, and how their episodes are counted.

These are facts with their sources, not a decision: one source counts the second cour from 1, another from 13, and a release may
follow either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Final

from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.metadata.episodes import KnownEpisode, episodes_of
from kurabito.metadata.lookup import read_part, read_sequel
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import Details, RecordKind, TmdbKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry

_ENTRY: Final = ColumnList(
    "id, kind, title, air_date, episode_count, bgm_id, tmdb_id, tmdb_kind, tmdb_season, anidb_id, anilist_id, mal_id, mikan_id"
)
_SQL: Final = Queries("kurabito.metadata", "franchises.sql", entry=_ENTRY)
_REGULAR: Final = frozenset((RecordKind.TV, RecordKind.WEB))
_IDS: Final = tuple(Ids.__dataclass_fields__)


class NumberingSource(StrEnum):
    """Who says where an entry begins."""

    SHARED_SEASON = "shared_season"
    """Cours that share a season of TMDB, one after the other."""
    COUNTED = "counted"
    """All entries before it, one after the other."""
    ANIME_LISTS = "anime-lists"
    ARCHIVE = "bangumi-archive"
    """bgm.tv, as it numbers the episodes of the entry."""


@dataclass(frozen=True, slots=True)
class Numbering:
    """The number that the first episode of an entry has."""

    source: NumberingSource
    first: int
    season: int | None = None
    """Counted in this season; None where all seasons are counted through."""


@dataclass(frozen=True, slots=True)
class FranchiseEntry:
    """One part of a franchise: a cour, a season, a film, an OVA."""

    entry_id: int
    """Its number in the index, until the next import."""
    kind: RecordKind
    title: str
    season: int | None
    """0 holds specials. None where no source says it."""
    part: int
    """Which of the cours of its season it is, from 1."""
    begin: date | None
    episode_count: int | None
    ids: Ids
    numberings: tuple[Numbering, ...] = ()

    @property
    def first_in_season(self) -> int | None:
        """Which number its first episode has in its season; None where sources disagree, or none knows it."""
        return self._agreed(one.first for one in self.numberings if one.season is not None)

    @property
    def first_absolute(self) -> int | None:
        """Which number its first episode has when all seasons are counted through; None as above."""
        return self._agreed(one.first for one in self.numberings if one.season is None)

    @staticmethod
    def _agreed(numbers: Iterable[int]) -> int | None:
        found = set(numbers)
        return found.pop() if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Franchise:
    """The parts of one story, in the order in which they began."""

    entries: tuple[FranchiseEntry, ...]

    def entry(self, wanted: Details | OfflineEntry) -> FranchiseEntry | None:
        """The part that a record, or an entry of the index, is."""
        ids = wanted if isinstance(wanted, Details) else wanted.ids
        for name in ("bgm_id", "anidb_id", "mal_id", "anilist_id"):
            value = getattr(ids, name)
            if value is not None and (found := [one for one in self.entries if getattr(one.ids, name) == value]):
                return found[0]
        seasons = [one for one in self.entries if ids.tmdb_id is not None and one.ids.tmdb_id == ids.tmdb_id]
        return next((one for one in seasons if (one.ids.tmdb_season or 1) == (ids.tmdb_season or 1)), None)

    @property
    def regular(self) -> tuple[FranchiseEntry, ...]:
        """Its seasons and cours, without films, OVAs and specials."""
        return tuple(one for one in self.entries if _is_regular(one))


def franchise_of(conn: Connection, wanted: Details | OfflineEntry) -> Franchise | None:
    """The franchise of a record or of an entry, also if that is all of it; None when the index does not know it."""
    ids = wanted if isinstance(wanted, Details) else wanted.ids
    values = {name: getattr(ids, name) for name in _IDS}
    for query in (_SQL.of_bgm, _SQL.of_anidb, _SQL.of_mal, _SQL.of_tmdb):
        if (found := conn.one(query, values)) is not None:
            break
    else:
        return None
    return _read(conn, *found)


def franchise_by_id(conn: Connection, entry_id: int) -> Franchise:
    """The franchise of an entry by its number in the index, also if that is all of it."""
    return _read(conn, entry_id, conn.value(_SQL.of_entry, {"entry_id": entry_id}))


def _read(conn: Connection, entry_id: int, franchise_id: int | None) -> Franchise:
    rows = conn.all(_SQL.entries, {"entry_id": entry_id, "franchise_id": franchise_id})
    entries = [_entry(row) for row in rows]
    said: dict[int, list[Numbering]] = {}
    for number, source, season, first in conn.all(_SQL.offsets, {"entry_id": entry_id, "franchise_id": franchise_id}):
        said.setdefault(number, []).append(Numbering(NumberingSource(source), first, season))
    return Franchise(tuple(_numbered(_in_seasons(entries, said), said)))


def episodes_known(conn: Connection, details: Details) -> list[KnownEpisode]:
    """The episodes of a record, counted from 1, by every source whose count can be told from its own."""
    franchise = franchise_of(conn, details)
    part = None if franchise is None else franchise.entry(details)
    is_first = part is None or part.part == 1
    first = part.first_in_season if part is not None else None
    return episodes_of(conn, details, first_in_season=first or (1 if is_first else None))


def _entry(row: Row) -> FranchiseEntry:
    entry = _ENTRY.row(row)
    ids = {name: getattr(entry, name) for name in _IDS}
    if ids["tmdb_kind"] is not None:
        ids["tmdb_kind"] = TmdbKind(ids["tmdb_kind"])
    day = None if entry.air_date is None else date.fromisoformat(entry.air_date)
    return FranchiseEntry(entry.id, RecordKind(entry.kind), entry.title, None, 1, day, entry.episode_count, Ids(**ids))


def _in_seasons(entries: Sequence[FranchiseEntry], said: Mapping[int, list[Numbering]]) -> list[FranchiseEntry]:
    """The entries with their seasons: by TMDB, by a list, by the mark in the title; the first without any is the first."""
    placed: list[FranchiseEntry] = []
    for entry in entries:
        listed = next((one.season for one in said.get(entry.entry_id, ()) if one.season is not None), None)
        sequel = read_sequel(entry.title) if entry.kind in _REGULAR else None
        season = entry.ids.tmdb_season if entry.ids.tmdb_season is not None else listed
        if season is None and sequel is not None:
            season = sequel.season
        if season is None and entry.kind in _REGULAR:
            season = _unsaid_season(entry, [one for one in placed if _is_regular(one)])
        part = 1 + sum(season is not None and one.season == season and _is_regular(one) for one in placed)
        placed.append(replace(entry, season=season, part=part if entry.kind in _REGULAR and season else 1))
    return placed


def _unsaid_season(entry: FranchiseEntry, before: Sequence[FranchiseEntry]) -> int | None:
    """The first entry is the first season, and a later part is of the season that began before it."""
    if not before:
        return 1
    return before[-1].season if read_part(entry.title) is not None else None


def _numbered(entries: Sequence[FranchiseEntry], said: Mapping[int, list[Numbering]]) -> Iterable[FranchiseEntry]:
    counted: dict[tuple[int | None, int] | None, int | None] = {}
    for entry in entries:
        numberings = list(said.get(entry.entry_id, ()))
        if _is_regular(entry) and entry.season is not None:
            shared = entry.ids.tmdb_id, entry.season
            for source, place in ((NumberingSource.SHARED_SEASON, shared), (NumberingSource.COUNTED, None)):
                before = counted.get(place, 0)
                if before is not None:
                    numberings.append(Numbering(source, before + 1, entry.season if place else None))
                # Behind an entry of unknown length nothing can be counted.
                known = before is not None and entry.episode_count is not None
                counted[place] = (before or 0) + (entry.episode_count or 0) if known else None
        yield replace(entry, numberings=tuple(numberings))


def _is_regular(entry: FranchiseEntry) -> bool:
    return entry.kind in _REGULAR and entry.season != 0
