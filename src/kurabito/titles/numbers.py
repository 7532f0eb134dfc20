"""Numbers as titles write them: Arabic or Chinese, alone, in ranges and in lists."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kurabito.titles.model import Episode

LARGEST_RANGE: Final = 2000
"""A "range" that would be longer is two numbers that have nothing to do with each other."""

HAN: Final = "零〇一二两兩三四五六七八九十百"
FORMAL_HAN: Final = "弐貳贰參参叁肆伍陸陆漆柒捌玖"
"""Numbers as documents write them, from two on; a title has them for a season, and never for an episode."""
_DIGITS: Final = {
    char: value
    for value, chars in enumerate(
        ("零〇", "一", "二两兩弐貳贰", "三參参叁", "四肆", "五伍", "六陸陆", "七漆柒", "八捌", "九玖")
    )
    for char in chars
}
_WORDS: Final = {
    word: value
    for value, words in enumerate(
        ("first one", "second two", "third three", "fourth four", "fifth five", "sixth six", "seventh seven"), start=1
    )
    for word in words.split()
}

_NUMBER: Final = re.compile(
    r"(\d{1,5}(?:\.\d(?=[\s\[\]()\x00v话話集回]|\.[\s(\[\x00]|\.\d{3,4}[pi]\b|$))?)(?!\d)(?:[a-dA-D](?![A-Za-z0-9]))?"
)
_END: Final = r"(?=v\d|E\d|x\d|END|FIN|[^0-9A-Za-z]|$)"
_NEXT: Final = re.compile(
    r"(?:(\s?[-~–至到]\s?|\s?[&+,]\s?|[\s.](?:to|and|en|et|und)[\s.]|[ .]?(?=EP?\d|S\d{1,2}E\d))"
    rf"(?:S\d{{1,2}}E|(?:\d{{1,2}})?x|EP?|第|#)?|x)(?!(?<=x)26[3-6](?!\d))(\d{{1,5}}(?:\.\d)?){_END}",
    re.I,
)
_SPACED: Final = re.compile(r"\s+[-&+,]\s+")
_CLOSES: Final = re.compile(r"\s*(?:v\d)?\s*(?:[\[\]()\x00]|$)")
_VERSION: Final = re.compile(r"[ .]?v(\d)(?![\d.])", re.I)
_MOST_IN_A_LIST: Final = 100


class Run(NamedTuple):
    """Numbers that were read in one go, and where the text goes on."""

    numbers: tuple[Episode, ...]
    version: int | None
    end: int


def han_number(text: str) -> int:
    """The value of a Chinese number, such as 二十四; digits of any script are taken as they are."""
    if text.isdecimal():
        return int(text)
    total = current = 0
    for char in text:
        if char == "十":
            total, current = total + (current or 1) * 10, 0
        elif char == "百":
            total, current = total + (current or 1) * 100, 0
        else:
            current = current * 10 + _DIGITS[char]
    return total + current


def word_number(text: str) -> int:
    """The value of a number in digits, or in an English word up to seventh."""
    return int(text) if text.isdecimal() else _WORDS[text.lower()]


def read_run(text: str, start: int, *, spaced: bool = False) -> Run | None:
    """Read `12`, `12.5`, `01-12`, `01~12`, `01+07`, `01E02`, `12v2` from a place on, and `01 - 12` if it may be spaced."""
    first = _NUMBER.match(text, start)
    if first is None:
        return None
    numbers: list[Episode] = [_value(first[1])]
    end = first.end()
    version, end = _version(text, end)
    while len(numbers) < _MOST_IN_A_LIST and (following := _NEXT.match(text, end)):
        value = _value(following[2])
        if value <= numbers[-1]:
            break
        # " - 05 - 12 Angry Ducks": a number behind a spaced hyphen belongs to the run only if nothing follows.
        joint = (following[1] or "").strip(" .")
        repeats_prefix = following.start(2) > following.end(1)
        if (
            _SPACED.fullmatch(following[1] or "")
            and not repeats_prefix
            and not (spaced and _is_closing_range(text, first[1], following))
        ):
            break
        if joint in ("-", "~", "–", "至", "到", "to"):
            if value - numbers[-1] > LARGEST_RANGE:
                break
            numbers += range(int(numbers[-1]) + 1, int(value))
        numbers.append(value)
        again, end = _version(text, following.end())
        version = version if again is None else again
    return Run(tuple(numbers), version, end)


def _is_closing_range(text: str, first: str, following: re.Match[str]) -> bool:
    """`01 - 12` at the end. `05 - 1999` and `06 - 7` are an episode and its name: ranges are written alike."""
    alike = len(first) <= len(following[2]) and not 1900 <= float(following[2]) <= 2099
    return alike and _CLOSES.match(text, following.end()) is not None


def span(first: int, last: int | None = None) -> Run:
    """The numbers from one to another; only the first if the other is none that could follow."""
    if last is None or not first < last <= first + LARGEST_RANGE:
        last = first
    return Run(tuple(range(first, last + 1)), None, 0)


def _version(text: str, at: int) -> tuple[int | None, int]:
    found = _VERSION.match(text, at)
    return (int(found[1]), found.end()) if found else (None, at)


def _value(digits: str) -> Episode:
    value = float(digits)
    return int(value) if value.is_integer() else value
