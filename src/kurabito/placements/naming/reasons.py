"""What is wrong with a template of names."""

from __future__ import annotations

from enum import StrEnum


class TemplateReason(StrEnum):
    """Why a template cannot be read; the value is the message's key below `template_reason`. Each has a `position`."""

    TOO_LONG = "too_long"
    """It must have at most `most` characters."""
    NOT_ALONE = "not_alone"
    """It has none of the `tokens`, so files would share one name."""
    NESTED = "nested"
    BRACE_OPEN = "brace_open"
    BRACE_CLOSED = "brace_closed"
    PART_OPEN = "part_open"
    PART_CLOSED = "part_closed"
    PART_FIXED = "part_fixed"
    """An optional part without a token."""
    MUCH_TEXT = "much_text"
    """It has more than `most` bytes beside its tokens."""
    UNKNOWN_TOKEN = "unknown_token"  # noqa: S105 - the reason
    """There is no such `token`."""
    FORMAT = "format"
    """The `token` is a number, and its format is not understood."""
    DIGITS = "digits"
    """The `token` is a text."""
    SLASH = "slash"
    CHARACTER = "character"
    """No name can have this `character`."""
