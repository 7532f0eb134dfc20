"""The seasons and cours of the shows of the index: how far their numbers go, and what comes after them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from kurabito.catalog.identity.index.shows import IndexedShow
from kurabito.metadata.lookup import read_sequel
from kurabito.titles import fold_title

_ENCLOSED: Final = re.compile(r"(.*\S)\s*[-~\u301c\uff5e].+[-~\u301c\uff5e]\s*")


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

    def own_titles(self, entry: IndexedShow) -> list[str]:
        """What a later season is called beside its number: whole, and without what stands behind it between signs."""
        others = [part for part in self._parts.get(entry.tmdb_id or 0, ()) if part.id != entry.id]
        shared = {fold_title(one) for part in others for title in part.titles for one in _with_beginning(title)}
        return [
            one
            for title in (entry.titles if others else ())
            if not title.isascii() and read_sequel(title) is None
            for one in _with_beginning(title)
            if fold_title(one) not in shared
        ]

    def after(self, entry: IndexedShow) -> list[int]:
        """The entries of its show that began later, by their numbers."""
        return [part.id for part in self._after(entry)]

    def _after(self, entry: IndexedShow) -> list[IndexedShow]:
        """The parts of its show that began later."""
        parts = self._parts.get(entry.tmdb_id, []) if entry.tmdb_id is not None else []
        return [part for part in parts if part.id != entry.id and part.began > entry.began]


def _with_beginning(title: str) -> list[str]:
    """A title, and where it begins before a subtitle between signs: `もっと蔵人 -もろみ-`."""
    found = _ENCLOSED.fullmatch(title)
    return [title] if found is None else [title, found[1]]


def _is_same_season(first: IndexedShow, part: IndexedShow) -> bool:
    """Whether a later part of a show is a cour of the season that another one begins."""
    if first.tmdb_season is None and part.tmdb_season is None:
        return part.is_marked_part
    return first.tmdb_season == part.tmdb_season
