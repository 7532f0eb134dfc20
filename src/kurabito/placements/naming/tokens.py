"""The facts that a template can name, each by its token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple


class NameFacts(NamedTuple):
    """What is known of a file when it is named. What is not known is None, or empty.

    A tuple, because one is made for every file of a library.
    """

    title: str | None = None
    title_en: str | None = None
    title_ja: str | None = None
    title_zh: str | None = None
    year: int | None = None
    season: int | None = None
    """As the library numbers: 0 has the specials."""
    episode: tuple[int, ...] = ()
    """As the library numbers; several for a file with several episodes, one after the other."""
    absolute: tuple[int, ...] = ()
    """The same, counted through all seasons."""
    episode_title: str | None = None
    special: str | None = None
    """What a special without a number is called: `OVA 2`, `12.5`."""
    group: str | None = None
    resolution: int | None = None
    source: str | None = None
    version: int | None = None
    original: str | None = None
    """The file's own name, without its extension."""
    tmdb_id: int | None = None
    bgm_id: int | None = None
    anidb_id: int | None = None
    anilist_id: int | None = None
    mal_id: int | None = None


class TokenKind(StrEnum):
    """How a token is written."""

    TEXT = "text"
    NUMBER = "number"
    NUMBERS = "numbers"
    """One number, or from one to another; a format says with how many digits."""


_NUMBERS: Final = frozenset({"season", "year", "version", "resolution"})
_RUNS: Final = frozenset({"episode", "absolute"})


def _kind(name: str) -> TokenKind:
    if name in _RUNS:
        return TokenKind.NUMBERS
    return TokenKind.NUMBER if name in _NUMBERS or name.endswith("_id") else TokenKind.TEXT


TOKENS: Final[dict[str, TokenKind]] = {
    **{name: _kind(name) for name in NameFacts._fields},
    "episodes": TokenKind.TEXT,
}
"""Every token; `{episodes}` is `E01-E02`, the numbers with their letter."""

ALWAYS_KNOWN: Final = frozenset({"title", "title_en", "title_ja", "title_zh", "original"})
"""What every file has; a title in a language falls back to the title."""
SHORTENED: Final = (
    "original",
    "episode_title",
    "group",
    "special",
    "source",
    "title",
    "title_en",
    "title_ja",
    "title_zh",
)
"""The texts that a name which is too long gives up parts of, the first ones first. Numbers are never cut."""


def value_of(facts: NameFacts, name: str) -> str | int | tuple[int, ...] | None:
    """What a token stands for; None where it is not known."""
    if name == "episodes":
        return "-".join(f"E{number:02}" for number in ends_of(facts.episode)) or None
    value: str | int | tuple[int, ...] | None = getattr(facts, name)
    if value is None and name.startswith("title_"):
        value = facts.title
    return None if value in ((), "") else value


def ends_of(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The first and the last of several numbers; the one where there is one."""
    return numbers if len(numbers) < 2 else (numbers[0], numbers[-1])


def joined_titles(titles: Mapping[float, str], episodes: Sequence[float]) -> str | None:
    """The titles of a file's episodes; None where one of them is not known.

    >>> joined_titles({1: "Rice", 2: "Water"}, (1, 2))
    'Rice & Water'
    """
    found = [titles[number] for number in episodes if number in titles]
    return " & ".join(found) if found and len(found) == len(episodes) else None
