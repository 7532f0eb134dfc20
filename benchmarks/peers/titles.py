"""Other parsers of release titles, each giving what it understood in one shape."""

# mypy: disable-error-code="import-untyped, import-not-found"

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Understood:
    """What a parser says about a title, as far as the corpus asks."""

    title: str | None = None
    episodes: frozenset[float] = frozenset()
    seasons: frozenset[float] = frozenset()
    groups: tuple[str, ...] = field(default=())
    resolution: str | None = None
    doubtful: bool = False
    """Whether the parser itself says that a number may be wrong."""


Parser = Callable[[str], Understood]


def kurabito() -> Parser:
    from kurabito.titles import parse_title

    def parse(text: str) -> Understood:
        found = parse_title(text)
        return Understood(
            found.title,
            frozenset(map(float, found.episodes)),
            frozenset(map(float, found.seasons)),
            (found.group, *found.groups) if found.group else (),
            str(found.resolution) if found.resolution else None,
            doubtful=bool(found.doubts),
        )

    return parse


def anitopy() -> Parser:
    import anitopy as library

    def parse(text: str) -> Understood:
        found: dict[str, Any] = library.parse(text) or {}
        return Understood(
            found.get("anime_title"),
            numbers(found.get("episode_number")),
            numbers(found.get("anime_season")),
            tuple(many(found.get("release_group"))),
            found.get("video_resolution"),
        )

    return parse


def aniparse() -> Parser:
    import aniparse as library

    def parse(text: str) -> Understood:
        found: dict[str, Any] = library.parse(text) or {}
        series = (found.get("series") or [{}])[0]
        sizes = found.get("video_resolution") or [{}]
        return Understood(
            series.get("title"),
            _sequence(series.get("episode")),
            _sequence(series.get("season")),
            tuple(many(found.get("release_group"))),
            str(sizes[0].get("video_height")) if sizes[0].get("video_height") else None,
        )

    return parse


def guessit() -> Parser:
    import guessit as library

    def parse(text: str) -> Understood:
        found: dict[str, Any] = library.guessit(text)
        return Understood(
            next(iter(many(found.get("title"))), None),
            numbers(found.get("episode")),
            numbers(found.get("season")),
            tuple(many(found.get("release_group"))),
            found.get("screen_size"),
        )

    return parse


def ptn() -> Parser:
    import PTN

    def parse(text: str) -> Understood:
        found: dict[str, Any] = PTN.parse(text)
        return Understood(
            found.get("title"),
            numbers(found.get("episode")),
            numbers(found.get("season")),
            tuple(many(found.get("encoder"))),
            found.get("resolution"),
        )

    return parse


def rtn() -> Parser:
    import RTN

    def parse(text: str) -> Understood:
        found = RTN.parse(text)
        return Understood(
            found.parsed_title,
            numbers(found.episodes),
            numbers(found.seasons),
            tuple(many(found.group)),
            found.resolution,
        )

    return parse


PEERS: dict[str, Callable[[], Parser]] = {
    "anitopy": anitopy,
    "aniparse": aniparse,
    "guessit": guessit,
    "PTN": ptn,
    "RTN": rtn,
}


def many(value: Any) -> list[Any]:
    """None, one or several, as a list."""
    return value if isinstance(value, list) else [] if value is None else [value]


def numbers(value: Any) -> frozenset[float]:
    """The numbers in a value; `4a` is the first half of 4."""
    found = (re.match(r"\d+(?:\.\d+)?", str(one)) for one in many(value))
    return frozenset(float(one[0]) for one in found if one)


def _sequence(value: Iterable[dict[str, Any]] | None) -> frozenset[float]:
    """Numbers of aniparse: single ones, and ranges with a start and an end."""
    found: set[float] = set()
    for one in value or ():
        if "start" in one and "end" in one:
            first, last = one["start"].get("number"), one["end"].get("number")
            if isinstance(first, int) and isinstance(last, int):
                found |= set(map(float, range(first, last + 1)))
        else:
            found |= numbers(one.get("number"))
    return frozenset(found)
