"""Keyset pages: a cursor names the last item that was shown, so that new ones never shift a page."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kurabito.errors import InvalidInput
from kurabito.runtime.states import TaskState

MAX_PAGE: Final = 1000
_ID: Final = re.compile("[1-9][0-9]{0,18}")
BIGGEST_ID: Final = 9 * 10**18
"""The largest id. Both databases hold it, and so does a floating number to the digit, as documents of the API write limits."""


class PageRequest(NamedTuple):
    """A page that was asked for and passed every check."""

    state: TaskState | None
    limit: int
    before: int | None
    """Only tasks with a key below this one; None begins at the newest."""


def check_page(state: TaskState | str | None, limit: int, cursor: str | None) -> PageRequest:
    """Check what `list` was given; raises InvalidInput naming the field."""
    check_limit(limit)
    try:
        known = None if state is None else TaskState(state)
    except ValueError:
        raise InvalidInput("state", f"must be one of {', '.join(TaskState)}; got {state!r}") from None
    return PageRequest(known, limit, None if cursor is None else _key_of(cursor))


def check_limit(limit: int) -> None:
    """Raises InvalidInput unless a page may have so many items."""
    if type(limit) is not int or not 1 <= limit <= MAX_PAGE:
        raise InvalidInput("limit", f"must be an int from 1 to {MAX_PAGE}, got {limit!r}")


def id_after(cursor: str | None, biggest: int = BIGGEST_ID) -> int:
    """The id behind which a page of a growing list begins, where cursors are plain ids; raises InvalidInput."""
    return 0 if cursor is None else _id_of(cursor, biggest)


def id_before(cursor: str | None) -> int:
    """The id before which a page of a list from the newest on begins, where cursors are plain ids; raises InvalidInput."""
    return BIGGEST_ID if cursor is None else _id_of(cursor, BIGGEST_ID)


def not_a_cursor(cursor: str) -> InvalidInput:
    """The error for what no page gave."""
    return InvalidInput("cursor", f"is not one that a page gave ({cursor!r}); begin again without it")


def cursor_after(key: int) -> str:
    """The cursor of the page that begins after the task with this key."""
    return f"{key:x}"


def _key_of(cursor: str) -> int:
    try:
        key = int(cursor, 16)
    except (TypeError, ValueError):
        key = -1
    # Only what `cursor_after` writes is a cursor: int() alone would also take "0x1f", "+1f" and " 1f".
    if not 0 <= key <= BIGGEST_ID or cursor_after(key) != cursor:
        raise not_a_cursor(cursor)
    return key


def _id_of(cursor: str, biggest: int) -> int:
    if not _ID.fullmatch(cursor) or int(cursor) > biggest:
        raise not_a_cursor(cursor)
    return int(cursor)
