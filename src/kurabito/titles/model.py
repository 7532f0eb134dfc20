"""What a release title says: the values that the parser gives back."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

from kurabito.titles.scripts import SeriesName

Episode = int | float
"""An episode's number; 12.5 is the recap between 12 and 13."""


class ReleaseKind(StrEnum):
    """What sort of thing was released."""

    TV = "tv"
    MOVIE = "movie"
    OVA = "ova"
    SPECIAL = "special"
    OPENING = "opening"
    ENDING = "ending"
    TRAILER = "trailer"
    UNKNOWN = "unknown"


class TitleDoubt(StrEnum):
    """Why what was read may be wrong; a release with one of these is better asked about than taken."""

    SEASON_IMPLAUSIBLE = "season_implausible"
    """A season beyond any that was ever counted, or a year."""
    RANGE_TOO_LONG = "range_too_long"
    """More episodes than one batch has."""
    EPISODE_IS_YEAR = "episode_is_year"
    """The number of the episode could be a year."""
    BARE_NUMBER = "bare_number"
    """No sign says that the number counts episodes: it could belong to the name."""
    SPLIT_NUMBER = "split_number"
    """One number was read as a season and an episode: 217 as 2 and 17."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of the title, which recogniser took it, and why."""

    recogniser: str
    text: str
    why: str
    start: int
    """Where in the normalised title the part begins."""


@dataclass(frozen=True, slots=True)
class ReleaseExtra:
    """What a batch brings beside its episodes: `01-12+OVA`, `TV 01-25+SP 01-03`."""

    kind: ReleaseKind
    episodes: tuple[Episode, ...] = ()
    """Their own numbers; empty when they are not counted."""


@dataclass(frozen=True, slots=True)
class ReleaseTitle:
    """A release title, understood. What the title does not say is None, or empty."""

    title: str | None = None
    """The name in Latin letters if there is one, else the first name."""
    titles: tuple[str, ...] = ()
    """Every name of the series."""
    written: tuple[str, ...] = ()
    """The same as they are written, the whole first: with the seasons, kinds and years that were read out of them."""
    season: int | None = None
    seasons: tuple[int, ...] = ()
    part: int | None = None
    """The part of a season that is written beside the names: 2 for `第2部分`. `Part 2` may be a name, and is left in it."""
    episodes: tuple[Episode, ...] = ()
    extras: tuple[ReleaseExtra, ...] = ()
    version: int | None = None
    group: str | None = None
    """Who released it, as written."""
    groups: tuple[str, ...] = ()
    """The same, one by one."""
    resolution: int | None = None
    """The height of the picture in lines."""
    source: str | None = None
    platform: str | None = None
    video: tuple[str, ...] = ()
    audio: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """Codes of ISO 639-1; Chinese as zh-Hans or zh-Hant where the title tells."""
    container: str | None = None
    checksum: str | None = None
    year: int | None = None
    date: str | None = None
    country: str | None = None
    """Whose version of the show it is, where the title says so: a code of ISO 3166-1, so the United Kingdom is GB."""
    kind: ReleaseKind = ReleaseKind.UNKNOWN
    is_batch: bool = False
    """Several episodes, or a whole season."""
    doubts: tuple[TitleDoubt, ...] = ()
    """What is doubtful about the numbers."""
    rule: str | None = None
    """The user's rule that was followed, if one was."""
    findings: tuple[Finding, ...] = ()
    """Which recogniser took which part; empty unless it was asked for."""

    def changed(self, **changes: Any) -> ReleaseTitle:
        """The same with other values, as `dataclasses.replace` makes it, in half the time: most titles are like one before."""
        values = list(_values_of(self))
        for name, value in changes.items():
            values[_PLACES[name]] = value
        return ReleaseTitle(*values)

    @property
    def names(self) -> tuple[SeriesName, ...]:
        """Every name of the series with its script and language."""
        return tuple(map(SeriesName.of, self.titles))


_PLACES: Final = {one.name: place for place, one in enumerate(fields(ReleaseTitle))}
_values_of: Final = attrgetter(*_PLACES)
