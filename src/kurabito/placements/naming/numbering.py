"""Which season and number an episode gets in a library.

An *entry* is one season of one show, as bgm.tv and our series count. TMDB counts otherwise: two cours can be one season there,
and a show of many entries one long season. What is not known is never made up: the caller asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final, NamedTuple

SPECIALS: Final = 0
"""The season of what has no number of its own among the episodes."""
# A name that counts it among the specials itself: `Koji S00E03`.
_NUMBERED_SPECIAL: Final = re.compile(r"S00E(\d+)", re.ASCII)


class NumberingScheme(StrEnum):
    """Whose numbers a library uses."""

    TMDB = "tmdb"
    ENTRY = "entry"
    """The entry's own: season 2 begins with episode 1."""
    ABSOLUTE = "absolute"
    """One count through all seasons, as season 1."""


@dataclass(frozen=True, slots=True)
class NumberSpan:
    """Episodes of an entry that lie one after the other in a season elsewhere."""

    first: int
    """The first of them, as the entry counts."""
    last: int | None
    """None: as many as come."""
    season: int
    number: int
    """What the first of them is there."""

    def find(self, episode: int) -> tuple[int, int] | None:
        """Season and number of an episode; None if it is none of these."""
        if episode < self.first or (self.last is not None and episode > self.last):
            return None
        return self.season, self.number + episode - self.first


@dataclass(frozen=True, slots=True)
class SpecialNumber:
    """The number among the specials that a record gives to a decimal, an OVA or a special."""

    label: str
    """What it is called among the entry's own: `12.5`, `OVA 1`, `SP 2`."""
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryNumbers:
    """How the episodes of an entry are numbered; empty where it is not known."""

    season: int = 1
    """The entry's own season."""
    tmdb: tuple[NumberSpan, ...] = ()
    before: int | None = None
    """How many episodes the entries before it have: what its absolute numbers count on from."""
    specials: tuple[SpecialNumber, ...] = ()


class Numbered(NamedTuple):
    """Season and numbers in the library, and the absolute ones where they are known."""

    season: int
    episodes: tuple[int, ...]
    absolute: tuple[int, ...] = ()


def number_episodes(episodes: Sequence[int], scheme: NumberingScheme, entry: EntryNumbers) -> Numbered | None:
    """The season and numbers of a file's episodes; None where the record does not say."""
    absolute = () if entry.before is None else tuple(entry.before + episode for episode in episodes)
    match scheme:
        case NumberingScheme.ENTRY:
            return Numbered(entry.season, tuple(episodes), absolute)
        case NumberingScheme.ABSOLUTE:
            return Numbered(1, absolute, absolute) if absolute else None
        case NumberingScheme.TMDB:
            return _by_spans(episodes, entry.tmdb, absolute)


def special_number(label: str, entry: EntryNumbers) -> int | None:
    """The number of a special or a decimal: as the record counts it, else as its own name does.

    >>> special_number("S00E03", EntryNumbers()), special_number("OVA 3", EntryNumbers())
    (3, None)
    """
    wanted = label.casefold()
    known = next((one.number for one in entry.specials if one.label.casefold() == wanted), None)
    said = _NUMBERED_SPECIAL.fullmatch(label) if known is None else None
    return int(said[1]) if said else known


def _by_spans(episodes: Sequence[int], spans: Sequence[NumberSpan], absolute: tuple[int, ...]) -> Numbered | None:
    found = [next(filter(None, (span.find(episode) for span in spans)), None) for episode in episodes]
    seasons = {place[0] for place in found if place is not None}
    numbers = tuple(place[1] for place in found if place is not None)
    # A file of two seasons has no name, and neither has one with episodes that do not follow each other.
    if (
        len(numbers) != len(episodes)
        or len(seasons) != 1
        or numbers != tuple(range(numbers[0], numbers[0] + len(numbers)))
    ):
        return None
    return Numbered(seasons.pop(), numbers, absolute)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowEntry:
    """One entry of a show, as far as its place at TMDB depends on it."""

    key: int
    tmdb_season: int | None
    """The season of TMDB that it is, or lies in."""
    begins: date | None = None
    episode_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TmdbShow:
    """A show of TMDB: how many episodes its seasons have, and which entries lie in it."""

    entries: tuple[ShowEntry, ...]
    season_counts: dict[int, int] = field(default_factory=dict)
    """Empty while TMDB was not asked."""


def tmdb_spans(show: TmdbShow) -> dict[int, tuple[NumberSpan, ...]]:
    """Where the episodes of each entry lie at TMDB, by the entries' keys; an entry that is missing is not known.

    Entries that share a season follow each other by their dates (a second cour goes on where the first one ended). An entry
    that is longer than its season goes on in the next one.
    """
    by_season: dict[int, list[ShowEntry]] = {}
    for entry in show.entries:
        if entry.tmdb_season is not None:
            by_season.setdefault(entry.tmdb_season, []).append(entry)
    spans: dict[int, tuple[NumberSpan, ...]] = {}
    for season, entries in sorted(by_season.items()):
        spans |= _spans_of_season(season, entries, show.season_counts, taken=set(by_season))
    return spans


def _spans_of_season(
    season: int, entries: list[ShowEntry], counts: dict[int, int], taken: set[int]
) -> dict[int, tuple[NumberSpan, ...]]:
    if len(entries) > 1 and any(entry.begins is None for entry in entries):
        return {}
    found: dict[int, tuple[NumberSpan, ...]] = {}
    number: int | None = 1
    for entry in sorted(entries, key=lambda one: (one.begins or date.min, one.key)):
        if number is None:
            # How long the one before it is was not known.
            break
        if spans := _spans_of_entry(entry, season, number, counts, taken):
            found[entry.key] = spans
        number = None if entry.episode_count is None else number + entry.episode_count
    return found


def _spans_of_entry(
    entry: ShowEntry, season: int, number: int, counts: dict[int, int], taken: set[int]
) -> tuple[NumberSpan, ...]:
    """One span, or several if the season has fewer episodes than the entry; what has no place at TMDB is left out."""
    count = entry.episode_count
    if count is None or season not in counts:
        return (NumberSpan(1, count, season, number),)
    spans: list[NumberSpan] = []
    first = 1
    while first <= count:
        room = counts.get(season, 0) - number + 1
        if room <= 0 or (spans and season in taken):
            # TMDB has fewer episodes than the entries that are said to lie there: something is wrong, or not aired yet.
            break
        last = min(count, first + room - 1)
        spans.append(NumberSpan(first, last, season, number))
        first, season, number = last + 1, season + 1, 1
    return tuple(spans)
