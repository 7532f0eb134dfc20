"""What services answer, made fit to be kept: a text that both databases hold, a number that they have room for.

A service may be broken, or something else may answer in its place, so nothing about an answer is taken for granted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from kurabito.runtime.paging import BIGGEST_ID
from kurabito.titles.text import storable

T = TypeVar("T")
MALFORMED: Final = (LookupError, TypeError, ValueError, AttributeError, OverflowError)
"""What reading an answer raises that is of another shape than it should be."""
_LONGEST_TITLE: Final = 1_000
LONGEST_SUMMARY: Final = 20_000
LONGEST_URL: Final = 2_000
_LARGEST_EPISODE: Final = 100_000


def text_in(found: Mapping[str, Any], name: str, longest: int = _LONGEST_TITLE) -> str | None:
    """A text of an answer, no longer than texts of its sort are; None when it is not there, or empty."""
    value = found.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text")
    return storable(value)[:longest].strip() or None


def id_in(found: Mapping[str, Any], name: str = "id") -> int:
    """The id in an answer."""
    value = int(found[name])
    if not 0 < value <= BIGGEST_ID:
        raise ValueError(f"{name} is {value}")
    return value


def count_in(found: Mapping[str, Any], name: str) -> int | None:
    """How many episodes there are; None when the answer does not say, or says something that cannot be."""
    value = found.get(name)
    return value if isinstance(value, int) and 0 < value <= _LARGEST_EPISODE else None


def episode_number(value: Any) -> int | float:
    """The number of an episode, which may lie between two others."""
    number = float(value)
    if not 0 <= number <= _LARGEST_EPISODE:
        raise ValueError(f"an episode has the number {number}")
    return int(number) if number.is_integer() else number


def readable(rows: Iterable[Any], read: Callable[[Any], T]) -> list[T]:
    """What can be read of the rows. One that is malformed costs only itself; raises what is wrong when all of them are."""
    found: list[T] = []
    problem: Exception | None = None
    for row in rows:
        try:
            found.append(read(row))
        except MALFORMED as error:
            problem = error
    if problem is not None and not found:
        raise problem
    return found
