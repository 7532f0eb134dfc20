"""Offsets that are probably missing: episodes 1, 3 and 29 of one season, where the seasons before it have 24."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList, given
from kurabito.metadata import records
from kurabito.metadata.franchises import franchise_of

_SQL: Final = Queries("kurabito.catalog.identity", "offsets.sql")
_SEASON: Final = ColumnList("id, title, season, metadata_id")
_SHORTEST_SEASON: Final = 6
_WIDEST_GAP: Final = 3


@dataclass(frozen=True, slots=True)
class MissingOffset:
    """A season whose titles probably count on from the seasons before it."""

    series_id: int
    title: str
    season: int
    offset: int
    """What they count on from."""
    example: float
    """A number that such a title says; it is this less the offset."""


def missing_offset(numbers: Collection[float], before: int) -> float | None:
    """The first number that counts on from the `before` episodes of earlier seasons; None when none probably does.

    >>> missing_offset([1, 3, 29], 24)
    29
    >>> missing_offset(range(1, 26), 12) is None
    True
    """
    beyond = [number for number in numbers if number > before]
    within = max((number for number in numbers if number <= before), default=0)
    if not beyond or before < _SHORTEST_SEASON:
        return None
    first = min(beyond)
    # A long season reaches such numbers step by step.
    return first if first - within > _WIDEST_GAP else None


def find_missing(conn: Connection, series_id: int | None = None) -> list[MissingOffset]:
    """The seasons whose offset is probably missing, and for which no person set one."""
    seasons = [_SEASON.row(row) for row in conn.all(_SQL.later_seasons, {"id": series_id})]
    if not seasons:
        return []
    ids = [season.id for season in seasons]
    numbers: dict[int, list[float]] = {}
    for season_id, number in conn.all(_SQL.numbers, given(ids)):
        numbers.setdefault(season_id, []).append(number)
    counted = _counted(conn, [season for season in seasons if season.id in numbers])
    found = []
    for season in seasons:
        before = counted.get(season.id)
        if before is not None and (first := missing_offset(numbers[season.id], before)) is not None:
            found.append(MissingOffset(season.id, season.title, season.season, before, first))
    return found


def say(conn: Connection, series_id: int) -> None:
    """Note that a person said how titles count a series: it is not asked again."""
    conn.run(_SQL.say, {"id": series_id})


def _counted(conn: Connection, seasons: Sequence[Any]) -> dict[int, int]:
    """How many episodes came before each season: as the franchise counts, else by the record of the season before."""
    if not seasons:
        return {}
    counted = dict(conn.all(_SQL.before, given(season.id for season in seasons)))
    known = records.several(conn, {season.metadata_id for season in seasons if season.metadata_id is not None})
    for season in seasons:
        record = known.get(season.metadata_id)
        franchise = None if record is None else franchise_of(conn, record.details)
        entry = None if record is None or franchise is None else franchise.entry(record.details)
        if entry is not None and entry.first_absolute is not None:
            counted[season.id] = entry.first_absolute - 1
    return counted
