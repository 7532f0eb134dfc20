"""Which episodes a show should have, and when each was shown. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

from kurabito.clock import from_datetime
from kurabito.metadata.episodes import KnownEpisode
from kurabito.metadata.records import Details

_WEEK: Final = timedelta(days=7)
_MOST: Final = 2_000
_END_OF_DAY: Final = time(23, 59)
"""A day is over everywhere that it was shown in when it is over here."""


class ExpectedEpisode(NamedTuple):
    """An episode, and when it was or will be shown."""

    number: float
    aired_at: int


def expected(details: Details, listed: Sequence[KnownEpisode]) -> list[ExpectedEpisode]:
    """The episodes of a record whose day is known: by a list of them, else one a week from its first day on."""
    days = {float(one.number): one.air_date for one in listed if one.number and one.air_date is not None}
    if not days and details.air_date is not None and details.episode_count:
        first = details.air_date
        days = {float(one + 1): first + one * _WEEK for one in range(min(details.episode_count, _MOST))}
    return [ExpectedEpisode(number, _moment(day)) for number, day in sorted(days.items())]


def _moment(day: date) -> int:
    return from_datetime(datetime.combine(day, _END_OF_DAY, UTC))
