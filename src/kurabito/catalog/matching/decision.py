"""From what folders say to what they are about: gather what is known, weigh it, and add the records that are missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.matching.knowledge import Knowledge, Thing
from kurabito.catalog.matching.matches import MatchDecision
from kurabito.catalog.matching.verdict import Weighed, weigh
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.metadata import records

_SQL: Final = Queries("kurabito.catalog.matching", "decision.sql")
_FIRST_SEASON: Final = 1


def decide(conn: Connection, readings: Sequence[FolderReading]) -> list[MatchDecision]:
    """What each of some folders is about. Records are added where there are none, and given to their series."""
    if not readings:
        return []
    known = Knowledge(conn, readings)
    weighed = _by_own_names(conn, [weigh(reading, known) for reading in readings])
    made = _with_records(conn, [one.thing for one in weighed if one.thing is not None])
    of_series = {
        one.series.id: made[one.thing.key]
        for one in weighed
        if one.thing is not None and one.series is not None and one.series.metadata_id is None
    }
    _set_records(conn, of_series)
    return [
        MatchDecision(candidates=one.candidates)
        if one.thing is None
        else MatchDecision(made[one.thing.key], one.series.id if one.series else None, one.reasons)
        for one in weighed
    ]


def decide_series(conn: Connection, *, after: int, limit: int) -> tuple[int, int]:
    """Give the next series without a record theirs, where it is clear; the last one's id, and how many got one."""
    rows = conn.all(_SQL.without_record, {"after": after, "limit": limit})
    if not rows:
        return 0, 0
    found = _things_of(conn, rows)
    made = _with_records(conn, list(found.values()))
    _set_records(conn, {series_id: made[thing.key] for series_id, thing in found.items()})
    last, *_ = rows[-1]
    return last, len(found)


def _by_own_names(conn: Connection, weighed: Sequence[Weighed]) -> list[Weighed]:
    """A folder that is a series by one of its names is what all names of that series say, and not the one name alone."""
    new = sorted({one.series.id for one in weighed if one.series is not None and one.is_unknown_elsewhere})
    if not new:
        return list(weighed)
    things = _things_of(conn, conn.all(_SQL.of_ids, {"rows": json.dumps([{"id": series_id} for series_id in new])}))
    return [
        replace(one, thing=things.get(one.series.id, one.thing))
        if one.series is not None and one.is_unknown_elsewhere
        else one
        for one in weighed
    ]


def _things_of(conn: Connection, rows: Sequence[Row]) -> dict[int, Thing]:
    """What some series are by all their names, where it is clear."""
    names: dict[int, list[Name]] = {series_id: [Name.of(title)] for series_id, title, *_ in rows}
    given = json.dumps([{"id": series_id} for series_id in names])
    for series_id, name in conn.all(_SQL.aliases, {"rows": given}):
        names[series_id].append(Name.of(name))
    readings = [
        FolderReading(
            tuple(dict.fromkeys(names[series_id])), season if season > _FIRST_SEASON else None, year, SeriesKind(kind)
        )
        for series_id, _, season, kind, year in rows
    ]
    known = Knowledge(conn, readings)
    return {
        series_id: thing
        for series_id, reading in zip(names, readings, strict=True)
        if (thing := weigh(reading, known, by_alias=False).thing) is not None
    }


def _with_records(conn: Connection, things: Sequence[Thing]) -> dict[str, int]:
    """The record of each thing by its key; those that have none get one."""
    known = {thing.key: thing.metadata_id for thing in things if thing.metadata_id is not None}
    new = {thing.key: thing.details for thing in things if thing.metadata_id is None}
    return known | dict(zip(new, records.add_all(conn, list(new.values())), strict=True))


def _set_records(conn: Connection, of_series: dict[int, int]) -> None:
    if of_series:
        rows = [{"id": series_id, "metadata_id": metadata_id} for series_id, metadata_id in of_series.items()]
        conn.run(_SQL.set_records, {"rows": json.dumps(rows)})
