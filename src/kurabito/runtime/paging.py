"""Keyset pages of tasks: a cursor names the last task that was shown, so that new ones never shift a page."""

from __future__ import annotations

from typing import Final, NamedTuple

from kurabito.errors import InvalidInput
from kurabito.runtime.states import TaskState

MAX_PAGE: Final = 1000
_LARGEST_KEY: Final = 2**63


class PageRequest(NamedTuple):
    """A page that was asked for and passed every check."""

    state: TaskState | None
    limit: int
    before: int | None
    """Only tasks with a key below this one; None begins at the newest."""


def check_page(state: TaskState | str | None, limit: int, cursor: str | None) -> PageRequest:
    """Check what `list` was given; raises InvalidInput naming the field."""
    if type(limit) is not int or not 1 <= limit <= MAX_PAGE:
        raise InvalidInput("limit", f"must be an int from 1 to {MAX_PAGE}, got {limit!r}")
    try:
        known = None if state is None else TaskState(state)
    except ValueError:
        raise InvalidInput("state", f"must be one of {', '.join(TaskState)}; got {state!r}") from None
    return PageRequest(known, limit, None if cursor is None else _key_of(cursor))


def cursor_after(key: int) -> str:
    """The cursor of the page that begins after the task with this key."""
    return f"{key:x}"


def _key_of(cursor: str) -> int:
    try:
        key = int(cursor, 16)
    except (TypeError, ValueError):
        key = -1
    # Only what `cursor_after` writes is a cursor: int() alone would also take "0x1f", "+1f" and " 1f".
    if not 0 <= key < _LARGEST_KEY or cursor_after(key) != cursor:
        raise InvalidInput("cursor", f"is not one that a page gave ({cursor!r}); begin again without it")
    return key
