"""What the names of one folder say together: the number that differs is the episode, the words that stay are the title."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kurabito.placements.plans.folders import OF_FILMS, read_folder, show_title
from kurabito.placements.plans.leading_numbers import (
    FEWEST,
    films_by_year,
    films_in_order,
    numbers_before_names,
    numbers_in_order,
    unclear_by_years,
)
from kurabito.placements.plans.model import WorkKind
from kurabito.placements.plans.own_names import is_numbered_by_machine
from kurabito.placements.plans.reading import EPISODE_WORD, SeasonFrom, VideoReading
from kurabito.placements.plans.seasons import LONGEST_SEASON, in_hundreds
from kurabito.placements.plans.words.specials import SHORT_SPECIAL
from kurabito.titles import parse_title

_CHECKSUM: Final = re.compile(r"[\[( ][0-9A-Fa-f]{8}[\])]?")
# The last episode may say that it is the last.
_ENDS: Final = re.compile(
    r"[ _.-]+[\[(]?(?:END|ENDE|FIN|FINE|Final|完|終)[\])]?(?=[ _.\[(-]|$)|[ _.]*\W?(?:大结局|大結局|最終回)\W?",
    re.I,
)
_DIGITS: Final = re.compile(r"\d+")
_COUNTED: Final = re.compile(rf"[ ._-]+(?:Part|Pt|Chapter|Episode|Ep|E|No|Vol|{EPISODE_WORD.pattern})[ ._#-]*$", re.I)
# A volume has several episodes, however many volumes there are.
_VOLUME: Final = re.compile(r"(?:^|[ ._-])(?:Vol(?:ume)?\.?|Dis[ck])[ ._#-]*\d{1,2}[ ._]*(?:[\[(【]|$)", re.I)
_PAIRED: Final = re.compile(r"(.*[^\W\d_].*?)[ ._]([1-9])-(\d{2})(?!\d)")
_WORDED_PART: Final = re.compile(
    r"(.*[^\W_])[ ._-]+(?:Part|Pt|Chapter|Episode|Teil|Del|Osa|Parte|Partie)(?:[ ._]+|(?=\d\d(?!\d)))([IVX]{1,5}|\d{1,2}|One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten)(?=[ ._-]|$)",
    re.I,
)
_NUMERALS: Final = "I II III IV V VI VII VIII IX X".split()
_NUMBER_WORDS: Final = "ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN".split()
_ISSUE: Final = re.compile(r"(.*?)[ _.\[-]*第(\d{1,4})期")
_SECTION: Final = re.compile(r"\d{1,3}[ ._-]+[^\W\d]")
_NAMED_NUMBER: Final = re.compile(
    r"(?:Part|Pt|Chapter|Episode|Ep|E|No|#|第)[ ._-]{0,2}\d|\d\s?(?:[话話集回]|화|of)", re.I
)
_FIRST_YEAR: Final = 1900
_SIZE_OF_FILM: Final = 2_500_000_000
_FEWEST_OF_YEAR: Final = 4
"""Films of one story have been shown in one year, but not so many."""


def read_together(readings: Sequence[VideoReading]) -> list[VideoReading]:
    """The same readings, with numbers and titles that only the other names of their folder tell."""
    by_folder: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        by_folder[reading.path.folders].append(place)
    found = list(readings)
    for places in by_folder.values():
        if len(places) >= FEWEST:
            together = [found[place] for place in places]
            for read in _STEPS:
                together = read(together)
            for place, reading in zip(places, together, strict=True):
                found[place] = reading
    return _in_sections(found)


def _counted(readings: list[VideoReading]) -> list[VideoReading]:
    """Give numbers to names that differ in one number only, where the parser found none or the same for all."""
    by_shape: dict[str, list[int]] = defaultdict(list)
    numbers: list[list[str]] = []
    for place, reading in enumerate(readings):
        plain = _CHECKSUM.sub("", reading.path.stem)
        numbers.append(_DIGITS.findall(plain))
        by_shape[_DIGITS.sub("#", _ENDS.sub("", plain))].append(place)
    found = list(readings)
    for places in by_shape.values():
        group = [readings[place] for place in places]
        if len(places) < FEWEST or not _needs_numbers(group):
            continue
        column = _differing([numbers[place] for place in places])
        if column is not None and not _may_be_films(group, [numbers[place][column] for place in places]):
            for place in places:
                found[place] = _with_number(readings[place], numbers[place], column)
    return found


def _in_parts(readings: list[VideoReading]) -> list[VideoReading]:
    """`Koji Part I`, `Koji Part II` without years, or many of one year: the parts of a mini-series. With years they are films."""
    by_name: dict[str, list[int]] = defaultdict(list)
    numbers: dict[int, int] = {}
    for place, reading in enumerate(readings):
        found = _WORDED_PART.match(reading.path.stem) if reading.kind is None else None
        if found and (number := _numeral(found[2])):
            by_name[found[1]].append(place)
            numbers[place] = number
    found_readings = list(readings)
    for name, places in by_name.items():
        years = {readings[place].own_year for place in places}
        fewest = FEWEST if years == {None} else _FEWEST_OF_YEAR
        if len(years) == 1 and len(places) >= fewest and len({numbers[place] for place in places}) == len(places):
            title = _title_in_front(name)
            for place in places:
                found_readings[place] = replace(
                    readings[place], kind=WorkKind.EPISODE, episodes=(numbers[place],), title=title, counted=True
                )
    return found_readings


def _title_in_front(written: str) -> str | None:
    """The title in what stands before the number of an episode; in `Koji 56 - Teil 1` a number is the name's."""
    told = parse_title(written)
    return " ".join(re.split(r"[ ._]+", written)) if told.episodes and not told.group else told.title


def _in_pairs(readings: list[VideoReading]) -> list[VideoReading]:
    """`Koji 2-01`, `Koji 2-02`: no two files have ranges that begin alike, so that the first number is the season."""
    found = [_PAIRED.match(reading.path.stem) for reading in readings]
    heads = {(one[1], one[2]) for one in found if one}
    last = {one[3] for one in found if one}
    if None in found or len(heads) != 1 or len(last) < len(readings):
        return readings
    ((name, season),) = heads
    title = parse_title(name).title
    return [
        replace(
            reading,
            kind=WorkKind.EPISODE,
            title=title,
            season=int(season),
            season_from=SeasonFrom.PAIR,
            episodes=(int(one[3]),),
            counted=True,
        )
        for reading, one in zip(readings, found, strict=True)
        if one
    ]


def _in_issues(readings: list[VideoReading]) -> list[VideoReading]:
    """`蔵人 第01期`, `蔵人 第02期`: the word counts seasons of anime, and the shows of a programme."""
    found = [_ISSUE.match(reading.path.stem) for reading in readings]
    numbers = {int(one[2]) for one in found if one}
    if None in found or len(numbers) < len(readings) or any(reading.episodes for reading in readings):
        return readings
    # `蔵人 第三季 第01期` says a season too.
    is_said = len({reading.season for reading in readings}) == 1
    return [
        replace(
            reading,
            kind=WorkKind.EPISODE,
            title=_title_before(reading, len(one[1])),
            season=reading.season if is_said else None,
            season_from=reading.season_from if is_said else SeasonFrom.NOTHING,
            episodes=(int(one[2]),),
            counted=True,
        )
        for reading, one in zip(readings, found, strict=True)
        if one
    ]


def _in_sections(readings: list[VideoReading]) -> list[VideoReading]:
    """`01 Rice/001 Washing`, `02 Yeast/003 Starter`: a course. Whether its sections are seasons is for a person to say."""
    sections: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for reading in readings:
        if _lies_in_section(reading):
            sections[reading.path.folders[:-1]].add(reading.path.folders[-1])
    return [
        replace(reading, kind=None, episodes=(), sectioned=True)
        if _lies_in_section(reading) and len(sections[reading.path.folders[:-1]]) > 1
        else reading
        for reading in readings
    ]


def _lies_in_section(reading: VideoReading) -> bool:
    *above, folder = reading.path.folders or ("",)
    return bool(above and _SECTION.match(folder)) and not reading.own_title and reading.season is None


def _in_hundred_of_folder(readings: list[VideoReading]) -> list[VideoReading]:
    """`Koji Season 4/koji.401.rice`, `Koji 4.01 Rice`: each number is the season of the folder and an episode, from the first on."""
    seasons = {reading.season if reading.season_from is SeasonFrom.FOLDER else None for reading in readings}
    season = seasons.pop() if len(seasons) == 1 else None
    if not season:
        return readings
    pattern = re.compile(rf"(?<![A-Za-z0-9]){season}\.?(\d\d)(?![A-Za-z0-9])")
    found = [list(pattern.finditer(reading.path.stem)) for reading in readings]
    numbers = [int(one[0][1]) for one in found if len(one) == 1]
    if len(set(numbers)) < len(readings) or 1 not in numbers or not all(0 < one <= LONGEST_SEASON for one in numbers):
        return readings
    is_dotted = all("." in at[0][0] for at in found)
    if not is_dotted and any(
        reading.episodes not in ((), (season * 100 + one,)) for reading, one in zip(readings, numbers, strict=True)
    ):
        return readings
    return [
        replace(reading, kind=WorkKind.EPISODE, episodes=(number,), title=_title_before(reading, at[0].start()))
        for reading, number, at in zip(readings, numbers, found, strict=True)
    ]


def _title_before(reading: VideoReading, at: int) -> str | None:
    """The title that stands before a number of the name, else that of the folders."""
    written = reading.path.stem[:at].rstrip(" -_.[(#")
    return (parse_title(written).title if written else None) or show_title(
        map(read_folder, reversed(reading.path.folders))
    )


def _numeral(word: str) -> int | None:
    if word.isdecimal():
        return int(word)
    for words in (_NUMERALS, _NUMBER_WORDS):
        if word.upper() in words:
            return words.index(word.upper()) + 1
    return None


def _needs_numbers(group: Sequence[VideoReading]) -> bool:
    # The days on which they were shown differ in one number too.
    if any(reading.kind not in (None, WorkKind.EPISODE) or reading.dated for reading in group):
        return False
    if any(SHORT_SPECIAL.search(reading.path.stem) for reading in group):
        return False
    if any(is_numbered_by_machine(reading.path) or _VOLUME.search(reading.path.stem) for reading in group):
        return False
    return any(reading.kind is None for reading in group) or len({reading.episodes for reading in group}) == 1


def _may_be_films(group: Sequence[VideoReading], numbers: Sequence[str]) -> bool:
    """`Koji 1`, `Koji 2`, each as large as a film or on a shelf for films."""
    is_shelf = any(OF_FILMS.search(folder) for folder in group[0].path.folders[-1:])
    is_short = all(len(number) == 1 for number in numbers) and group[0].season is None
    is_named = _NAMED_NUMBER.search(group[0].path.stem) is not None
    return is_short and not is_named and (is_shelf or all(one.path.size > _SIZE_OF_FILM for one in group))


def _differing(rows: Sequence[Sequence[str]]) -> int | None:
    """The one place at which the numbers differ, if they all do there."""
    columns = [column for column, values in enumerate(zip(*rows, strict=True)) if len(set(values)) > 1]
    if len(columns) != 1 or len({int(row[columns[0]]) for row in rows}) != len(rows):
        return None
    # What may be a year counts nothing.
    return columns[0] if all(int(row[columns[0]]) < _FIRST_YEAR for row in rows) else None


def _with_number(reading: VideoReading, numbers: Sequence[str], column: int) -> VideoReading:
    at = [found.span() for found in _DIGITS.finditer(_CHECKSUM.sub("", reading.path.stem))][column]
    written = _COUNTED.sub("", reading.path.stem[: at[0]]).rstrip(" -_.[(#")
    before = _title_in_front(written) if written and not EPISODE_WORD.fullmatch(written) else None
    above = show_title(map(read_folder, reversed(reading.path.folders)))
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


_STEPS: Final = (
    films_by_year,
    _in_hundred_of_folder,
    _in_parts,
    _in_pairs,
    _in_issues,
    numbers_in_order,
    numbers_before_names,
    _counted,
    films_in_order,
    unclear_by_years,
    in_hundreds,
)
"""In this order: what is surer is read first."""
