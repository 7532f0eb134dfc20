"""The days on which episodes of followed shows are shown, for calendars elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid5

from kurabito.clock import to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList

_AIRING: Final = ColumnList(
    "series.id AS series_id, series.title AS series, series.season, series.created_at AS since, episode.kind, episode.number, "
    "episode.aired_at, episode.updated_at"
)
_SQL: Final = Queries("kurabito.downloads.history", "airings.sql", airing=_AIRING)
_MOST: Final = 5_000
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeAiring:
    """An episode, and the day on which it is shown."""

    id: UUID
    """Stays the same for as long as the show is known here."""
    series_id: int
    series: str
    season: int
    number: float
    day: date
    updated_at: datetime


class Airings:
    """The days of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def around(self, *, past: timedelta, future: timedelta) -> list[EpisodeAiring]:
        """What was shown and will be, from so long ago until so far ahead."""
        values = {"past": past // _MICROSECOND, "future": future // _MICROSECOND, "limit": _MOST}

        def look(conn: Connection) -> list[EpisodeAiring]:
            return [_airing(row) for row in conn.all(_SQL.around, values)]

        return await self._database.read(look)


def _airing(row: Row) -> EpisodeAiring:
    of = _AIRING.row(row)
    # The moment at which the show was added tells its id from the same one in another database.
    known = f"urn:kurabito:{of.series_id}:{of.since}:{of.kind}:{of.number:g}"
    return EpisodeAiring(
        id=uuid5(NAMESPACE_URL, known),
        series_id=of.series_id,
        series=of.series,
        season=of.season,
        number=of.number,
        day=to_datetime(of.aired_at).date(),
        updated_at=to_datetime(of.updated_at),
    )
