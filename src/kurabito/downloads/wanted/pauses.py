"""When an episode is searched for again, and what is not taken unasked. Pure."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final

PER_HOUR: Final = 30
"""Automatic searches in an hour, for all shows together."""
LARGEST_UNASKED: Final = 30 * 10**9
"""Bytes; a release that is larger is taken by its keeper alone."""
_PAUSES: Final = (
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(days=1),
    timedelta(days=2),
    timedelta(days=4),
    timedelta(days=7),
)
_HALF_A_DAY: Final = 4


class SearchOutcome(StrEnum):
    """What came of the last search for an episode; the value is the message's key below `wanted_outcome`, and is stored."""

    GRABBED = "grabbed"
    NOTHING = "nothing"
    """No indexer has a release that would be taken."""
    NO_ANSWER = "no_answer"
    """No indexer could be asked."""
    TOO_LARGE = "too_large"
    """The best one is so large that its keeper is asked."""
    NO_ROOM = "no_room"
    """The best one would take from what is to stay free on the disk."""
    FAILED = "failed"
    """The best one could not be fetched from its indexer."""


def pause_after(searches: int, *, is_whole: bool = True) -> timedelta:
    """How long an episode rests after so many searches that brought nothing.

    Where an indexer did not answer, it may be the one that has it: the pause stays within half a day then.
    """
    most = len(_PAUSES) if is_whole else _HALF_A_DAY
    return _PAUSES[min(max(searches, 1), most) - 1]


def asks_first(size_bytes: int | None, free: int | None) -> SearchOutcome | None:
    """Why a release is not taken unasked; `free` are the bytes that can be taken, None where that is not known."""
    if size_bytes is None:
        return None
    if size_bytes > LARGEST_UNASKED:
        return SearchOutcome.TOO_LARGE
    return SearchOutcome.NO_ROOM if free is not None and size_bytes > free else None
