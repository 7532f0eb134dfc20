"""In which script a name is written, in which language as far as its letters tell, where it changes, and Chinese in one script."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from kurabito.titles.romaji import is_romaji, romaji_key
from kurabito.titles.text import CJK, LATIN_LETTER, is_foreign

_HANGUL: Final = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_KANA: Final = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_FOREIGN: Final = re.compile(r"[^\W\d_\x00-\u024f]")
# Chinese names borrow this one letter: 优の良品.
_BORROWED: Final = frozenset("のノ")
# Forms that the Japanese standard has, and that Japanese titles write in another way or not at all.
_OLD_FORMS: Final = frozenset(
    "們這釀會來對當學國點體發戰變轉聲黑萬與櫻靜獸畫實讀續藥樂氣鐵關廣圖歸龜數擊惡壞應從戀傳輕邊團醫澤濱綠"
)
_ENGLISH: Final = frozenset("the of and with from my your you is for".split())
_WORD: Final = re.compile(r"[^\W\d_]+")
# `夜之蔵人 Super Extra` is a sequel: what stands behind the name is no name.
_SEQUEL_WORDS: Final = frozenset(
    "advance after animation encore evolution extra extreme final finale generation max neo next origin origins plus prologue punch rebirth "
    "refine refrain reload remix renewal return returns revenge reverse rising season second special specials stage super "
    "the third turbo ultimate ultra version".split()
)
_ENDS_IN_LATIN: Final = re.compile(f"[{CJK}][A-Za-z]+$")
_CHINESE_WORD: Final = re.compile("[\u4e00-\u9fff]的[\u4e00-\u9fff]")
_SIGNS: Final = "!?♪☆★～~-."
_SHORTEST_NAME: Final = 5
_SAME_LETTERS: Final = 0.6


class Script(StrEnum):
    """What the letters of a name are; kana also where kanji stand between them."""

    LATIN = "latin"
    KANA = "kana"
    HAN = "han"
    HANGUL = "hangul"
    OTHER = "other"


class SeriesName(NamedTuple):
    """A name of a series with its script, and its language where that can be told."""

    text: str
    script: Script
    language: str | None
    """BCP 47: ja, ja-Latn (romaji), ko, zh-Hans, zh-Hant, en."""

    @classmethod
    def of(cls, text: str) -> SeriesName:
        """
        >>> SeriesName.of("夜之蔵人").script, SeriesName.of("Yoru no Kurabito").language
        (<Script.HAN: 'han'>, 'ja-Latn')
        """
        script = script_of(text)
        return cls(text, script, _language(text, script))


def script_of(text: str) -> Script:
    """The script of a name; of a mixture the one that tells most."""
    if text.isascii():
        return Script.LATIN if LATIN_LETTER.search(text) else Script.OTHER
    for pattern, script in ((_HANGUL, Script.HANGUL), (_KANA, Script.KANA), (_HAN, Script.HAN)):
        if pattern.search(text):
            return script
    return Script.LATIN if LATIN_LETTER.search(text) and not _FOREIGN.search(text) else Script.OTHER


@lru_cache(maxsize=16_384)
def simplified(text: str) -> str:
    """The text with simplified Chinese letters, to compare names; Japanese ones stay, unless they are traditional ones too.

    >>> simplified("釀酒師們的夜")
    '酿酒师们的夜'
    """
    return text if text.isascii() else text.translate(_simplified_forms())


@cache
def _simplified_forms() -> dict[int, str]:
    lines = files("kurabito.titles").joinpath("han.txt").read_text(encoding="utf-8").splitlines()
    return {ord(pair[0]): pair[1] for line in lines if not line.startswith("#") for pair in line.split()}


def cut_at_script(text: str) -> list[str]:
    """`夜之蔵人 Yoru no Kurabito` is one name in two scripts; `16bit 的蔵人` is one in a mixture."""
    if text.isascii():
        return [text]
    words = text.split(" ")
    scripts = [_script(word) for word in words]
    known = [script for script in scripts if script]
    if len(set(known)) < 2:
        return [text]
    first = next(index for index, script in enumerate(scripts) if script)
    if scripts[first] == "latin":
        return [text]
    last = max(index for index, script in enumerate(scripts) if script == "foreign")
    # `夜之蔵人 VS 朝之蔵人 Yoru no Kurabito`: the name in the other script is behind the last of this one.
    change = next((index for index in range(last + 1, len(words)) if scripts[index]), None)
    if change is None or sum(map(len, words[change:])) < _SHORTEST_NAME:
        return [text]
    change += _shared_ending(words[change:])
    if all(word.strip(_SIGNS).lower() in _SEQUEL_WORDS for word in words[change:] if word):
        return [text]
    ending = _ENDS_IN_LATIN.search(words[change - 1])
    # `蔵人S Kurabito S` ends twice in the same letters.
    goes_on = ending is not None and ending[0][1:] != text.rsplit(maxsplit=1)[-1]
    if goes_on or _is_subtitle(" ".join(words[:change]), " ".join(words[change:])):
        # `蔵人ZERO HOUR`, `蔵人 ZERO HOUR`: the foreign name goes on in Latin letters.
        return [text]
    return [" ".join(words[:change]), " ".join(words[change:]), text]


def _shared_ending(words: list[str]) -> int:
    """How many words are of the name before: `夜之蔵人 Encore Kurabito Encore` are two names that end in the same ones."""
    bare = [word.strip(_SIGNS).casefold() for word in words]
    sizes = range(1, (len(bare) - 1) // 2 + 1)
    return max((size for size in sizes if bare[:size] == bare[-size:] and not words[size][:1].islower()), default=0)


def _is_subtitle(name: str, rest: str) -> bool:
    """Whether what stands behind a name belongs to it: `夜のくらびと ENCORE`, `夜之蔵人 act II`. A name has small letters too."""
    letters = LATIN_LETTER.findall(rest)
    return len(letters) > 1 and ("".join(letters).isupper() or letters[0].islower()) and not romaji_key(rest)


def cut_at_language(text: str) -> list[str]:
    """`夜之酿酒师 夜のくらびと`: the Chinese name, and the Japanese one behind it; or one name in the letters of both."""
    if " " not in text.strip():
        return [text]
    words = text.split()
    if script_of(text) is Script.KANA:
        first = next((index for index, word in enumerate(words) if script_of(word) is Script.KANA), 0)
        chinese = " ".join(words[:first])
        if _is_chinese(chinese):
            return [chinese, " ".join(words[first:])]
    if LATIN_LETTER.search(text):
        return [text]
    for cut in range(1, len(words)):
        one, other = " ".join(words[:cut]), " ".join(words[cut:])
        if script_of(one) is Script.HAN and is_same_name(one, other):
            return [one, other]
    return [text]


def _is_chinese(name: str) -> bool:
    """Whether letters that only Chinese has say so, or the word that stands between a thing and its owner."""
    return (SeriesName.of(name).language or "").startswith("zh") or _CHINESE_WORD.search(name) is not None


def is_same_name(one: str, other: str) -> bool:
    """Whether most of the Han letters of two names are the same: `七酒蔵` and `七つの酒蔵`."""
    mine, theirs = ({char for char in simplified(name) if "\u4e00" <= char <= "\u9fff"} for name in (one, other))
    common = len(mine & theirs)
    return common > 1 and common >= _SAME_LETTERS * max(len(mine), len(theirs))


def _script(word: str) -> str:
    if is_foreign(word):
        return "foreign"
    return "latin" if LATIN_LETTER.search(word) else ""


def _language(text: str, script: Script) -> str | None:
    match script:
        case Script.HANGUL:
            return "ko"
        case Script.KANA:
            return _of_han(text) if _BORROWED.issuperset(_KANA.findall(text)) else "ja"
        case Script.HAN:
            return _of_han(text)
        case Script.LATIN:
            return _of_latin(text)
        case _:
            return None


def _of_han(text: str) -> str | None:
    """The one language whose letters they are; None where two of them would do."""
    told = {language for char in text if (language := _only_in(char))}
    if not told and _KANA.search(text):
        return "ja"
    return told.pop() if len(told) == 1 else None


@lru_cache(maxsize=4096)
def _only_in(char: str) -> str | None:
    """Where a character is at home, if the national standards put it into one place only."""
    if not _HAN.match(char):
        return None
    simplified, japanese, traditional = (_has(standard, char) for standard in ("gb2312", "shift_jis", "big5"))
    match simplified, japanese, traditional:
        case True, False, False:
            return "zh-Hans"
        case False, True, False:
            return "ja"
        case False, _, True:
            return "zh-Hant" if not japanese or char in _OLD_FORMS else None
        case _:
            return None


def _has(standard: str, char: str) -> bool:
    try:
        char.encode(standard)
    except UnicodeEncodeError:
        return False
    return True


def _of_latin(text: str) -> str | None:
    if not _ENGLISH.isdisjoint(_WORD.findall(text.casefold())):
        return "en"
    return "ja-Latn" if is_romaji(text) else None
