"""Numbers that count on: file 13 of a show is the first episode of its second cour, where that is an entry of its own. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kurabito.metadata.franchises import Franchise, FranchiseEntry
from kurabito.placements.naming.numbering import EntryNumbers
from kurabito.placements.plans import ShowContext


@dataclass(frozen=True, slots=True)
class EntryEpisode:
    """An episode of an entry of the index, as the entry counts."""

    bgm_id: int
    number: int


@dataclass(frozen=True, slots=True)
class CoursOfShow:
    """The entry that a folder was matched to, among the seasons and cours of its show."""

    own: FranchiseEntry
    regular: tuple[FranchiseEntry, ...]

    @classmethod
    def of(cls, franchise: Franchise | None, own: FranchiseEntry | None) -> CoursOfShow | None:
        """None where the index does not say how many episodes the entry has."""
        if franchise is None or own is None or own.episode_count is None or own not in franchise.regular:
            return None
        return cls(own, franchise.regular)

    @property
    def is_first(self) -> bool:
        """Whether what comes behind its last episode may be of the next cour."""
        return self.own.part == 1 and any(one.begin and one != self.own for one in self.regular)

    def widen(self, show: ShowContext) -> ShowContext:
        """What a plan has to know so that numbers which count on are read, and not asked about."""
        count = self.own.episode_count or 0
        if self.is_first and self.own.season == 1:
            return replace(show, episodes=frozenset())
        first = (self.own.first_in_season if self.own.part > 1 else None) or self.own.first_absolute
        numbers = show.numbers
        if first is not None and first > 1 and not show.episode_offset:
            numbers = EntryNumbers(season=numbers.season, tmdb=numbers.tmdb, before=first - 1)
        return replace(show, episodes=frozenset({*show.episodes, *range(1, self._last(count) + 1)}), numbers=numbers)

    def _last(self, count: int) -> int:
        """The last number of its season, where later cours of it are entries of their own."""
        if not self.is_first:
            return count
        later = (first + (entry.episode_count or 0) - 1 for entry, first in self._in_season())
        return max([count, *later])

    def find(self, number: float) -> EntryEpisode | None:
        """The episode of another entry that a number beyond the own ones is; None for an own one, or where it is not known."""
        if number <= (self.own.episode_count or 0) or not float(number).is_integer():
            return None
        for entry, first in (*self._in_season(), *self._in_all()):
            counted = int(number) - first + 1
            if entry.ids.bgm_id is not None and 0 < counted <= (entry.episode_count or 0):
                return EntryEpisode(entry.ids.bgm_id, counted)
        return None

    def _in_season(self) -> Iterator[tuple[FranchiseEntry, int]]:
        """The later cours of its season, each with its first number there: as the index says it, else one behind the other."""
        for entry in self.regular:
            first = entry.first_in_season if entry.season == self.own.season else None
            if first is not None and first > 1:
                yield entry, first
        yield from self._following()

    def _in_all(self) -> Iterator[tuple[FranchiseEntry, int]]:
        """The entries whose first number through all seasons the index knows."""
        for entry in self.regular:
            if entry.first_absolute is not None and entry.first_absolute > 1:
                yield entry, entry.first_absolute

    def _following(self) -> Iterator[tuple[FranchiseEntry, int]]:
        """The entries that have the same place at TMDB, one behind the other, where nothing says more about them."""
        place = self.own.ids.tmdb_id, self.own.ids.tmdb_season
        first = 1
        for entry in sorted(self.regular, key=lambda one: str(one.begin or "9999")):
            if (entry.ids.tmdb_id, entry.ids.tmdb_season) != place or place[0] is None:
                continue
            if entry.episode_count is None:
                return
            if entry != self.own:
                yield entry, first
            first += entry.episode_count
