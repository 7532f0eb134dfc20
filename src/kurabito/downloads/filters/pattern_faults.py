"""Where in a pattern the fault is that RE2 found."""

from __future__ import annotations

from typing import Final

_PARENTHESES: Final = ("missing )", "unexpected )")
_TRAILING: Final = "trailing \\"


def located(pattern: str, message: str) -> str:
    """The message of RE2 with the place in the pattern, counted from 1."""
    problem, _, fragment = message.partition(": ")
    place = _place(pattern, problem, fragment)
    if place is None:
        return message
    return f"{problem} at character {place + 1}" + (f": {pattern[place:]}" if pattern[place:] else "")


def _place(pattern: str, problem: str, fragment: str) -> int | None:
    if problem == _TRAILING:
        return len(pattern) - 1
    if problem in _PARENTHESES:
        # RE2 repeats the whole pattern for these.
        return _unmatched(pattern)
    found = pattern.find(fragment) if fragment else -1
    return None if found < 0 else found


def _unmatched(pattern: str) -> int | None:
    """The first parenthesis that closes nothing, else the last one that nothing closes."""
    opened: list[int] = []
    is_escaped = is_in_class = False
    for place, char in enumerate(pattern):
        if is_escaped:
            is_escaped = False
        elif char == "\\":
            is_escaped = True
        elif is_in_class:
            is_in_class = char != "]"
        elif char == "[":
            is_in_class = True
        elif char == "(":
            opened.append(place)
        elif char == ")":
            if not opened:
                return place
            opened.pop()
    return opened[-1] if opened else None
