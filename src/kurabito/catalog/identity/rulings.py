"""A person's word on what releases with a name are about. It outweighs all other evidence, until it is undone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kurabito.catalog.identity.aliases import NO_COUNTRY, NO_YEAR
from kurabito.catalog.identity.reading import LENGTH_OF_COUR, Reading
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList, given

_ROW: Final = ColumnList("folded, kind, season, year, country, group_folded, series_id, first_number")
_SQL: Final = Queries("kurabito.catalog.identity", "rulings.sql", ruling=_ROW)


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
        self._series: dict[tuple[_RulingKey, str | None], dict[int, int]] = {}
        wanted = sorted(set(names))
        # The last one counts.
        for row in map(_ROW.row, conn.all(_SQL.named, given(wanted)) if wanted else ()):
            said = _RulingKey(row.folded, SeriesKind(row.kind), row.season, row.year, row.country)
            self._series.setdefault((said, row.group_folded), {})[row.first_number] = row.series_id

    def series_of(self, reading: Reading) -> int | None:
        """The series that a person said: of this group's releases, else of everybody's; None when their names disagree."""
        if not self._series:
            return None
        groups = (reading.group.folded, None) if reading.group is not None else (None,)
        for group in groups:
            found = {self._said(reading, name, group) for name in reading.names} - {None}
            if found:
                return found.pop() if len(found) == 1 else None
        return None

    def _said(self, reading: Reading, name: Name, group: str | None) -> int | None:
        """What was said of a name: of its numbers in one cour, else of all."""
        said = self._series.get((_key_of(reading, name), group), {})
        number = reading.first_episode or 0
        cours = [first for first in said if first and first <= number < first + LENGTH_OF_COUR]
        return said[max(cours)] if cours else said.get(0)


def add(
    conn: Connection,
    correction_id: int,
    readings: Iterable[Reading],
    series_id: int,
    *,
    of_group: bool = False,
    names: Sequence[Name] | None = None,
) -> None:
    """Remember that releases with these names are of a series; with `of_group`, only those of the same group.

    Where a reading was asked about for its number, what is said is of the numbers of its cour.
    """
    rows = {}
    for reading in readings:
        group = reading.group.folded if of_group and reading.group is not None else None
        for name in reading.names if names is None else names:
            said = _key_of(reading, name)
            rows[said, group] = {
                **said._asdict(),
                "group_folded": group,
                "series_id": series_id,
                "first_number": reading.asked_from,
            }
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
