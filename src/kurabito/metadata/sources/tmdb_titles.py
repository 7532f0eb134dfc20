"""Titles of TMDB: what its lists say of a show or a film, and when two names are the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kurabito.metadata.errors import TmdbError
from kurabito.metadata.records import TmdbKind

JAPANESE: Final = "ja"
_ANIMATION: Final = 16
# Films and shows have the same things under other names.
_DATE: Final = {TmdbKind.TV: "first_air_date", TmdbKind.MOVIE: "release_date"}
_NAME: Final = {TmdbKind.TV: "original_name", TmdbKind.MOVIE: "original_title"}
_LOCAL_NAME: Final = {TmdbKind.TV: "name", TmdbKind.MOVIE: "title"}
# The cross of a collaboration, and the dash before and behind a subtitle: each is typed in several ways.
_SAME: Final = str.maketrans({"\u00d7": "x", "\u2715": "x", "\u2716": "x", "\u301c": "~"})


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
    """The name without what is only a way of typing it: width, case, spaces, and the cross that is typed as an x.

    >>> fold_name("Kura ✕ Yoru")
    'kuraxyoru'
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


def read_seasons(answer: Any, image_url: str) -> Iterator[TmdbSeason]:
    """The seasons of a show, as far as the answer has any."""
    found = answer.get("seasons") if isinstance(answer, dict) else None
    for one in found if isinstance(found, list) else ():
        number = one.get("season_number") if isinstance(one, dict) else None
        if isinstance(number, int):
            yield TmdbSeason(number, _year_of(one.get("air_date")), poster_in(one, image_url))


def poster_in(answer: Any, image_url: str) -> str | None:
    """Where the poster of something is; None when it has none."""
    path = answer.get("poster_path") if isinstance(answer, dict) else None
    return f"{image_url}{path}" if isinstance(path, str) and path else None


def read_count(answer: Any, name: str) -> int:
    """A number of an answer; raises TmdbError when it has none of that name."""
    value = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(value, int):
        raise TmdbError(f"TMDB answered without {name}")
    return value


def _title(kind: TmdbKind, found: Any, image_url: str) -> Title | None:
    try:
        return Title(
            int(found["id"]),
            kind,
            str(found[_NAME[kind]]),
            _year_of(found.get(_DATE[kind])),
            _ANIMATION in (found.get("genre_ids") or ()),
            poster_in(found, image_url),
            found.get("original_language"),
            found.get(_LOCAL_NAME[kind]),
            tuple(map(str, found.get("origin_country") or ())),
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def _year_of(day: Any) -> int | None:
    text = str(day or "")[:4]
    return int(text) if text.isdecimal() and len(text) == 4 else None
