"""When another attempt is worth it, and how long to wait for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from kurabito.clock import SECOND, from_datetime

IDEMPOTENT: Final = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""Methods whose second request changes nothing that the first did not: only these are tried again."""
PASSING: Final = frozenset({429, 502, 503, 504})
"""Answers that say "not now"."""
_FIRST_WAIT: Final = 1.0
_LONGEST_WAIT: Final = 20.0
_LONGEST_PROMISE: Final = 86_400.0
_LONGEST_NUMBER: Final = 9
"""Digits of a number; more of them are more than a day in any case."""


def back_off(attempt: int, random: Callable[[], float]) -> float:
    """Seconds to wait after attempt number `attempt`: twice as long each time, and varied downwards by up to half.

    The variation keeps requests that failed together from coming back together.
    """
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (attempt - 1)) * (1.0 - random() / 2)


def retry_after(header: str | None, now: int) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or a date; at most a day, None when it says nothing."""
    if header is None:
        return None
    header = header.strip()
    if re.fullmatch(r"[0-9]+", header):
        seconds = float(header[:_LONGEST_NUMBER])
    else:
        try:
            moment = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return None
        # A date without a zone is meant in UTC, as every date of HTTP is.
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (from_datetime(moment) - now) / SECOND
    return min(max(seconds, 0.0), _LONGEST_PROMISE)
