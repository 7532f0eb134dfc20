"""Names that titles have beside a season whose number stands at another name: `蔵人 第二季 / Kurabito Moromi`.

That may be what the season is called, or what the show is. Where nothing else tells, it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kurabito.catalog.identity.evidence import CandidateSeries
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.identity.seasons.signs import end_signs, signs_of
from kurabito.catalog.releases import Name, read_title_again
from kurabito.catalog.spellings import spelled
from kurabito.db import Connection, Queries

_SEVERAL: Final = 2
_SQL: Final = Queries("kurabito.catalog.identity.seasons", "bare_names.sql")


class BareNames:
    """What stands bare beside a later season, in titles that are stored and in some readings."""

    def __init__(self, conn: Connection, readings: Iterable[Reading]) -> None:
        self._conn = conn
        self._readings = [one for one in readings if one.is_later_season]
        self._stored: dict[int, list[Reading]] = {}

    def may_be_of(self, season: CandidateSeries, reading: Reading) -> bool:
        """Whether a reading that says no season may be of one: titles of that have its name, and always bare."""
        names = {(name.folded, _told_by(name)) for name in reading.names}
        found = [
            (name.folded, one)
            for one in self._of(season)
            for name in one.names
            if (name.folded, _told_by(name)) in names
        ]
        said = [is_bare for one in found if (is_bare := _is_bare(*one)) is not None]
        return bool(said) and all(said)

    def _of(self, season: CandidateSeries) -> Iterator[Reading]:
        yield from (one for one in self._readings if one.said_season == season.own_season)
        if season.id not in self._stored:
            titles = (title for (title,) in self._conn.all(_SQL.titles, {"id": season.id}))
            releases = (read_title_again(title, ()) for title in titles)
            self._stored[season.id] = [
                Reading.of(one) for one in releases if one is not None and one.season is not None
            ]
        yield from self._stored[season.id]


def _told_by(name: Name) -> str:
    """The signs of a name that tell a season from another; one `!` alone is left out by many."""
    signs = signs_of(name.shown)
    return "" if signs.strip("!?") == "" and len(end_signs(name.shown)) < _SEVERAL else signs


def _is_bare(name: str, reading: Reading) -> bool | None:
    """Whether the number of the season stands at another of its names, and not at this one; None where it stands at none."""
    marked = {one.folded for one in reading.names if _is_marked(reading, one.folded)}
    return name not in marked if marked else None


def _is_marked(reading: Reading, folded: str) -> bool:
    marks = [mark for name in reading.names if name.folded == folded for mark in spelled(name, reading.said_season)]
    return any(mark in written.folded for mark in marks for written in reading.written)
