"""Which entry of a franchise a release is about, where its names alone do not say it: it names a part, or counts seasons through.

The offline index lists the second cour as a show of its own, and titles write it in many ways. And `Show - 29` of a show whose
first season has 24 episodes is the fifth of its second, if the index, or a dump beside it, counts them so. Only numbers that cannot
be what they say are read so: within the count of the entry that has the name they stand for themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import part_name, spelled, spelled_parts
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries
from kurabito.metadata.franchises import Franchise, FranchiseEntry, franchise_by_id
from kurabito.metadata.lookup import SeasonPart, read_part, read_sequel

_SQL: Final = Queries("kurabito.catalog.identity", "entries.sql")
_SHORTEST_SEASON: Final = 6
_FIRST_PART: Final = 1
_LONGEST_COUR: Final = 13


class _IndexEntry(NamedTuple):
    """An entry of the index that has a name."""

    id: int
    title: str
    episode_count: int | None


class _Part(NamedTuple):
    """A name without the mark of its part, and that part."""

    name: Name
    number: int


def understood(conn: Connection, readings: Sequence[Reading]) -> list[Reading]:
    """The same readings; those that name a part or count through are about the entry that they mean, with its own numbers."""
    wanted = {place: parts for place, one in enumerate(readings) if (parts := _parts(one)) or _may_count(one)}
    if not wanted:
        return list(readings)
    index = _Entries(conn, {name for place, parts in wanted.items() for name in _names(readings[place], parts)})
    found = list(readings)
    for place, parts in wanted.items():
        reading = readings[place]
        if parts:
            entry = index.of_part(reading, parts)
            if entry is not None:
                reading = _about(reading, entry.title, _own(parts))
            elif _is_season(reading, parts):
                reading = _called_part(reading, parts)
            elif reading.first_episode is not None and reading.first_episode > _LONGEST_COUR:
                # It goes on from the part before: `Show S2 Part 2 - 15`.
                reading = replace(reading, names=tuple(part.name for part in parts), part=None, written=())
            else:
                reading = _apart(reading, parts)
        found[place] = index.counted(reading)
    return found


class _Entries:
    """The entries of the index that have some names, and their franchises."""

    def __init__(self, conn: Connection, names: Iterable[str]) -> None:
        self._conn = conn
        self._named: dict[str, dict[int, _IndexEntry]] = {}
        self._franchises: dict[int, Franchise] = {}
        rows = json.dumps([[name] for name in sorted(names)], ensure_ascii=False)
        for folded, *row in conn.all(_SQL.named, {"rows": rows}):
            entry = _IndexEntry(*row)
            self._named.setdefault(folded, {})[entry.id] = entry

    def of_part(self, reading: Reading, parts: Sequence[_Part]) -> _IndexEntry | FranchiseEntry | None:
        """The entry that has the name of the part, or that comes in its place behind the first part."""
        own = self._one(one for part in parts for one in _spelled(reading, part))
        if own is not None:
            return own
        season = self._one(one for part in parts for one in spelled_parts(part.name.folded, part.number))
        if season is not None:
            # The part is another name of the season: `蔵人 第二期 / 蔵人 第2クール`.
            placed = next((one for one in self._franchise(season.id).regular if one.entry_id == season.id), None)
            if placed is not None and placed.season == reading.season:
                return placed
        first = self._first(part.name.folded for part in parts) or self._one(
            one for part in parts for one in _bases(reading, part.name)
        )
        if first is None:
            return None
        franchise = self._franchise(first.id)
        mine = next((one for one in franchise.regular if one.entry_id == first.id), None)
        if mine is None or mine.season is None:
            return None
        number = parts[0].number
        beside = [one for one in franchise.regular if one.season == mine.season and one.part == number]
        # Elsewhere it may be a season.
        beside = beside or [
            one for one in franchise.regular if (marked := read_part(one.title)) and marked.part == number
        ]
        return beside[0] if len(beside) == 1 else None

    def counted(self, reading: Reading) -> Reading:
        """The reading as one of the entry in whose count its numbers are; as it is where that cannot be told."""
        first, last = reading.first_episode, reading.last_episode
        own = self._own(reading) if first is not None else None
        if own is None or first is None or last is None or own.episode_count is None or first <= own.episode_count:
            return reading
        franchise = self._franchise(own.id)
        mine = next((one for one in franchise.regular if one.entry_id == own.id), None)
        places = {
            (entry.entry_id, begin): entry
            for entry in franchise.regular
            for begin in _begins(entry, reading)
            if entry.episode_count is not None and begin <= first <= last < begin + entry.episode_count
        }
        if mine is None or len(places) != 1:
            return reading
        (((entry_id, begin), entry),) = places.items()
        if entry_id == own.id:
            about = reading
        elif entry.season == mine.season and not self._has_series(entry_id):
            # Cours of one season are one series as long as no one follows them apart.
            return reading
        else:
            about = _about(reading, entry.title)
        return replace(about, first_episode=first - begin + 1, last_episode=last - begin + 1, counted_from=begin - 1)

    def _own(self, reading: Reading) -> _IndexEntry | None:
        """The entry that a reading names: with the year beside its name, if one is called so."""
        dated = self._one(_dated(reading))
        return dated or self._one(_bases(reading, name) for name in reading.names)

    def _one(self, names: Iterable[str | Iterable[str]]) -> _IndexEntry | None:
        """The one entry that has any of these names; None when several do, or none."""
        found: dict[int, _IndexEntry] = {}
        for some in names:
            for name in (some,) if isinstance(some, str) else some:
                found |= self._named.get(name, {})
        return next(iter(found.values())) if len(found) == 1 else None

    def _first(self, names: Iterable[str]) -> _IndexEntry | None:
        """The one entry that has any of these names; of one franchise, the entry that began first."""
        found = {one: entry for name in names for one, entry in self._named.get(name, {}).items()}
        for entry_id in list(found)[:1]:
            listed = [one.entry_id for one in self._franchise(entry_id).regular if one.entry_id in found]
            if len(listed) == len(found):
                return found[listed[0]]
        return next(iter(found.values())) if len(found) == 1 else None

    def _has_series(self, entry_id: int) -> bool:
        return self._conn.one(_SQL.series_of, {"id": entry_id}) is not None

    def _franchise(self, entry_id: int) -> Franchise:
        if entry_id not in self._franchises:
            self._franchises[entry_id] = franchise_by_id(self._conn, entry_id)
        return self._franchises[entry_id]


def _begins(entry: FranchiseEntry, reading: Reading) -> set[int]:
    """The numbers that the first episode of an entry may have beside what a reading says of the season."""
    found = {entry.first_absolute} if reading.season in (None, entry.season) else set()
    if reading.season is not None and reading.season == entry.season:
        found.add(entry.first_in_season)
    return {one for one in found if one is not None}


def _parts(reading: Reading) -> list[_Part]:
    """The names that stand for a later part of a show; none where it says no part, or the first."""
    if reading.kind is SeriesKind.MOVIE:
        return []
    found = []
    for name in reading.names:
        marked = _marked(name.shown)
        part = reading.part or (marked.part if marked else _FIRST_PART)
        if part > _FIRST_PART:
            # A title may say it behind one of its names, and beside the other.
            is_marked = marked is not None and marked.part == part
            found.append(_Part(Name.of(marked.name) if marked is not None and is_marked else name, part))
    return found


@lru_cache(maxsize=4096)
def _marked(name: str) -> SeasonPart | None:
    return read_part(name)


def _may_count(reading: Reading) -> bool:
    return (
        reading.kind is SeriesKind.TV and reading.first_episode is not None and reading.first_episode > _SHORTEST_SEASON
    )


def _names(reading: Reading, parts: Sequence[_Part]) -> Iterator[str]:
    """Everything that has to be looked up for a reading."""
    for part in parts:
        yield from _spelled(reading, part)
        yield from spelled_parts(part.name.folded, part.number)
        yield from _bases(reading, part.name)
    yield from _dated(reading)
    for name in reading.names:
        yield from _bases(reading, name)


def _dated(reading: Reading) -> list[str]:
    return [] if reading.is_later_season else [folded for _, folded, _ in reading.dated()]


def _bases(reading: Reading, name: Name) -> list[str]:
    """How the index may call what a name stands for beside the season of a reading."""
    return spelled(name, reading.season) if reading.is_later_season and reading.season else [name.folded]


def _spelled(reading: Reading, part: _Part) -> list[str]:
    return [one for base in _bases(reading, part.name) for one in spelled_parts(base, part.number)]


def _own(parts: Sequence[_Part]) -> tuple[Name, ...]:
    return tuple(part_name(part.name.shown, part.number) for part in parts)


def _is_season(reading: Reading, parts: Sequence[_Part]) -> bool:
    """Whether the part is another word for the season: `蔵人 第二期 / Kurabito Part 2`, where no name has both marks."""
    is_beside = reading.part is None and len(parts) < len(reading.names)
    return is_beside and all(one.number == reading.season and read_sequel(one.name.shown) is None for one in parts)


def _called_part(reading: Reading, parts: Sequence[_Part]) -> Reading:
    """The season with what it is called too."""
    own = {name.folded: name for name in _own(parts)}
    others = [name for name in reading.names if read_part(name.shown) is None]
    names = {name.folded: name for name in (*others, *(part.name for part in parts))}
    return replace(reading, names=(*names.values(), *own.values()), written=())


def _apart(reading: Reading, parts: Sequence[_Part]) -> Reading:
    """A part that no source knows is a show of its own: its fifth episode is not that of the part before."""
    # `Show II Part 2` is that of the second season.
    sequels = [read_sequel(part.name.shown) for part in parts] if reading.season is None else []
    if len({one.season for one in sequels if one}) == 1 and None not in sequels:
        parts = [_Part(Name.of(one.name), part.number) for one, part in zip(sequels, parts, strict=True) if one]
        reading = replace(reading, season=next(one.season for one in sequels if one))
    return replace(reading, names=_own(parts), part=None, written=())


def _about(reading: Reading, title: str, own: Sequence[Name] | None = None) -> Reading:
    """The reading with the name of an entry in place of its own; beside a season, its own stand for the entry as well."""
    sequel = read_sequel(title)
    if sequel is None:
        return replace(reading, names=(Name.of(title), *(own or ())), season=None, part=None, written=(Name.of(title),))
    named = [Name.of(sequel.name), *(reading.names if own is None else ())]
    if (part := read_part(title)) is not None:
        named = [part_name(name.shown, part.part) for name in named]
    names = {name.folded: name for name in (*named, *(own or ()))}
    written = (Name.of(title),)
    return replace(reading, names=tuple(names.values()), season=sequel.season, part=None, written=written)
