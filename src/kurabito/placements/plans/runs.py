"""What the names of one folder say together: the number that differs is the episode, the words that stay are the title."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from kurabito.placements.plans.folders import read_folder
from kurabito.placements.plans.model import WorkKind
from kurabito.placements.plans.reading import VideoReading
from kurabito.titles import fold_title, parse_title

_CHECKSUM: Final = re.compile(r"[\[( ][0-9A-Fa-f]{8}[\])]?")
_DIGITS: Final = re.compile(r"\d+")
_COUNTED: Final = re.compile(r"[ ._-]+(?:Part|Pt|Episode|Ep|E|No|Vol)[ ._#-]*$", re.I)
_YEAR_FIRST: Final = re.compile(r"((?:19|20)\d\d)\s?[-.]\s?(\S.*)")
_FEWEST: Final = 3
"""Two names that differ in a number may be two works."""


def read_together(readings: Sequence[VideoReading]) -> list[VideoReading]:
    """The same readings, with numbers and titles that only the other names of their folder tell."""
    by_folder: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        by_folder[reading.path.folders].append(place)
    found = list(readings)
    for places in by_folder.values():
        if len(places) >= _FEWEST:
            together = _agreed(_collected(_counted(_by_year([found[place] for place in places]))))
            for place, reading in zip(places, together, strict=True):
                found[place] = reading
    return found


def _counted(readings: list[VideoReading]) -> list[VideoReading]:
    """Give numbers to names that differ in one number only, where the parser found none or the same for all."""
    by_shape: dict[str, list[int]] = defaultdict(list)
    numbers: list[list[str]] = []
    for place, reading in enumerate(readings):
        plain = _CHECKSUM.sub("", reading.path.stem)
        numbers.append(_DIGITS.findall(plain))
        by_shape[_DIGITS.sub("#", plain)].append(place)
    found = list(readings)
    for places in by_shape.values():
        group = [readings[place] for place in places]
        if len(places) < _FEWEST or not _needs_numbers(group):
            continue
        column = _differing([numbers[place] for place in places])
        if column is not None:
            for place in places:
                found[place] = _with_number(readings[place], numbers[place], column)
    return found


def _collected(readings: list[VideoReading]) -> list[VideoReading]:
    """`01 - Koji (1984)`, `02 - Sake (1986)`: works of different years are films, and the numbers only their order."""
    years = {reading.own_year for reading in readings}
    if None in years or len(years) < _FEWEST or any(reading.own_title or not reading.words for reading in readings):
        return readings
    return [
        replace(reading, kind=WorkKind.FILM, title=reading.words, own_title=True, episodes=(), year=reading.own_year)
        for reading in readings
    ]


def _by_year(readings: list[VideoReading]) -> list[VideoReading]:
    """`1984 - Koji`, `1986 - Sake`: films by their years. One name alone may be a title, as `2001 - A Space Odyssey` is."""
    found = [_YEAR_FIRST.fullmatch(reading.title or "") for reading in readings]
    years = [int(one[1]) for one in found if one]
    if len(years) < len(readings) or len(set(years)) < _FEWEST or any(reading.episodes for reading in readings):
        return readings
    return [
        replace(reading, kind=WorkKind.FILM, title=one[2], own_title=True, year=int(one[1]))
        for reading, one in zip(readings, found, strict=True)
        if one
    ]


def _needs_numbers(group: Sequence[VideoReading]) -> bool:
    if any(reading.kind not in (None, WorkKind.EPISODE) for reading in group):
        return False
    return any(reading.kind is None for reading in group) or len({reading.episodes for reading in group}) == 1


def _differing(rows: Sequence[Sequence[str]]) -> int | None:
    """The one place at which the numbers differ, if they all do there."""
    columns = [column for column, values in enumerate(zip(*rows, strict=True)) if len(set(values)) > 1]
    if len(columns) != 1 or len({int(row[columns[0]]) for row in rows}) != len(rows):
        return None
    return columns[0] if all(int(row[columns[0]]) < 2000 for row in rows) else None


def _with_number(reading: VideoReading, numbers: Sequence[str], column: int) -> VideoReading:
    at = [found.span() for found in _DIGITS.finditer(_CHECKSUM.sub("", reading.path.stem))][column]
    written = _COUNTED.sub("", reading.path.stem[: at[0]]).rstrip(" -_.[(#")
    before = parse_title(written).title if written else None
    above = next((told.title for told in map(read_folder, reversed(reading.path.folders)) if told.title), None)
    # `01.Kura.1080p`, `02.Kura.1080p`: the number is first, and nothing else differs.
    behind = reading.path.stem[at[1] :].lstrip(" -_.])、") if not (written or above) else ""
    return replace(
        reading,
        kind=WorkKind.EPISODE,
        episodes=(int(numbers[column]),),
        title=before or above or (parse_title(behind).title if behind else None) or reading.title,
        own_title=before is not None,
        counted=True,
    )


def _agreed(readings: list[VideoReading]) -> list[VideoReading]:
    """Where every episode has another title, its own name was read into it: what all begin with is the show's."""
    places = [
        place for place, one in enumerate(readings) if one.kind is WorkKind.EPISODE and one.own_title and one.title
    ]
    titles = [str(readings[place].title) for place in places]
    if len(places) < _FEWEST or len({fold_title(title) for title in titles}) <= len(places) / 2:
        return readings
    shared = _shared_words(titles)
    above = [told for told in map(read_folder, reversed(readings[0].path.folders)) if told.title]
    title = shared or (str(above[0].title) if above else None)
    if title is None:
        return readings
    found = list(readings)
    for place in places:
        found[place] = replace(readings[place], title=title, own_title=bool(shared))
    return found


def _shared_words(titles: Iterable[str]) -> str:
    """The words that all titles begin with."""
    rows = [title.split() for title in titles]
    shared: list[str] = []
    for words in zip(*rows, strict=False):
        if len({word.casefold() for word in words}) > 1:
            break
        shared.append(words[0])
    return " ".join(shared).rstrip(" -:~")


def shown_titles(readings: Iterable[VideoReading]) -> dict[str, str]:
    """How each title is written most often, by its letters and digits alone; as its folder writes it, where no file has capitals."""
    written: dict[str, Counter[str]] = defaultdict(Counter)
    above: dict[str, str] = {}
    for reading in readings:
        if reading.title:
            written[fold_title(reading.title)][reading.title] += 1
            above |= {fold_title(title): title for title in map(_title_of, reading.path.folders) if title}
    shown = {folded: counts.most_common(1)[0][0] for folded, counts in written.items()}
    return {folded: above.get(folded, title) if title.islower() else title for folded, title in shown.items()}


def _title_of(folder: str) -> str | None:
    return read_folder(folder).title
