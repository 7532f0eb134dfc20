"""In which script a name is written, in which language as far as its letters tell, and Chinese in one script."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from kurabito.titles.romaji import is_romaji
from kurabito.titles.text import FOREIGN_LETTER, LATIN_LETTER

_HANGUL: Final = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_KANA: Final = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
# Chinese names borrow this one letter: 优の良品.
_BORROWED: Final = frozenset("のノ")
# Forms that the Japanese standard has, and that Japanese titles write in another way or not at all.
_OLD_FORMS: Final = frozenset(
    "們這釀會來對當學國點體發戰變轉聲黑萬與櫻靜獸畫實讀續藥樂氣鐵關廣圖歸龜數擊惡壞應從戀傳輕邊團醫澤濱綠"
)
_ENGLISH: Final = frozenset("the of and with from my your you is for".split())
_WORD: Final = re.compile(r"[^\W\d_]+")


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
    return Script.LATIN if LATIN_LETTER.search(text) and not FOREIGN_LETTER.search(text) else Script.OTHER


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
