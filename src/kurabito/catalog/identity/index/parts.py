"""The seasons and cours of the shows of the index: how far their numbers go, and what comes after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kurabito.catalog.identity.index.shows import IndexedShow


class SeasonParts:
    """The entries of some shows, and what else has a name of theirs."""

    def __init__(
        self,
        parts: Mapping[int, Sequence[IndexedShow]],
        shows: Mapping[int, IndexedShow],
        rivals: Mapping[int, set[int]],
    ) -> None:
        self._parts = parts
        self._shows = shows
        self._rivals = rivals

    def longest(self, entry: IndexedShow, own: int | None = None) -> int | None:
        """How many numbers the season that begins with an entry may have at the most, all its cours together."""
        cours = [part.longest for part in self._after(entry) if _is_same_season(entry, part)]
        known = [entry.longest if own is None else own, *cours]
        return None if None in known else sum(filter(None, known))

    def may_be_other(self, entry: IndexedShow, number: float) -> bool:
        """Whether a number beyond an entry may be one of a later season, or of another show of the same name."""
        rivals = (self._shows[rival] for rival in self._rivals.get(entry.id, ()))
        return any(not _is_same_season(entry, part) for part in self._after(entry)) or any(
            rival.longest is None or rival.longest >= number for rival in rivals if rival.tmdb_id != entry.tmdb_id
        )

    def after(self, entry: IndexedShow) -> list[int]:
        """The entries of its show that began later, by their numbers."""
        return [part.id for part in self._after(entry)]

    def _after(self, entry: IndexedShow) -> list[IndexedShow]:
        """The parts of its show that began later."""
        parts = self._parts.get(entry.tmdb_id, []) if entry.tmdb_id is not None else []
        return [part for part in parts if part.id != entry.id and part.began > entry.began]


def _is_same_season(first: IndexedShow, part: IndexedShow) -> bool:
    """Whether a later part of a show is a cour of the season that another one begins."""
    if first.tmdb_season is None and part.tmdb_season is None:
        return part.is_marked_part
    return first.tmdb_season == part.tmdb_season
