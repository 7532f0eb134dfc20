"""What a dump says of an entry, in one form for all dumps."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Final

from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind
from kurabito.titles import fold_title
from kurabito.titles.romaji import romaji_key
from kurabito.titles.text import storable

ROMAJI: Final = "x-jat"
"""Japanese in Latin letters, as AniDB calls it."""
LONGEST_NAME: Final = 300
MOST_NAMES: Final = 200
_LONGEST_FOLDED: Final = 2 * LONGEST_NAME
"""One letter may fold to eighteen, and an index of PostgreSQL holds no text of many kilobytes."""

_SHORTEST_SOUND: Final = 8
_SUBTITLED: Final = re.compile(r"(.+第\s?[\d一二三四五六七八九十]{1,3}\s?[季期])\s?「[^」]+」$")
_ACCENTS: Final = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
_ARTICLE: Final = re.compile(r"^the\s+(?=\S+\s+\S)", re.IGNORECASE)
_CROSSES: Final = str.maketrans("\u00d7\u2715\u2716", "xxx")
_KANA: Final = re.compile("[\u3041-\u30ff]")
_HANGUL: Final = re.compile("[\uac00-\ud7af]")
_HAN: Final = re.compile("[\u3400-\u9fff]")


class DumpSource(StrEnum):
    """The project that a file is of."""

    BANGUMI_DATA = "bangumi-data"
    ANIDB = "anidb"
    OFFLINE_DATABASE = "anime-offline-database"
    ANIME_LISTS = "anime-lists"
    ARCHIVE = "bangumi-archive"


@dataclass(frozen=True, slots=True)
class DumpName:
    """A name of an entry."""

    title: str
    language: str | None = None
    """None where the source does not say and the letters do not tell."""
    is_own: bool = True
    """Its title, in whatever language; else what people call it, which may be the name of another entry."""


@dataclass(frozen=True, slots=True)
class FirstEpisode:
    """Which number the first episode of an entry has, by one source."""

    number: int
    season: int | None = None
    """In which season of the show; None where episodes are counted through all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpEntry:
    """A show's season, a film or an OVA, as far as one dump knows it."""

    names: tuple[DumpName, ...] = ()
    kind: RecordKind | None = None
    ids: Ids = field(default_factory=Ids)
    year: int | None = None
    air_date: date | None = None
    episode_count: int | None = None
    first: FirstEpisode | None = None
    show: int | None = None
    """The show of TMDB that it is a part of, which is no id of its own."""
    related: tuple[int, ...] = ()
    """The ids of bgm.tv of entries that tell the same story: prequels, sequels, side stories, summaries."""

    def as_stored(self) -> dict[str, Any]:
        """As the database keeps it: only what is known."""
        stored: dict[str, Any] = {
            "names": [[name.title, name.language, int(name.is_own)] for name in self.names],
            "kind": self.kind,
            "ids": self.ids.as_stored(),
            "year": self.year,
            "air_date": None if self.air_date is None else self.air_date.isoformat(),
            "episode_count": self.episode_count,
            "first": None if self.first is None else [self.first.number, self.first.season],
            "show": self.show,
            "related": self.related,
        }
        return {name: value for name, value in stored.items() if value}

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> DumpEntry:
        """What `as_stored` wrote."""
        kind, day, first = stored.get("kind"), stored.get("air_date"), stored.get("first")
        return cls(
            names=tuple(DumpName(title, language, bool(own)) for title, language, own in stored.get("names", ())),
            kind=RecordKind(kind) if kind else None,
            ids=Ids.from_stored(stored.get("ids", {})),
            year=stored.get("year"),
            air_date=date.fromisoformat(day) if day else None,
            episode_count=stored.get("episode_count"),
            first=FirstEpisode(*first) if first else None,
            show=stored.get("show"),
            related=tuple(stored.get("related", ())),
        )


@dataclass(slots=True)
class SkippedRows:
    """The rows of a file that could not be read, and what was wrong with the first."""

    count: int = 0
    first: str | None = None

    def note(self, row: str, problem: object) -> None:
        """Count a row that is left out."""
        self.count += 1
        if self.first is None:
            self.first = f"{row[:80]}: {problem}"


def language_of(text: str) -> str | None:
    """The language that the letters of a name tell; None for Latin ones, which may be anything.

    >>> language_of("蔵の夜"), language_of("藏之夜"), language_of("Kura no Yoru")
    ('ja', 'zh', None)
    """
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    return "zh" if _HAN.search(text) else None


def folded_spellings(title: str) -> set[str]:
    r"""What a name is found by. A cross is read as the letter x, or passed over; titles leave out what a season is called.

    Folders are typed without accents, and with a word for a sign.

    >>> sorted(folded_spellings("SPY\u00d7FAMILY"))
    ['spyfamily', 'spyxfamily']
    >>> sorted(folded_spellings("夜之蔵人 第三季「新酒篇」"))
    ['夜之蔵人第三季', '夜之蔵人第三季新酒篇']
    >>> sorted(folded_spellings("Kura & Café"))
    ['kuraandcafé', 'kuracafe', 'kuracafé']
    """
    subtitled = _SUBTITLED.match(title)
    spellings = {title, title.translate(_CROSSES), *(() if subtitled is None else (subtitled[1],))}
    spellings |= {_ACCENTS.sub("", unicodedata.normalize("NFD", title)), title.replace("&", " and ")}
    return {folded for spelled in spellings if 0 < len(folded := fold_title(spelled)) <= _LONGEST_FOLDED}


def folded_without_article(title: str) -> str | None:
    """What an English name is found by where people leave its first word out; None where it has no article to leave out.

    >>> folded_without_article("The Night Cellar"), folded_without_article("The Cellar")
    ('nightcellar', None)
    """
    bare = _ARTICLE.sub("", title)
    return fold_title(bare) if bare != title and len(bare) <= LONGEST_NAME else None


def sound_of(title: str) -> str | None:
    """What a name in Latin letters is found by however its Japanese is spelled; None where that would say too little."""
    sound = romaji_key(title)
    return sound if sound is not None and len(sound) >= _SHORTEST_SOUND else None


def clean(text: object) -> str:
    """A name on one line; empty when it is no text, or longer than names are."""
    if not isinstance(text, str) or len(text) > LONGEST_NAME:
        return ""
    return " ".join(storable(text).split())
