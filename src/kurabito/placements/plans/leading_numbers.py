"""What the numbers and years say that stand before the names of one folder."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from kurabito.placements.plans.folders import FolderKind, folder_kind, read_folder, show_title
from kurabito.placements.plans.model import WorkKind
from kurabito.placements.plans.reading import VideoReading, part_of_film

# `01 Rice`, `02. 24 Casks`: whatever stands behind numbers that go on from one to the next is a name.
_IN_LINE: Final = re.compile(r"(\d{2,3})(?:\.\s|\s?-\s|[\s_\u3001])\s*(?=\S)")
# The number before the name of an episode: `1. Rice`, `2 - Water`, `3 Yeast`.
_LEADING: Final = re.compile(r"(\d{1,3})(\.\s|\s?-\s|[\s_.\u3001])[\s_.-]*(?=[^\W\d])")
_IN_ORDER: Final = re.compile(r"^\d{1,3}(?:\.\s|\s?-\s)")
_NUMBERED_FILM: Final = re.compile(
    r"\d{1,2}\s(?:-\s)?([^\W\d].*?)\s\((?:19|20)\d\d\)(?:\s(?:CD|Disc|Part)\s?\d)?", re.I
)
_YEAR_AS_NAME: Final = re.compile(r"\s-\s\d{2,3}\s-\s(?:19|20)\d\d$")
_COUNTED_BY_WORD: Final = re.compile(r"(?<![A-Za-z])(?:Folge|Episode|Ep|E)[ ._]?\d|第\d+[話话集]", re.I)
_YEAR_FIRST: Final = re.compile(r"((?:19|20)\d\d)\s?[-.]\s?(\S.*)")
_YEAR_BEFORE_BLANK: Final = re.compile(r"((?:19|20)\d\d) (\S.*)")
FEWEST: Final = 3
"""Two names that differ in a number may be two works."""


def numbers_in_order(readings: list[VideoReading]) -> list[VideoReading]:
    """`01 Rice`, `02 24 Casks`, `03 Year 2000` in the folder of a show: what a name has in it counts nothing."""
    led = [_IN_LINE.match(reading.path.stem) for reading in readings]
    numbers = [int(one[1]) for one in led if one]
    if len(set(numbers)) < len(readings) or max(numbers) - min(numbers) >= len(numbers):
        return readings
    above = show_title(map(read_folder, reversed(readings[0].path.folders)))
    is_even = len({len(one[1]) for one in led if one}) == 1
    many_years = 2 * sum(one.own_year is not None for one in readings) > len(readings)
    is_sorted = folder_kind(readings[0].path.folders[-1]) in (FolderKind.SPECIALS, FolderKind.FILMS) if above else True
    if is_sorted or not is_even or many_years or any(one.dated for one in readings):
        return readings
    if all(reading.episodes == (number,) for reading, number in zip(readings, numbers, strict=True)):
        return readings
    return [
        _numbered(reading, number, above) if reading.kind is not WorkKind.SPECIAL or reading.label == "0" else reading
        for reading, number in zip(readings, numbers, strict=True)
    ]


def _numbered(reading: VideoReading, number: int, title: str | None) -> VideoReading:
    return replace(
        reading, kind=WorkKind.EPISODE, episodes=(number,), title=title, own_title=False, part=None, counted=True
    )


def numbers_before_names(readings: list[VideoReading]) -> list[VideoReading]:
    """`1. Rice`, `2. Water`, in the folder of a show: the number before each name is its episode."""
    if all(_IN_ORDER.match(one.title or "") and one.own_year and not one.episodes for one in readings):
        # `1. Koji (2001)`, `2. Sake (2003)`: films, and the numbers only their order.
        return [replace(one, title=_IN_ORDER.sub("", str(one.title))) for one in readings]
    led = [_LEADING.match(reading.path.stem) for reading in readings]
    numbers = [int(one[1]) for one in led if one]
    if len(numbers) < len(readings) or len(set(numbers)) < len(numbers):
        return readings
    above = show_title(map(read_folder, reversed(readings[0].path.folders)))
    if above is None:
        return readings
    # `12 Brewers`, `7 Barrels`: with only a blank behind it, a number counts where it goes on from the one before.
    gaps = max(numbers) - min(numbers) + 1 - len(numbers)
    if gaps and any(one[2] in (" ", "_", ".") for one in led if one):
        return readings
    if any(one.own_year or one.dated or one.kind not in (None, WorkKind.EPISODE) for one in readings):
        return readings
    return [
        _numbered(reading, number, above) if reading.kind is None else reading
        for reading, number in zip(readings, numbers, strict=True)
    ]


def films_in_order(readings: list[VideoReading]) -> list[VideoReading]:
    """`01 - Koji (1984)`, `02 - Sake (1986)`: works of different years are films, and the numbers only their order."""
    years = {reading.own_year for reading in readings}
    led = [_NUMBERED_FILM.fullmatch(one.path.stem) for one in readings]
    # `12 Angry Brewers (1957)` has no number but its own.
    is_named = all(led) and any(one.path.stem.startswith("0") for one in readings)
    names = [one[1] if is_named and one else reading.words for reading, one in zip(readings, led, strict=True)]
    if None in years or len(years) < (2 if is_named else FEWEST) or not all(names):
        return readings
    if not is_named and any(reading.own_title for reading in readings):
        return readings
    return [
        replace(
            reading,
            part=part_of_film(reading.path.stem, name),
            kind=WorkKind.FILM,
            title=name,
            own_title=True,
            episodes=(),
            year=reading.own_year,
        )
        for reading, name in zip(readings, names, strict=True)
    ]


def unclear_by_years(readings: list[VideoReading]) -> list[VideoReading]:
    """`Koji - 01 - Rice (1962)`, `Koji - 02 - Water (1965)`: one a year. Films in their order, or not: a person says it."""
    years = {reading.own_year for reading in readings}
    is_named = all(reading.own_title and reading.season is None and reading.episodes for reading in readings)
    if is_named and all(_YEAR_AS_NAME.search(reading.path.stem) for reading in readings):
        # `Koji - 01 - 1964`: what the episode is called.
        return [replace(reading, year=None, own_year=None) for reading in readings]
    if any(_COUNTED_BY_WORD.search(reading.path.stem) for reading in readings):
        return readings
    # The episodes of one show are rarely of so many years.
    if None in years or len(years) < 2 or 2 * len(years) < len(readings) or not is_named:
        return readings
    return [replace(reading, kind=None, episodes=(), dated=True) for reading in readings]


def films_by_year(readings: list[VideoReading]) -> list[VideoReading]:
    """`1984 - Koji`, `1986 - Sake`: films by their years. One name alone may be a title, as `2001 - A Space Odyssey` is.

    Beside them may be films whose year stands behind the name.
    """
    found = [_YEAR_FIRST.fullmatch(reading.title or "") for reading in readings]
    if not any(found):
        # With only a blank behind it, a year is one where all names begin so.
        led = [_YEAR_BEFORE_BLANK.fullmatch(reading.title or "") for reading in readings]
        found = led if all(led) else found
    years = {int(one[1]) for one in found if one}
    is_dated = all(one or reading.own_year for reading, one in zip(readings, found, strict=True))
    if len(years) < FEWEST or not is_dated or any(reading.episodes for reading in readings):
        return readings
    return [
        replace(reading, kind=WorkKind.FILM, title=one[2], own_title=True, year=int(one[1])) if one else reading
        for reading, one in zip(readings, found, strict=True)
    ]
