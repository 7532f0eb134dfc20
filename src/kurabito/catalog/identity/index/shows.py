"""An entry of the offline index as identity sees it, and which of several is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Final, NamedTuple

from kurabito.catalog.identity.seasons.signs import signs_of
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind
from kurabito.metadata.lookup import read_part
from kurabito.titles.scripts import simplified

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_DAYS_OF_A_WEEK: Final = 7
_SHORTEST_RUN: Final = 8
"""Weeks: what ran shorter came several episodes at a time."""


class IndexedShow(NamedTuple):
    """What the index says of an entry, beside its names."""

    id: int
    kind: SeriesKind
    began: str
    """The day on which it began, or the year; empty where neither is known."""
    year: int | None
    bgm_id: int | None
    tmdb_id: int | None
    """The show of TMDB that it is a part of."""
    tmdb_season: int | None
    titles: tuple[str, ...] = ()
    """Those that the index has as they are written."""
    last_date: str | None = None
    episode_count: int | None = None

    @property
    def longest(self) -> int | None:
        """How many numbers it may have at the most: as a source counts them, or as many as it was shown for weeks."""
        if self.episode_count is not None:
            return self.episode_count
        if self.last_date is None or not _DAY.fullmatch(self.began):
            return None
        days = (date.fromisoformat(self.last_date) - date.fromisoformat(self.began)).days
        # Beyond midnight a day is the next one here and not there.
        weeks = round(days / _DAYS_OF_A_WEEK) + 1
        return weeks if weeks >= _SHORTEST_RUN else None

    @property
    def is_marked_part(self) -> bool:
        """Whether one of its titles says that it is a part of a season."""
        return any(read_part(title) is not None for title in self.titles)

    def is_written(self, name: Name) -> bool:
        """Whether it has this name with the same signs: `Show!!` is not `Show!!!`."""
        plain = simplified(name.folded)
        return any(
            signs_of(title) == signs_of(name.shown)
            for title in self.titles
            if simplified(Name.of(title).folded) == plain
        )


class WholeName(NamedTuple):
    """The entry that a release names whole, with its season."""

    entry: IndexedShow
    names: frozenset[str]
    """The names, folded, that say so."""


def as_written(shows: list[IndexedShow], names: Sequence[Name]) -> list[IndexedShow]:
    """Of several entries those that have the names with the same signs, if any has."""
    if len(shows) < 2 or not any(signs_of(name.shown) for name in names):
        return shows
    return [show for show in shows if any(map(show.is_written, names))] or shows


def age_of(show: IndexedShow) -> tuple[bool, str, int]:
    return not show.began, show.began, show.id


def first_of(shows: Sequence[IndexedShow]) -> IndexedShow | None:
    """The one entry; of the parts of one show, whose name they share, the first."""
    is_one_show = len({show.tmdb_id for show in shows}) == 1 and shows[0].tmdb_id is not None
    return min(shows, key=age_of) if len(shows) == 1 or is_one_show else None
