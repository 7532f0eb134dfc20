"""Two names of one series side by side: where the second begins, and whether they are one name in two forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from kurabito.titles.draft import SKIPPED, Segment
from kurabito.titles.groups import OF_GROUPS
from kurabito.titles.junk_names import is_junk_name
from kurabito.titles.kana import letters_of, readings_of
from kurabito.titles.romaji import morae, romaji_key
from kurabito.titles.scripts import Script, SeriesName, script_of, simplified
from kurabito.titles.text import CJK, LATIN_LETTER, fold, is_foreign

# `夜之蔵人 Super Extra` is a sequel: what stands behind the name is no name.
_SEQUEL_WORDS: Final = frozenset(
    "advance after animation encore evolution extra extreme final finale generation max neo next origin origins plus prologue punch rebirth "
    "refine refrain reload remix renewal return returns revenge reverse rising season second special specials stage super "
    "the third turbo ultimate ultra version".split()
)
_ENDS_IN_LATIN: Final = re.compile(f"[{CJK}][A-Za-z]+$")
# `夜之蔵人-Night Brewer-`: what the signs enclose is of the name.
_ENDS_IN_ENCLOSED: Final = re.compile(
    rf"(?<=[{CJK}!?])(?P<blank>\s?)(?P<sign>[-~\u301c\uff5e])(?P<inside>(?=[A-Za-z])[^-~\u301c\uff5e{CJK}]+)(?P=sign)\s*$"
)
_CHINESE_WORD: Final = re.compile("[\u4e00-\u9fff]的[\u4e00-\u9fff]")
_SIGNS: Final = "!?♪☆★～~-."
_SHORTEST_NAME: Final = 5
_FOREIGN_BEHIND_LATIN: Final = re.compile(rf"[A-Za-z][^\s{CJK}]*\s(?:[^\w\s]+\s?)?[{CJK}]")
_LATIN_BEHIND_KANA: Final = re.compile(r"[\u3041-\u30fa]\s[A-Z]")
_LATIN_IN_BRACKETS: Final = re.compile(rf"([^()]*[^()\s])\s?\(([A-Za-z][^(){CJK}]{{2,}})\)")
# A cross joins two names, and Latin letters write one for it.
_CROSS: Final = re.compile(r"\s[x×]\s|×", re.I)
_SPOKEN_SIGNS: Final = re.compile("[☆★♥♡♪△▽○●◎]$")
_FEWEST_LETTERS: Final = 2
_BEGINS_SUBTITLE: Final = frozenset("the to and in of my on a vs ver act part chapter episode".split())
_COINED: Final = re.compile(r"\w[-\u00d7]\w")
_LONG_WORD: Final = 6
_MOST_WORDS: Final = 3
_FEWEST_SOUNDS: Final = 4
"""Beside the name that it may be the reading of, less has to be said than where any other name could be."""
_MOST_LETTERS_LEFT: Final = 2
# `夜之蔵人 K.A.C. 2nd Mash` is the second of something.
_ORDINAL: Final = re.compile(r"\b(?:2nd|3rd|[4-9]th)\b", re.I)
_SAME_LETTERS: Final = 0.6
_ENDS_SUBTITLE: Final = re.compile(
    r"(?:[\s-](?:hen|arc|saga|chapters?|collection|version|cut|edition|movies?)|\d)$", re.I
)
_LATIN_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS: Final = 3
_WORDS_OF_SENTENCE: Final = 6
_SHORTEST_ROMAJI: Final = 8
_SHORTEST_SHORT: Final = 5
_FEWEST_SYLLABLES: Final = 3


def cut_by_sound(text: str) -> list[str]:
    """`Yoru no Kurabito 夜の蔵人`: a name in Latin letters, and how Japan writes it; no names where they do not sound alike.

    A third name, in another language, may stand before the two.
    """
    if text.isascii() or not (_FOREIGN_BEHIND_LATIN.search(text) or _LATIN_BEHIND_KANA.search(text)):
        return []
    runs: list[list[str]] = [[]]
    before = ""
    for word in text.split():
        script = _script(word)
        if before and script and script != before:
            runs.append([])
        before = script or before
        runs[-1].append(word)
    names = [" ".join(words) for words in runs]
    if len(names) == 2 and is_foreign(names[0]):
        return names if script_of(names[0]) is Script.KANA and sounds_alike(names[1], names[0]) else []
    if [is_foreign(name) for name in names] not in ([False, True], [True, False, True]):
        return []
    latin, foreign = names[-2:]
    if sounds_alike(latin, foreign) or (len(names) > 2 and sounds_alike(latin, names[0])):
        return names
    if _SPOKEN_SIGNS.search(foreign) and sounds_alike(latin, foreign, begins=True):
        # `Kura Hoshimittsu クラ☆☆☆`: names are compared without signs, and what is left would be that of another season.
        return [*names[:-1], f"{latin} {foreign}"]
    return []


def sounds_alike(latin: str, foreign: str, *, begins: bool = False) -> bool:
    """Whether a name may be how the other is read, but for a letter or two; or whether it begins so."""
    readings = readings_of(_CROSS.sub(" ", foreign), _FEWEST_SOUNDS)
    letters = letters_of(_CROSS.sub(" ", latin))
    if readings is None or len(letters) < _SHORTEST_NAME:
        return False
    fewest = len(letters) // 2 if begins else len(letters) - _MOST_LETTERS_LEFT
    return any(readings.fullmatch(letters[:end]) for end in range(len(letters), fewest - 1, -1))


def names_of_bracket(inner: str) -> list[str]:
    """The names in a bracket; `夜之蔵人(Yoru no Kurabito)` are two there, too."""
    found = _LATIN_IN_BRACKETS.fullmatch(inner)
    return [found[1], found[2]] if found and is_foreign(found[1]) else [inner]


def bracketed_behind(stretch: str, parts: Sequence[Segment]) -> list[str]:
    """`夜之蔵人[Yoru no Kurabito][07]`: the same name in Latin letters, with no blank in front of its bracket."""
    for before, part in pairwise(parts):
        inner = stretch[part.start : part.end]
        is_joined = part.bracket == "[" and not before.bracket and is_foreign(stretch[before.end - 1 : before.end])
        is_name = inner.isascii() and " " in inner.strip() and len(LATIN_LETTER.findall(inner)) > _SHORTEST_NAME
        if is_joined and is_name and OF_GROUPS.search(inner) is None:
            return [inner]
    return []


def cut_at_script(text: str) -> list[str]:
    """`夜之蔵人 Yoru no Kurabito` is one name in two scripts; `16bit 的蔵人` is one in a mixture."""
    if text.isascii():
        return [text]
    if enclosed := _ENDS_IN_ENCLOSED.search(text):
        return _cut_at_enclosed(text, enclosed)
    words = text.split()
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
    if change is not None and change - 1 > last and words[0].startswith(words[change - 1]):
        # `7人の蔵人 7 Brewers`: both begin with the number.
        change -= 1
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


def is_end_of_another(piece: str, own: str, names: Sequence[str]) -> bool:
    """Whether another name ends in what this one goes on with: `夜之蔵人 Encore / Yoru no Kurabito Encore`."""
    end = piece.strip().casefold()
    return any(other is not own and other.strip().casefold().endswith(f" {end}") for other in names)


def _cut_at_enclosed(text: str, enclosed: re.Match[str]) -> list[str]:
    """`夜之蔵人 -NIGHT BREWER-` are two names; one word is hardly any, and behind kana a name may go on so."""
    inside = enclosed["inside"].strip()
    if enclosed["sign"] != "-" or not enclosed["blank"] or (" " not in inside and romaji_key(inside) is None):
        return [text]
    if all(word.strip(_SIGNS).lower() in _SEQUEL_WORDS for word in inside.split()):
        return [text]
    names = [text[: enclosed.start()], inside]
    return [*names, text] if script_of(names[0]) is Script.KANA else names


def _shared_ending(words: list[str]) -> int:
    """How many words are of the name before: `夜之蔵人 Encore Kurabito Encore` are two names that end in the same ones."""
    bare = [word.strip(_SIGNS).casefold() for word in words]
    sizes = range(1, (len(bare) - 1) // 2 + 1)
    return max((size for size in sizes if bare[:size] == bare[-size:] and not words[size][:1].islower()), default=0)


def _is_subtitle(name: str, rest: str) -> bool:
    """Whether what stands behind a name surely belongs to it: `夜のくらびと ENCORE`, `夜之蔵人 act II`.

    Capitals alone may be another name where a name in kana does not go on in them, as those of Japan often do:
    `夜之蔵人 KURA-NIGHT`, `夜之蔵人 KURA NIGHT`. A sentence is none.
    """
    letters = LATIN_LETTER.findall(rest)
    if _ORDINAL.search(rest):
        return True
    if len(letters) < _FEWEST_LETTERS or romaji_key(rest):
        return False
    if not "".join(letters).isupper():
        return bool(letters[0].islower())
    words = [word for word in rest.casefold().split() if LATIN_LETTER.search(word)]
    if (
        script_of(name) is not Script.HAN
        or name.endswith("&")
        or words[0] in _BEGINS_SUBTITLE
        or len(words) > _MOST_WORDS
    ):
        return True
    telling = [word for word in words if word.strip(_SIGNS) not in _SEQUEL_WORDS]
    return not telling or (len(words) == 1 and not is_coined(rest) and len(letters) < _LONG_WORD)


def is_coined(name: str) -> bool:
    """Whether a name has a hyphen or a cross between letters, as no subtitle has."""
    return _COINED.search(name) is not None


def cut_at_language(text: str) -> list[str]:
    """`夜之酿酒师 夜のくらびと`: the Chinese name, and the Japanese one behind it; or one name in the letters of both."""
    if " " not in text.strip():
        return [text]
    words = text.split()
    scripts = [script_of(word) for word in words]
    if Script.HANGUL in scripts and scripts[0] is Script.HAN:
        cut = scripts.index(Script.HANGUL)
        if set(scripts[cut:]) == {Script.HANGUL}:
            # `夜之蔵人 밤의 양조인`
            return [" ".join(words[:cut]), " ".join(words[cut:])]
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


def are_translations(name: str, other: str, clean: Callable[[str], str]) -> bool:
    """Whether `Yoru no Kurabito (The Night Brewer)` are one name in two languages, or in two forms, and the second is no subtitle."""
    one, two = (clean(text) for text in (name, other))
    mine, others = (_LATIN_WORD.findall(text.casefold()) for text in (one, two))
    if fold(one) == fold(two) or _is_short_of(two, one) or _is_short_of(one, two):
        return True
    if is_foreign(one) or is_junk_name(two) or not mine or not others:
        return False
    if (len(others) > 1 or SKIPPED in other) and (mine[0] == others[0] or len({*mine} & {*others}) >= len(others) / 2):
        # A subtitle does not begin with the name again.
        return True
    if _ENDS_SUBTITLE.search(two):
        return False
    if len(others) >= _WORDS_OF_SENTENCE and len(mine) <= len(others) / 2:
        # `YoKura (Yoru ni Kura de Sake o Nomu)`: no subtitle is that long.
        return True
    is_translated = romaji_key(one) is not None and romaji_key(two) is None
    is_transcribed = romaji_key(two) is not None and romaji_key(one) is None
    return (is_translated and len(others) >= _FEWEST_WORDS) or (is_transcribed and len(two) >= _SHORTEST_ROMAJI)


def _is_short_of(short: str, name: str) -> bool:
    """Whether one word is what a Japanese name is called for short: `YoKura`, of its syllables in their order."""
    if not short.isalpha() or len(short) < _SHORTEST_SHORT or 2 * len(short) > len(name):
        return False
    left = iter([sound for word in _LATIN_WORD.findall(name.casefold()) for sound in morae(word)])
    sounds = morae(short.casefold())
    return len(sounds) >= _FEWEST_SYLLABLES and all(sound in left for sound in sounds)
