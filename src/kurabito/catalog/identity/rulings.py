"""A person's word on what releases with a name are about. It outweighs all other evidence, until it is undone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kurabito.catalog.identity.aliases import NO_COUNTRY, NO_YEAR
from kurabito.catalog.identity.knowledge import given
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries

_SQL: Final = Queries("kurabito.catalog.identity", "rulings.sql")


class _RulingKey(NamedTuple):
    """A name and everything beside it that a ruling is about."""

    folded: str
    kind: SeriesKind
    season: int
    year: int
    country: str


class Rulings:
    """What was said of some names."""

    def __init__(self, conn: Connection, names: Iterable[str]) -> None:
        self._series: dict[tuple[_RulingKey, str | None], int] = {}
        wanted = sorted(set(names))
        # The last one counts.
        for folded, kind, season, year, country, group, series_id in (
            conn.all(_SQL.named, given(wanted)) if wanted else ()
        ):
            self._series[_RulingKey(folded, SeriesKind(kind), season, year, country), group] = series_id

    def series_of(self, reading: Reading) -> int | None:
        """The series that a person said: of this group's releases, else of everybody's; None when their names disagree."""
        if not self._series:
            return None
        groups = (reading.group.folded, None) if reading.group is not None else (None,)
        for group in groups:
            found = {self._series.get((_key_of(reading, name), group)) for name in reading.names} - {None}
            if found:
                return found.pop() if len(found) == 1 else None
        return None


def add(
    conn: Connection,
    correction_id: int,
    readings: Iterable[Reading],
    series_id: int,
    *,
    of_group: bool = False,
    names: Sequence[Name] | None = None,
) -> None:
    """Remember that releases with these names are of a series; with `of_group`, only those of the same group."""
    rows = {}
    for reading in readings:
        group = reading.group.folded if of_group and reading.group is not None else None
        for name in reading.names if names is None else names:
            said = _key_of(reading, name)
            rows[said, group] = {**said._asdict(), "group_folded": group, "series_id": series_id}
    if rows:
        given_rows = json.dumps(list(rows.values()), ensure_ascii=False)
        conn.run(_SQL.add, {"rows": given_rows, "correction_id": correction_id})


def forget(conn: Connection, correction_id: int) -> set[str]:
    """Take back what a correction said; the names, folded, that it was about."""
    return {folded for (folded,) in conn.all(_SQL.forget, {"correction_id": correction_id})}


def _key_of(reading: Reading, name: Name) -> _RulingKey:
    return _RulingKey(
        name.folded, reading.kind, reading.said_season, reading.year or NO_YEAR, reading.country or NO_COUNTRY
    )
