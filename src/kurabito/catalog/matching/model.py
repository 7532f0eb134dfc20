"""The words of matching."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kurabito.catalog.matching.clues import FolderReading
from kurabito.metadata.records import Details


class MatchState(StrEnum):
    """How far a folder is."""

    OPEN = "open"
    """It is not clear what it is about; the keeper has to choose."""
    MATCHED = "matched"
    CHOSEN = "chosen"
    """The keeper chose what it is, and nothing else changes that."""
    IGNORED = "ignored"
    """The keeper said that it is none of what we know."""


class MatchedBy(StrEnum):
    """Who found out."""

    OFFLINE = "offline"
    ONLINE = "online"
    KEEPER = "keeper"


class MatchReason(StrEnum):
    """What speaks for a candidate, or against it."""

    NAME = "name"
    """It has exactly this name."""
    ALIAS = "alias"
    """It fills in the series that has this name here."""
    SAME_SHOW = "same_show"
    """It is the season that the folder names, of the show that has this name."""
    YEAR = "year"
    """It began in the year that the folder names, or the one beside it."""
    CHOSEN_BEFORE = "chosen_before"
    """The keeper chose it for another folder of this name."""
    ONLINE = "online"
    """TMDB knows it by this name."""
    SHARED_NAME = "shared_name"
    """Another one fits as well."""
    OTHER_YEAR = "other_year"
    OTHER_SEASON = "other_season"
    OTHER_KIND = "other_kind"
    """A film where the folder says a season, or a show where it says a film."""


AGAINST = frozenset({MatchReason.SHARED_NAME, MatchReason.OTHER_YEAR, MatchReason.OTHER_SEASON, MatchReason.OTHER_KIND})
"""What speaks against a candidate."""


@dataclass(frozen=True, slots=True)
class MatchCandidate:
    """What a folder may be about."""

    key: str
    """Names it among the candidates of its folder, when one is chosen."""
    details: Details
    reasons: tuple[MatchReason, ...]
    metadata_id: int | None = None
    """Its record; None while it has none. Choosing it adds one."""


@dataclass(frozen=True, slots=True)
class FolderMatch:
    """A folder of a library, and what it is about."""

    id: int
    library_id: int
    folder: str
    """Its path in the library."""
    reading: FolderReading
    """What its name was understood as."""
    state: MatchState
    metadata_id: int | None
    series_id: int | None
    matched_by: MatchedBy | None
    reasons: tuple[MatchReason, ...]
    """Why it was matched."""
    candidates: tuple[MatchCandidate, ...]
    """What it may be, while it is open; what it might have been, when the keeper chose."""
    asked_at: datetime | None
    """When it was looked for online."""
    created_at: datetime
    updated_at: datetime
