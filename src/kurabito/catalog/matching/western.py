"""Shows and films that are no anime: the one that a folder is about, where TMDB knows it by exactly the name of the folder.

An anime of the name goes first, and Japanese live action never decides: folders of anime are called like it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from kurabito.catalog.matching.clues import FolderReading
from kurabito.metadata.lookup import TitleSource, nearest
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.sources.tmdb import Title
from kurabito.titles.text import is_foreign

PAGE: Final = 20
"""Titles that TMDB gives in one answer. Fewer are all that it knows by a name."""
_FIRST_SEASON: Final = 1
# Shelves are sorted by the word that counts: Office, The.
_ARTICLE_BEHIND: Final = re.compile(r"^(?P<name>.+), (?P<article>the|a|an)$", re.IGNORECASE)
_WORDS: Final = re.compile(r"[^\W_]+")


def may_be_western(reading: FolderReading) -> bool:
    """Whether a folder may be about something that is known by an English name."""
    names = reading.names or reading.names_of_files
    return bool(names) and not any(is_foreign(name.shown) for name in names)


def called(reading: FolderReading, titles: Sequence[Title]) -> list[Title]:
    """Those that have a name of the folder, and come from the country that it names."""
    names = [*(reading.names or reading.names_of_files), *([reading.whole] if reading.whole else [])]
    keys = {western_key(name.shown) for name in names}
    return [
        title
        for title in titles
        if keys.intersection(western_key(name) for name in (title.name, title.local_name or "") if name)
        and (reading.country is None or not title.countries or reading.country in title.countries)
    ]


def western_key(name: str) -> str:
    """What names are compared by: letters and digits without accents, and without the "and" that is also typed as a sign.

    >>> western_key("Office, The") == western_key("The Office")
    True
    """
    name = _ARTICLE_BEHIND.sub(r"\g<article> \g<name>", name)
    folded = unicodedata.normalize("NFKD", name).casefold().replace("'", "").replace("\u2019", "")
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    words = [word for word in _WORDS.findall(bare) if word != "and"]
    return "".join(words) or bare.strip()


async def choose(
    tmdb: TitleSource, reading: FolderReading, found: Sequence[Title], *, is_all: bool, is_known_here: bool
) -> Title | None:
    """The one of what was found that the folder is about; None when it cannot be told. Raises TmdbError.

    `is_all` says that TMDB knows no more by these names. Only then, and where the index knows none, a name without a year is
    enough, if it is the name of one thing alone.
    """
    exact = called(reading, found)
    if reading.year is None:
        alone = exact[0] if len(exact) == 1 and is_all and not is_known_here else None
        return alone if alone is not None and not alone.is_japanese else None
    near = [title for title in exact if title.year is not None and abs(title.year - reading.year) <= 1]
    if any(title.is_animation and title.is_japanese for title in near):
        return None
    chosen = nearest(near, reading.year)
    if chosen is None and not near:
        chosen = await _by_its_season(tmdb, reading, exact)
    return None if chosen is None or chosen.is_japanese else chosen


async def _by_its_season(tmdb: TitleSource, reading: FolderReading, exact: Sequence[Title]) -> Title | None:
    """The show whose season began in the year of the folder, which may be years after the show did."""
    shows = [title for title in exact if title.kind is TmdbKind.TV and not title.is_japanese]
    if len(shows) != 1 or reading.year is None or (reading.season or _FIRST_SEASON) == _FIRST_SEASON:
        return None
    for season in await tmdb.seasons_of(shows[0].id):
        if season.number == reading.season and season.year is not None and abs(season.year - reading.year) <= 1:
            return shows[0]
    return None
