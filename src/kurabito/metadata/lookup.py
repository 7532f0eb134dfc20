"""Which title of TMDB is the one: by its exact name, and by nothing that only looks like it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple

from kurabito.metadata.pending import Lookup
from kurabito.metadata.records import RecordCandidate, RecordKind, TmdbKind
from kurabito.metadata.sources.tmdb import Title, TmdbClient
from kurabito.titles.numbers import han_number

_ROMAN: Final = {"II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}
_NUMBER: Final = r"(?P<number>\d{1,2}|[一二三四五六七八九十]{1,3})"
_SEASON_MARKS: Final = tuple(
    re.compile(rf"^(?P<name>.*[^\s(\[])\s*{mark}$", re.IGNORECASE)
    for mark in (
        rf"[(\[]?\s*第\s*{_NUMBER}\s*(?:期|シーズン|シリーズ|部|章)\s*[)\]]?",
        rf"[(\[]?\s*(?:Season|シーズン)\s*{_NUMBER}\s*[)\]]?",
        r"[(\[]?\s*(?P<number>\d{1,2})(?:st|nd|rd|th)\s+Season\s*[)\]]?",
        r"(?<![A-Za-z0-9])(?P<number>II|III|IV|VI{0,3}|IX|X)",
        r"(?<=\s)(?P<number>[2-9])",
    )
)
# A mark of a part says nothing about the season, and hides one that comes before it.
_PART_MARK: Final = re.compile(
    r"\s*[(\[]?\s*(?:第\s*[\d一二三四]\s*(?:クール|部分)|(?:Part|パート)[. ]?\d|後半|続編)\s*[)\]]?$", re.I
)


class Sequel(NamedTuple):
    """What a name says that ends with the mark of a season."""

    name: str
    season: int


def read_sequel(title: str) -> Sequel | None:
    """The show and the season that a name stands for; None when it has no such mark.

    >>> read_sequel("蔵の夜 第2期")
    Sequel(name='蔵の夜', season=2)
    """
    bare = _PART_MARK.sub("", unicodedata.normalize("NFKC", title).strip())
    for mark in _SEASON_MARKS:
        if found := mark.match(bare):
            number = found["number"]
            season = _ROMAN.get(number.upper()) or (int(number) if number.isdecimal() else han_number(number))
            return Sequel(found["name"].strip(), season)
    return None


async def look_up(tmdb: TmdbClient, title: str, year: int | None, kind: RecordKind = RecordKind.TV) -> Lookup:
    """The id of the title that began in this year, or a year before or after; raises TmdbError.

    An animation of the year itself is taken at once. Else all three years are weighed together. What cannot be told apart is
    not guessed at: it is listed for a person to choose.
    """
    if year is None:
        return Lookup()
    world = TmdbKind.MOVIE if kind is RecordKind.MOVIE else TmdbKind.TV
    matches = list((await tmdb.titles_of(world, year)).get(title, ()))
    if not any(match.is_animation for match in matches):
        for near in (year - 1, year + 1):
            matches += (await tmdb.titles_of(world, near)).get(title, ())
    if (chosen := weigh(matches, year)) is not None:
        return Lookup(chosen.id, world, poster_url=chosen.poster_url)
    if not matches and world is TmdbKind.TV and (sequel := read_sequel(title)):
        return Lookup(candidates=await _shows_before(tmdb, sequel, year))
    return Lookup(candidates=tuple(_candidate(match) for match in matches))


def weigh(matches: Sequence[Title], year: int) -> Title | None:
    """The one of several equal names: animation before anything else, then the nearest year; None when two are left."""
    best = [match for match in matches if match.is_animation] or list(matches)
    distances = {match.id: abs((match.year or year) - year) for match in best}
    nearest = min(distances.values(), default=0)
    left = [match for match in best if distances[match.id] == nearest]
    return left[0] if len(left) == 1 else None


async def _shows_before(tmdb: TmdbClient, sequel: Sequel, year: int) -> tuple[RecordCandidate, ...]:
    """TMDB keeps the seasons of a show in one entry, which has the name without the mark and began earlier."""
    found = await tmdb.search(TmdbKind.TV, sequel.name)
    return tuple(
        _candidate(show, sequel.season)
        for show in found
        if unicodedata.normalize("NFKC", show.name) == sequel.name and (show.year is None or show.year <= year)
    )


def _candidate(match: Title, season: int | None = None) -> RecordCandidate:
    return RecordCandidate(match.id, match.kind, match.name, match.year, match.is_animation, season)
