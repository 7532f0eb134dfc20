"""Titles of TMDB: what its lists say of a show or a film, and when two names are the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kurabito.metadata.errors import TmdbError
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.sources.answers import LONGEST_URL, MALFORMED, id_in, text_in
from kurabito.titles.text import storable

JAPANESE: Final = "ja"
_ANIMATION: Final = 16
_LAST_SEASON: Final = 9_999
# Films and shows have the same things under other names.
_DATE: Final = {TmdbKind.TV: "first_air_date", TmdbKind.MOVIE: "release_date"}
_NAME: Final = {TmdbKind.TV: "original_name", TmdbKind.MOVIE: "original_title"}
_LOCAL_NAME: Final = {TmdbKind.TV: "name", TmdbKind.MOVIE: "title"}
# The cross of a collaboration, the dashes before and behind a subtitle, an apostrophe: each is typed in several ways. The mark of
# a long vowel looks like a dash and is a letter, so it stays.
_SAME: Final = str.maketrans(
    {
        **dict.fromkeys("\u00d7\u2715\u2716", "x"),
        **dict.fromkeys("\u301c\u223c", "~"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u2018\u2019", "'"),
    }
)


class Title(NamedTuple):
    """A show or a film of TMDB, as far as it takes to recognise it."""

    id: int
    kind: TmdbKind
    name: str
    """In its own language."""
    year: int | None
    is_animation: bool
    poster_url: str | None
    language: str | None = None
    local_name: str | None = None
    """As TMDB calls it for the language of the request."""
    countries: Sequence[str] = ()
    """Where a show comes from, as codes of ISO 3166-1; TMDB says it of no film in a list."""

    @property
    def is_japanese(self) -> bool:
        return self.language in (None, JAPANESE)


class TmdbSeason(NamedTuple):
    """A season of a show of TMDB."""

    number: int
    year: int | None
    poster_url: str | None


Titles = Mapping[str, tuple[Title, ...]]
"""By their folded names, which several may share."""


def fold_name(name: str) -> str:
    """The name without what is only a way of typing it: width, case, spaces, which cross, which dash.

    >>> fold_name("Kura ✕ Yoru \u2015Asa\u2015")
    'kuraxyoru-asa-'
    """
    return "".join(unicodedata.normalize("NFKC", name).casefold().translate(_SAME).split())


def by_name(titles: Iterable[Title]) -> Titles:
    """Titles by their folded names."""
    named: dict[str, tuple[Title, ...]] = {}
    for title in titles:
        folded = fold_name(title.name)
        named[folded] = (*named.get(folded, ()), title)
    return named


def read_titles(kind: TmdbKind, answer: Any, image_url: str) -> list[Title]:
    """The titles of a list; one that has no id or no name is left out. Raises TmdbError when it is no list."""
    found = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise TmdbError("TMDB answered with something else than a list of titles")
    return [title for one in found if (title := _title(kind, one, image_url)) is not None]


def read_title(kind: TmdbKind, answer: dict[str, Any], image_url: str) -> Title | None:
    """The title of an answer about one; None when it has no name. There, genres have names as well."""
    genres = [genre["id"] for genre in answer.get("genres") or ()]
    return _title(kind, {**answer, "genre_ids": genres}, image_url)


def as_object(answer: Any, *, has: str | None = None) -> dict[str, Any]:
    """An answer that tells of one thing, and has a certain part; raises TmdbError when it is something else."""
    if not isinstance(answer, dict) or (has is not None and has not in answer):
        raise TmdbError("TMDB answered with something else than a title")
    return answer


def read_seasons(answer: Any, image_url: str) -> Iterator[TmdbSeason]:
    """The seasons of a show, as far as the answer has any."""
    found = answer.get("seasons") if isinstance(answer, dict) else None
    for one in found if isinstance(found, list) else ():
        number = one.get("season_number") if isinstance(one, dict) else None
        if isinstance(number, int) and 0 <= number <= _LAST_SEASON:
            yield TmdbSeason(number, _year_of(one.get("air_date")), poster_in(one, image_url))


def poster_in(answer: Any, image_url: str) -> str | None:
    """Where the poster of something is; None when it has none."""
    return picture_at(answer.get("poster_path"), image_url) if isinstance(answer, dict) else None


def picture_at(path: Any, image_url: str) -> str | None:
    """The URL of a picture that TMDB names by its path; None when it names none."""
    return f"{image_url}{storable(path)}"[:LONGEST_URL] if isinstance(path, str) and path else None


def read_count(answer: Any, name: str) -> int:
    """A number of an answer; raises TmdbError when it has none of that name."""
    value = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(value, int):
        raise TmdbError(f"TMDB answered without {name}")
    return value


def _title(kind: TmdbKind, found: Any, image_url: str) -> Title | None:
    try:
        name = text_in(found, _NAME[kind])
        return (
            None
            if name is None
            else Title(
                id_in(found),
                kind,
                name,
                _year_of(found.get(_DATE[kind])),
                _ANIMATION in (found.get("genre_ids") or ()),
                poster_in(found, image_url),
                text_in(found, "original_language"),
                text_in(found, _LOCAL_NAME[kind]),
                tuple(map(str, found.get("origin_country") or ())),
            )
        )
    except MALFORMED:
        return None


def _year_of(day: Any) -> int | None:
    text = str(day or "")[:4]
    return int(text) if text.isascii() and text.isdecimal() and len(text) == 4 else None
