"""Values of another program, as far as a database of ours can hold them: anything may stand in theirs."""

from __future__ import annotations

import re
from typing import Any, Final

LONGEST_TEXT: Final = 300
LARGEST_SEASON: Final = 999
LARGEST_NUMBER: Final = 100_000
_LARGEST_ID: Final = (1 << 53) - 1
_YEARS: Final = (1800, 2999)
# No database stores a half of a character, and PostgreSQL no NUL.
_NOT_STORED: Final = re.compile("[\0\ud800-\udfff]")


def text_of(value: Any, longest: int = LONGEST_TEXT) -> str:
    """The text; empty where it is none.

    >>> text_of(" Koji\\0\\ud800 "), text_of(None), text_of(b"Koji")
    ('Koji', '', '')
    """
    return _NOT_STORED.sub("", value).strip()[:longest].strip() if isinstance(value, str) else ""


def number_of(value: Any, least: int, most: int) -> int | None:
    """The whole number; None where it is none, or none that makes sense.

    >>> number_of("24", 0, 99), number_of(1e300, 0, 99), number_of("x", 0, 99), number_of(True, 0, 99)
    (24, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return None
    return number if least <= number <= most else None


def year_of(value: Any) -> int | None:
    """The year; None where it is none."""
    return number_of(value, *_YEARS)


def id_of(value: Any) -> int | None:
    """The id of something at a site; None where it is none."""
    return number_of(value, 1, _LARGEST_ID)
