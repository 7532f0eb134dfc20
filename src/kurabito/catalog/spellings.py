"""How names are spelled: a season behind the name of a show, Japanese in Latin letters, Chinese in either script."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from kurabito.catalog.releases import Name
from kurabito.metadata.lookup import Sequel, read_part, read_sequel
from kurabito.titles.junk_names import is_junk_name
from kurabito.titles.kana import kana_to_romaji
from kurabito.titles.numbers import FORMAL_HAN, han_number, word_number
from kurabito.titles.romaji import romaji_key
from kurabito.titles.scripts import simplified
from kurabito.titles.text import CJK
from kurabito.titles.text import fold as fold_title

_FIRST_SEASON: Final = 1
_SHORTEST_KEY: Final = 6
_SHORTEST_HALF: Final = 4
_SHORTEST_ACRONYM: Final = 3
_HALVES: Final = re.compile(rf"([^{CJK}]*[A-Za-z][^{CJK}]*)\s([{CJK}]{{2}}.*)")
_BRACKETED_HALF: Final = re.compile(r"([^()]+\S) \(([A-Za-z][^()]{3,})\)")
_ALSO_KNOWN_HALF: Final = re.compile(r"(.*\S) aka (\S.*)")
_DASHED_HALF: Final = re.compile("([^-]*[\u3041-\u30fa][^-]*) - ([\u3400-\u9fff][^-\u3041-\u30fa]+)")
_ROMAN: Final = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_HAN: Final = ("", *"一二三四五六七八九十")
_LATIN_END: Final = re.compile(rf".*[{CJK}][^A-Za-z]*\s([A-Za-z0-9][^{CJK}]*)")
# Two words, or a long one.
_SAYS_MUCH: Final = re.compile(r"[^\W_]+[\W_]+[^\W_]+|[^\W_]{10}")
_FILM_WORDS: Final = ("劇場版", "剧场版", "映画", "电影", "電影")
_LATIN_FILM_WORDS: Final = ("themovie", "movie")
_FILM_INSIDE: Final = re.compile(r"\s(?:the\s)?movie(?:\s\d{1,2})?\s?(?:[:-]\s|(?=:))", re.I)
_NUMBER_INSIDE: Final = re.compile(r"\w\s?(?<![A-Za-z0-9])(II|III|IV|VI{0,3}|IX|X|[2-9])(?:\s?[:-]|\s)\s?[^\W\d_]")
_ROMAJI_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        ("ni", "san", "shi yon", "go", "roku", "shichi nana", "hachi", "kyuu"), start=_FIRST_SEASON + 1
    )
    for word in words.split()
}
_LIKELY_WORDS: Final = 4
"""Up to here a number in romaji is more often another word: `ni`, `san`, `shi`."""
_ROMAJI_COUNT: Final = re.compile(
    rf"(?P<name>.+?)(?:[\s:]\s?|-\s)(?P<word>{'|'.join(_ROMAJI_NUMBERS)})(?P<chapter>\sno\sShou)?", re.I
)
_ENDS_IN_ORDINAL: Final = re.compile(
    r"(?P<name>.*\S) (?:(?P<digit>\d{1,2})(?:st|nd|rd|th)|(?P<word>Second|Third|Fourth|Fifth|Sixth|Seventh))(?: (?:Series|Stage))?",
    re.I,
)
_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}
_SEASON_INSIDE: Final = re.compile(
    rf"(?P<name>.+?)\s*(?:第\s?(?P<han>\d{{1,2}}|[一二三四五六七八九十]{{1,2}})\s?[季期]\s?(?P<behind>[{CJK}][^\[\](){{}}【】/|]{{2,}})"
    r"|(?:Season (?P<digits>\d)|(?P<ordinal>\d)(?:nd|rd|th) Season)\s?[-:]\s(?P<latin>[^\[\](){}/|]{4,}))",
    re.I,
)
"""A season inside a name, and what the name goes on in."""
_NO_SUBTITLE: Final = re.compile(r"(?:[语語版幕音集片更新结結完]|配信|字幕|\d)$")
_TOKEN: Final = re.compile(rf"[{CJK}]+|[^\s{CJK}]+")
_MOST_TOKENS: Final = 16
_WORD: Final = re.compile(r"[^\W_]+")
_SHORTEST_BASE: Final = 4
_SHORTEST_FOREIGN_BASE: Final = 2
_ASKS_INSIDE: Final = re.compile(r"[?\uff1f]\s?[~\uff5e\u301c:\uff1a-]")
_YEAR_BEHIND: Final = re.compile(r"(.*[^\W\d_].*?)\s+((?:19[5-9]|20[0-4])\d)")


def spelled(name: Name, season: int) -> list[str]:
    """How a season of a show may be called, folded."""
    number = str(season)
    marks = [
        f"第{number}期",
        f"第{number}季",
        f"{number}期",
        f"第{number}シーズン",
        f"シーズン{number}",
        f"season{number}",
        f"s{number}",
        f"{ordinal(season)}season",
    ]
    if season > _FIRST_SEASON:
        marks.append(number)
    if season < len(_HAN):
        marks += [f"第{_HAN[season]}期", f"第{_HAN[season]}季"]
    if _FIRST_SEASON < season < len(_ROMAN):
        marks.append(_ROMAN[season].casefold())
    if name.folded.isascii():
        marks += [word for word, counted in _ROMAJI_NUMBERS.items() if counted == season > _LIKELY_WORDS]
        marks += [f"{word}noshou" for word, counted in _ROMAJI_NUMBERS.items() if counted == season]
    else:
        formal = [char for char in FORMAL_HAN if han_number(char) == season]
        marks += [char + chapter for char in formal for chapter in ("", "ノ章", "之章")]
    return [name.folded + mark for mark in marks]


def ordinal(season: int) -> str:
    """`2nd`, which ends names of shows too."""
    return _ORDINALS.get(season, f"{season}th")


def goes_on_behind(written: str, name: Name, season: int) -> Name | None:
    """`夜之蔵人 第二季 醪之章`, written so, is also called `夜之蔵人 醪之章`; None where nothing stands behind the season, or no name."""
    found = _SEASON_INSIDE.fullmatch(written)
    if found is None or fold_title(found["name"]) != name.folded:
        return None
    behind = (found["behind"] or found["latin"]).strip()
    if han_number(found["han"] or found["digits"] or found["ordinal"]) != season:
        return None
    if _NO_SUBTITLE.search(behind) or is_junk(behind):
        return None
    return Name.of(f"{name.shown} {behind}")


def read_romaji_count(shown: str, season: int | None) -> Sequel | None:
    """The show and the season that a name may stand for which ends with a number in romaji: `Kurabito Nikki Roku`, `Kurabito: San no Shou`.

    Many a name ends with such a word. So it says nothing unless titles have that season beside the rest.
    """
    found = _ROMAJI_COUNT.fullmatch(shown.rstrip("!?. "))
    if found is None or not fold_title(found["name"]):
        return None
    number = _ROMAJI_NUMBERS[found["word"].casefold()]
    is_sure = season == number or (season is None and (number > _LIKELY_WORDS or found["chapter"] is not None))
    return Sequel(found["name"].rstrip(" -:"), number) if is_sure else None


def read_ordinal(shown: str, season: int | None) -> Sequel | None:
    """The show that a name stands for which ends with an ordinal, where titles say that season: `Kurabito 2nd`, `Kurabito Second Series`."""
    found = _ENDS_IN_ORDINAL.fullmatch(shown) if season is not None and season > _FIRST_SEASON else None
    if found is None or season != (int(found["digit"]) if found["digit"] else word_number(found["word"])):
        return None
    return Sequel(found["name"], season)


def spelled_parts(folded: str, part: int) -> list[str]:
    """How a part of a season may be called, folded, by the folded name of the season."""
    marks = [f"第{part}部分", f"第{part}クール", f"part{part}", f"パート{part}", f"cour{part}"]
    if part < len(_HAN):
        marks += [f"第{_HAN[part]}部分", f"第{_HAN[part]}クール"]
    return [folded + mark for mark in marks]


def spelled_films(folded: str) -> list[str]:
    """How the film of a show may be called, folded, by the name that titles leave when they say that it is one."""
    return [*(word + folded for word in _FILM_WORDS), *(folded + word for word in (*_FILM_WORDS, *_LATIN_FILM_WORDS))]


def without_film_word(folded: str) -> str:
    """A film's name without the word that says that it is one."""
    for word in (*_FILM_WORDS, *_LATIN_FILM_WORDS):
        bare = folded.removesuffix(word) if word in _LATIN_FILM_WORDS else folded.removeprefix(word).removesuffix(word)
        if bare and bare != folded:
            return bare
    return folded


@lru_cache(maxsize=4096)
def film_names(name: Name) -> frozenset[str]:
    """How a film may be called elsewhere, folded: `Kura: The Movie`, `Kura Movie 2: Encore` and `Kura: Encore`."""
    found = {without_film_word(name.folded), *spelled_films(name.folded), fold_title(_FILM_INSIDE.sub(" ", name.shown))}
    return frozenset(found - {name.folded, ""})


@lru_cache(maxsize=16_384)
def season_inside(shown: str) -> int | None:
    """The later season whose number stands inside a name: `Yoru no Kurabito IV: Asa`."""
    found = _NUMBER_INSIDE.search(shown)
    if found is None:
        return None
    return int(found[1]) if found[1].isdecimal() else _ROMAN.index(found[1])


def part_name(shown: str, part: int) -> Name:
    """The name of a later part of a season, written in one way; without its mark it is that of the first part."""
    return Name.of(f"{shown} Part {part}")


@lru_cache(maxsize=16_384)
def is_junk(shown: str) -> bool:
    """Whether a name says nothing about which show it is; a feed repeats few names."""
    return is_junk_name(shown)


@lru_cache(maxsize=16_384)
def halves_of(shown: str) -> tuple[Name, Name] | None:
    """`Yoru no Kurabito 夜之蔵人`: what may be two names; `Brew Live! 虹蔵学園` is one all the same.

    So may `Yoru no Kurabito (The Night Brewer)` and `よるのくらびと - 夜之蔵人`.
    """
    patterns = (_HALVES, _BRACKETED_HALF, _DASHED_HALF, _ALSO_KNOWN_HALF)
    found = next(filter(None, (pattern.fullmatch(shown) for pattern in patterns)), None)
    if found is None or is_junk(found[2]):
        return None
    first, second = Name.of(found[1].strip()), Name.of(found[2])
    return (first, second) if len(first.folded) >= _SHORTEST_HALF or first.folded.isdecimal() else None


def is_extra_name(folded: str) -> bool:
    """Whether a name says itself that it is that of an OVA."""
    return folded.endswith(("ova", "oad"))


@lru_cache(maxsize=16_384)
def short_and_long(name: Name) -> tuple[Name, ...]:
    """`NB - Night Brewer`: both names, where one is made of the other's beginnings or begins with the same words; else the name."""
    one, dash, other = name.shown.partition(" - ")
    if not dash or " - " in other or not name.shown.isascii():
        return (name,)
    words = [_WORD.findall(half.casefold()) for half in (one, other)]
    if not all(words):
        return (name,)
    short, long = sorted(words, key=lambda some: sum(map(len, some)))
    is_acronym = "".join(short) == "".join(word[0] for word in long) and len(long) >= _SHORTEST_ACRONYM
    is_same_word = words[0][0] == words[1][0] and min(map(len, words)) > 1
    return (Name.of(one), Name.of(other)) if is_acronym or is_same_word else (name,)


@lru_cache(maxsize=16_384)
def bases_of(shown: str) -> frozenset[str]:
    """What a name goes on from, or ends with, folded: `Yoru no Kurabito` of `Yoru no Kurabito Zero`."""
    tokens, whole = list(_TOKEN.finditer(shown))[:_MOST_TOKENS], fold_title(shown)
    pieces = [shown[: one.end()] for one in tokens[:-1]] + [shown[one.start() :] for one in tokens[1:]]
    return frozenset(
        folded
        for folded in map(fold_title, pieces)
        if folded != whole and len(folded) >= (_SHORTEST_BASE if folded.isascii() else _SHORTEST_FOREIGN_BASE)
    )


@lru_cache(maxsize=16_384)
def asks_inside(shown: str) -> bool:
    """Whether a name asks before its subtitle, as that of a later season does: `Kurabito wa?: Yoru no Kura`."""
    return _ASKS_INSIDE.search(shown) is not None


@lru_cache(maxsize=16_384)
def year_behind(shown: str) -> tuple[str, int] | None:
    """`Yoru no Kurabito 2019`: the name, folded, and the year that may stand behind it."""
    found = _YEAR_BEHIND.fullmatch(shown)
    return (fold_title(found[1]), int(found[2])) if found else None


@lru_cache(maxsize=16_384)
def read_folded_sequel(folded: str) -> Sequel | None:
    """The show and the season that a folded name stands for; a number alone may be anything there."""
    return read_sequel(folded) if not folded[-1:].isascii() or "season" in folded else None


def bare_title(title: str) -> Name:
    """A title without its season, as the names of its series have it; the mark of a part stays with it."""
    sequel = read_sequel(title)
    if sequel is None:
        return Name.of(title)
    part = read_part(title)
    return Name.of(sequel.name) if part is None else part_name(sequel.name, part.part)


def likeness_of(name: Name) -> str | None:
    """What a name is compared by beside its letters; None where there is nothing else.

    That is the sound of Japanese, or Chinese in simplified letters. `夜之蔵人 Night Brewer` may be two names with nothing
    between them: the one in Latin letters is found by it.
    """
    return romaji_of(name.shown) or plain_latin_of(name.shown) or latin_end_of(name.shown) or simplified_of(name)


@lru_cache(maxsize=16_384)
def plain_latin_of(shown: str) -> str | None:
    """A Latin name without its accents, and with `and` for `&`, folded; None where it has neither."""
    if shown.isascii() and "&" not in shown:
        return None
    spelled = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", shown).replace("&", " and "))
    plain = "".join(char for char in spelled if not unicodedata.combining(char))
    return fold_title(plain) if plain.isascii() else None


@lru_cache(maxsize=16_384)
def latin_end_of(shown: str) -> str | None:
    """What a name of two scripts ends in, as names in Latin letters are compared; None where it says too little."""
    found = _LATIN_END.fullmatch(shown)
    if found is None or is_junk(found[1]):
        return None
    return romaji_of(found[1]) or (fold_title(found[1]) if _SAYS_MUCH.search(found[1]) else None)


def simplified_of(name: Name) -> str | None:
    """The name in simplified Chinese letters, folded; None where it has no others."""
    plain = simplified(name.folded)
    return plain if plain != name.folded else None


@lru_cache(maxsize=16_384)
def romaji_of(shown: str) -> str | None:
    """What names are compared by that write the same Japanese in different ways; None where that would say too little."""
    key = romaji_key(shown)
    if key is None and (read := kana_to_romaji(shown)) is not None:
        key = romaji_key(read)
    return key if key is not None and len(key) >= _SHORTEST_KEY else None
