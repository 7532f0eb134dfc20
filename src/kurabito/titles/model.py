"""What a release title says: the values that the parser gives back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of the title, which recogniser took it, and why."""

    recogniser: str
    text: str
    why: str
    start: int
    """Where in the normalised title the part begins."""


@dataclass(frozen=True, slots=True)
class ReleaseTitle:
    """A release title, understood. What the title does not say is None, or empty."""

    title: str | None = None
    """The name in Latin letters if there is one, else the first name."""
    titles: tuple[str, ...] = ()
    """Every name of the series, as written."""
    season: int | None = None
    seasons: tuple[int, ...] = ()
    episodes: tuple[Episode, ...] = ()
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
    kind: ReleaseKind = ReleaseKind.UNKNOWN
    is_batch: bool = False
    """Several episodes, or a whole season."""
    rule: str | None = None
    """The user's rule that was followed, if one was."""
    findings: tuple[Finding, ...] = ()
    """Which recogniser took which part; empty unless it was asked for."""
