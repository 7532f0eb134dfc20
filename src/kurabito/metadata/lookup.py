"""Which title of TMDB is the one: by its name, however it is typed, and by nothing that only looks like it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from kurabito.metadata.pending import Lookup
from kurabito.metadata.records import RecordCandidate, RecordKind, TmdbKind
from kurabito.metadata.sources.tmdb_titles import Title, Titles, TmdbSeason, fold_name
from kurabito.titles.numbers import FORMAL_HAN, han_number

_ROMAN: Final = {"II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}
_NUMBER: Final = r"(?P<number>\d{1,2}|[一二三四五六七八九十]{1,3})"
_SEASON_MARKS: Final = tuple(
    re.compile(rf"^(?P<name>.*[^\s(\[])\s*{mark}$", re.IGNORECASE)
    for mark in (
        rf"[(\[]?\s*第\s*{_NUMBER}\s*(?:期|季|シーズン|シリーズ|部|章)\s*[)\]]?",
        rf"[(\[]?\s*(?:Season|シーズン)\s*{_NUMBER}\s*[)\]]?",
        r"[(\[]?\s*(?P<number>\d{1,2})(?:st|nd|rd|th)\s+Season\s*[)\]]?",
        r"(?<![A-Za-z0-9])(?P<number>II|III|IV|VI{0,3}|IX|X)",
        r"(?<=\s)(?P<number>[2-9])",
        # `夏の蔵 漆`, `蔵の夜 弐ノ章`: hardly a name ends so otherwise.
        rf"(?<=\s)(?P<number>[{FORMAL_HAN}]|[{FORMAL_HAN}二三四五六七八九](?=[ノの之]章))(?:[ノの之]章)?",
    )
)
# A mark of a part says nothing about the season, and hides one that comes before it.
_PART_MARK: Final = re.compile(
    r"\s*[(\[]?\s*(?:第\s*[\d一二三四]\s*(?:クール|部分)|(?:Part|パート)[. ]?\d|後半|続編)\s*[)\]]?$", re.I
)
_COUNTED_PART: Final = re.compile(
    r"^(?P<name>.*[^\s(\[])\s*[(\[]?\s*"
    r"(?:第\s*(?P<han>\d|[一二三四])\s*(?:クール|部分)|(?:Part|パート|Cour)[. ]?(?P<digit>\d))\s*[)\]]?$",
    re.IGNORECASE,
)
# TMDB has many an OVA, and some web series, among its films.
_WORLDS: Final = {
    RecordKind.TV: (TmdbKind.TV,),
    RecordKind.WEB: (TmdbKind.TV, TmdbKind.MOVIE),
    RecordKind.OVA: (TmdbKind.TV, TmdbKind.MOVIE),
    RecordKind.MOVIE: (TmdbKind.MOVIE,),
}


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


class SeasonPart(NamedTuple):
    """What a name says that ends with the mark of a part."""

    name: str
    part: int


def read_part(title: str) -> SeasonPart | None:
    """The name and the part of a season that a name stands for; None when it has no such mark.

    >>> read_part("蔵の夜(第2クール)")
    SeasonPart(name='蔵の夜', part=2)
    """
    found = _COUNTED_PART.match(unicodedata.normalize("NFKC", title).strip())
    return None if found is None else SeasonPart(found["name"], han_number(found["han"] or found["digit"]))


class TitleSource(Protocol):
    """Who is asked for titles: TMDB itself, or TMDB as one sync asks it."""

    async def titles_of(self, kind: TmdbKind, year: int) -> Titles: ...

    async def search(self, kind: TmdbKind, name: str, year: int | None = None) -> list[Title]: ...

    async def seasons_of(self, show_id: int) -> list[TmdbSeason]: ...


async def look_up(tmdb: TitleSource, title: str, year: int | None, kind: RecordKind = RecordKind.TV) -> Lookup:
    """The id of the title that began in this year, or a year before or after; raises TmdbError.

    An animation of the year itself is taken at once. Else all three years are weighed together. What cannot be told apart is
    not guessed at: it is listed for a person to choose. A film that stands where an OVA or a web series is looked for is the
    same to TMDB, so films are looked at too where no show has the name. A special of television is one of its films as well.
    """
    found: list[Title] = []
    for world in _WORLDS[kind]:
        matches = await _matches(tmdb, world, title, year)
        found += matches
        if (chosen := weigh(matches, year, title)) is not None:
            return Lookup(chosen.id, world, poster_url=chosen.poster_url)
        if any(match.is_animation for match in matches):
            break
    if not found and kind is not RecordKind.MOVIE and (sequel := read_sequel(title)):
        return await _look_up_sequel(tmdb, sequel, year, kind)
    if not found and kind is RecordKind.TV and year is not None:
        return await _look_up_special(tmdb, title, year)
    return Lookup(candidates=tuple(_candidate(match) for match in found))


async def look_up_western(tmdb: TitleSource, title: str, year: int | None, kind: RecordKind) -> Lookup:
    """The id of a show or film that is known by its English name; raises TmdbError.

    Such a name is no Japanese one, so TMDB's search is asked and not its lists, and nothing has to be an animation. Without a
    year a name alone decides nothing.
    """
    world = _WORLDS[kind][0]
    folded = fold_name(title)
    found = [
        match
        for match in await tmdb.search(world, title)
        if folded in (fold_name(match.name), fold_name(match.local_name or ""))
        and (year is None or match.year is None or abs(match.year - year) <= 1)
    ]
    chosen = None if year is None else nearest([match for match in found if match.year is not None], year)
    if chosen is not None:
        return Lookup(chosen.id, world, poster_url=chosen.poster_url)
    return Lookup(candidates=tuple(_candidate(match) for match in found))


def weigh(matches: Sequence[Title], year: int | None, title: str | None = None) -> Title | None:
    """The one of several equal names: only animations count, the name letter by letter first, then the nearest year.

    None when two are left, or none: a live action that has the name alone is not what an anime record is about.
    """
    animations = [match for match in matches if match.is_animation]
    return nearest([match for match in animations if match.name == title] or animations, year)


def nearest(matches: Sequence[Title], year: int | None) -> Title | None:
    """The one that began nearest to the year; None when several did, or there is none."""
    distances = [0 if year is None else abs((match.year or year) - year) for match in matches]
    least = min(distances, default=0)
    left = [match for match, distance in zip(matches, distances, strict=True) if distance == least]
    return left[0] if len(left) == 1 else None


async def _matches(tmdb: TitleSource, world: TmdbKind, title: str, year: int | None) -> list[Title]:
    """What has this name in the year, and unless an animation does, in the years beside it; without a year, ever."""
    folded = fold_name(title)
    if year is None:
        return [match for match in await tmdb.search(world, title) if _is_japanese(match, folded)]
    matches = list((await tmdb.titles_of(world, year)).get(folded, ()))
    if not any(match.is_animation for match in matches):
        for near in (year - 1, year + 1):
            matches += (await tmdb.titles_of(world, near)).get(folded, ())
    return matches


async def _look_up_sequel(tmdb: TitleSource, sequel: Sequel, year: int | None, kind: RecordKind) -> Lookup:
    """TMDB keeps the seasons of a show in one entry, which has the name without the mark and began earlier.

    Where that entry has the season, and the season began when the record says, it is the one; else a person confirms it. An
    OVA counts apart from the seasons, so its number decides nothing.
    """
    folded = fold_name(sequel.name)
    shows = [
        show
        for show in await tmdb.search(TmdbKind.TV, sequel.name)
        if _is_japanese(show, folded) and (year is None or show.year is None or show.year <= year)
    ]
    animations = [show for show in shows if show.is_animation]
    if len(animations) == 1 and year is not None and kind is not RecordKind.OVA:
        (show,) = animations
        for season in await tmdb.seasons_of(show.id):
            if season.number == sequel.season and season.year is not None and abs(season.year - year) <= 1:
                return Lookup(show.id, TmdbKind.TV, season.number, season.poster_url or show.poster_url)
    return Lookup(candidates=tuple(_candidate(show, sequel.season) for show in shows))


async def _look_up_special(tmdb: TitleSource, title: str, year: int) -> Lookup:
    """The film that a special of television is at TMDB: of the year itself, because the two have the same first day.

    One search is less than the lists of the films of three years, which few records would need.
    """
    folded = fold_name(title)
    films = await tmdb.search(TmdbKind.MOVIE, title, year)
    found = [film for film in films if _is_japanese(film, folded) and film.year == year]
    if (chosen := weigh(found, year, title)) is not None:
        return Lookup(chosen.id, TmdbKind.MOVIE, poster_url=chosen.poster_url)
    return Lookup(candidates=tuple(map(_candidate, found)))


def _is_japanese(match: Title, folded: str) -> bool:
    return fold_name(match.name) == folded and match.is_japanese


def _candidate(match: Title, season: int | None = None) -> RecordCandidate:
    return RecordCandidate(match.id, match.kind, match.name, match.year, match.is_animation, season)
