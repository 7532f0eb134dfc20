"""A profile: how the releases of the shows that use it are chosen. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kurabito.downloads.choice import ReleasePreferences
from kurabito.downloads.filters.model import searching
from kurabito.errors import InvalidInput
from kurabito.feeds.preferences import Preferences, Term
from kurabito.reasons import InputReason, refused

MOST_LIKED: Final = 100
MOST_TERMS: Final = 100
MOST_POINTS: Final = 1_000_000
MOST_MB: Final = 10_000.0
MOST_MINUTES: Final = 43_200
_LONGEST_TERM: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseProfile:
    """How releases are chosen: under a name that many shows share, or for one show alone."""

    id: int
    name: str | None
    """None for the own one of a show."""
    series_id: int | None
    is_default: bool
    """It holds for every show that has no other."""
    preferences: ReleasePreferences
    created_at: datetime
    updated_at: datetime


def check(preferences: ReleasePreferences) -> None:
    """Raises InvalidInput, naming the field."""
    liked = preferences.preferred
    for name in ("groups", "languages", "resolutions", "sources", "codecs", "audio"):
        if len(getattr(liked, name)) > MOST_LIKED:
            raise InvalidInput(name, f"must be at most {MOST_LIKED}", refused(InputReason.TOO_MANY, most=MOST_LIKED))
    _within("wait_minutes", preferences.wait_minutes, 0, MOST_MINUTES)
    _within("least_mb", liked.least_mb, 0, MOST_MB)
    _within("most_mb", liked.most_mb, 0, MOST_MB)
    _within("stop_at", liked.stop_at, -MOST_POINTS, MOST_POINTS)
    if liked.least_mb is not None and liked.most_mb is not None and liked.least_mb > liked.most_mb:
        raise InvalidInput(
            "most_mb",
            "must not be less than the least",
            refused(InputReason.NUMBER, least=liked.least_mb, most=MOST_MB),
        )
    _check_terms(liked)


def _check_terms(liked: Preferences) -> None:
    if len(liked.terms) > MOST_TERMS:
        raise InvalidInput("terms", f"must be at most {MOST_TERMS}", refused(InputReason.TOO_MANY, most=MOST_TERMS))
    for term in liked.terms:
        _within("terms", term.points, -MOST_POINTS, MOST_POINTS)
        _check_term(term)


def _check_term(term: Term) -> None:
    if not term.text.strip() or len(term.text) > _LONGEST_TERM or not term.text.isprintable():
        problem = f"must be texts of 1 to {_LONGEST_TERM} characters that can be seen"
        raise InvalidInput("terms", problem, refused(InputReason.TEXT, most=_LONGEST_TERM))
    if term.is_pattern:
        try:
            searching(term.text)
        except InvalidInput as error:
            raise InvalidInput("terms", str(error), error.reason) from None


def _within(name: str, number: float | None, least: float, most: float) -> None:
    if number is not None and not least <= number <= most:
        problem = f"must be a number from {least:g} to {most:g}"
        raise InvalidInput(name, problem, refused(InputReason.NUMBER, least=least, most=most))
