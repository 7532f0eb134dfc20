"""An entry of the offline index as identity sees it, and which of several is meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kurabito.catalog.identity.evidence import signs_of
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind


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

    def is_written(self, name: Name) -> bool:
        """Whether it has this name with the same signs: `Show!!` is not `Show!!!`."""
        return any(
            signs_of(title) == signs_of(name.shown) for title in self.titles if Name.of(title).folded == name.folded
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
