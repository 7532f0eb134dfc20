"""Recognises seasons: S2, Season 2, 2nd Season, 第二季, 二期, Temporada 2."""

from __future__ import annotations

import re
from typing import Final

from kurabito.titles.draft import SKIPPED, TitleDraft
from kurabito.titles.model import ReleaseKind
from kurabito.titles.numbers import HAN, han_number, span, word_number
from kurabito.titles.pairs import sounds_alike
from kurabito.titles.romaji import romaji_key
from kurabito.titles.text import CJK

# `Brewing Season 2019`: a word of the name, and the year behind it.
_NO_YEAR: Final = r"(?!(?:19|20)\d\d(?!\d))"
_WORD: Final = (
    r"(?:(?<!WITH[ .])S[ .:]{0,3}(?=\d)|(?:Seasons?|Saisons?|Temporadas?|Staffel|Stagione|Seizoen|Sezon|S[äæ]song|S[äæ]son|Sesong|Temp?|Сезон|시즌|シーズン|(?:ال)?موسم|עונה|ТВ-?|(?<=[\[(])TV-|(?<=- )Series)"
    rf"[ .:]{{0,3}}(?:No)?(?=\d){_NO_YEAR})"
)
# British series count as seasons do, but many a name ends with the word: what follows has to tell.
# Several of them, one after the other and with no more of a name behind them, are surely counted.
_SEVERAL: Final = (
    r"\d{1,2}(?:(?:-|~|\s?(?:,\s?&?|&|\+|to|through|and)\s?)\d{1,2})+[ .]?(?:[\[(\x00]|(?:-\s)?Complete|Box|$)"
)
_BRITISH: Final = (
    rf"(?<=[A-Za-z)!?][ .])[ .]?Series[ .](?=\d{{1,2}}[ .](?:\d{{1,2}}of|Part|Ep|Complete|\x00)|{_SEVERAL})"
)
# Between the seasons of a list. A blank is enough only if the list goes on.
_JOINT: Final = (
    r"(?:-{1,2}|~|\s?-\s?(?=S|\d Complete)|\s?(?:,\s?&?|&|\+|/|to|through|and)\s?"
    r"|[ .](?=S\d|\d[ .]\d(?!\d)|\d\s(?:and|to|&)\s)|(?<=\d[ .]\d)[ .](?=\d(?!\d)))"
)
_SEASONS: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:{_WORD}|All Seasons \(|{_BRITISH})"
    rf"(\d{{1,4}})(?!\d)((?:{_JOINT}(?:S|Season )?\d{{1,2}}(?![\dA-Za-z])){{0,20}})"
    r"(?:of\d{1,2}|D\d{1,2}(?:[-&]\d{1,2}){0,3}|Extras)?(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])(\d{1,2})xAll(?![A-Za-z])",
    re.I,
)
_ORDINAL_SEASON: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(\d{1,2})(?:\s?(?:st|nd|rd|th)[ .]Season|(?:[aoªº]?\.?|[eè]me|-?[йя])?[ .](?:Temporada|Stagione|Saison|Staffel|Seizoen|sezon|сезон)(?![ .]\d{1,2}\s?(?:[\x00\[(]|$)))"
    r"|(First|Second|Third|Fourth|Fifth|Sixth|Seventh)[ .]Season|Season[ .](One|Two|Three|Four|Five|Six|Seven))(?![A-Za-z])",
    re.I,
)
_HAN_COUNT: Final = rf"(\d{{1,2}}|[{HAN}]{{1,4}})"
_HAN_SEASON: Final = re.compile(
    rf"第\s?{_HAN_COUNT}(?:\s?[-~至到]\s?第?{_HAN_COUNT})?\s?(?:[季期](?!间|間|待)|シーズン|シリーズ)"
    rf"|(?<![\d第])(\d{{1,2}}|[{HAN[2:-1]}]{{1,2}})\s?(?:期(?!间|間|待)|기(?!\w))"
)
# `夜之蔵人 全二季`: all of them, however many there are.
_ALL_SEASONS: Final = re.compile(rf"[全共]\s?{_HAN_COUNT}\s?季(?![\w])")
_PART: Final = re.compile(rf"第\s?{_HAN_COUNT}\s?部(分)?(?![{HAN}\w])")
# `S2 Part 2`, `第2期 第2クール`: which part of the season that was read just before.
_PART_OF_SEASON: Final = re.compile(
    rf"{SKIPPED}+[\s,:-]{{0,3}}(?:(?:Part|Cour|パート)[ .]?(\d)(?![\w])|(\d)(?:nd|rd|th)[ .]Cour(?!\w)|第\s?{_HAN_COUNT}\s?クール)",
    re.I,
)
# Without a season before it, only where it can be no name.
_COUR: Final = re.compile(r"(?<=[\s.])(?:(\d)(?:st|nd|rd|th)[ .]Cour(?![A-Za-z])|Cour[ .](\d)(?=\s-\s))")
_DIGIT_OF_NAME: Final = re.compile(
    rf"([^\s{CJK}\x00-\x1f\[\]()/|]{{0,20}}[{CJK}][^\x00-\x1f\[\]()/|]{{0,80}}?[{CJK}。!?])([2-9])\s([A-Z][^{CJK}\x00-\x1f\[\]()/|]{{4,120}})"
)
_COUNTS_ON: Final = re.compile(r"\s(?:I{2,3}|IV|VI{0,3}|\d+)\W*$")
# `Show (III) - 04`
_ROMAN_SEASON: Final = re.compile(r"(?<=[^\s\x00])\s?\((II|III|IV|VI{0,3}|IX)\)(?=\s-\s\d|\s?\[)")
_ROMAN: Final = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
_FEW_SEASONS: Final = 4
_FOLLOWING: Final = re.compile(r"\s?(-{1,2}|~|to|through|and|[,&+/ .])[\s&]*(?:S|Season )?(\d{1,2})", re.I)
_THROUGH: Final = frozenset(["-", "--", "~", "to", "through"])
_SHORT_MARK: Final = re.compile(r"s(?<![a-z0-9].)\d")
# What each of the others has: asked first, because they are slow.
_MARK: Final = re.compile(
    "season|sesong|s[äæ]song?|シーズン|saison|tem|staffel|stagione|seizoen|series|сезон|sezon|시즌|موسم|עונה|тв|tv-|xall"
)


def read_season(draft: TitleDraft) -> None:
    """Take every mention of a season out of the name. The first one that counts something is the season."""
    text = draft.text
    if not text.isascii() and any(counter in text for counter in "季期部기ズ"):
        _take_counted_in_han(draft)
    _take_named(draft)
    if "I)" in text or "V)" in text or "X)" in text:
        for found in _ROMAN_SEASON.finditer(draft.text):
            _take(draft, found, (_ROMAN.index(found[1]),))
    if draft.seasons and draft.part is None and (part := _PART_OF_SEASON.search(draft.text)):
        draft.part = han_number(part[3]) if part[3] else int(part[1] or part[2])
        draft.take(part.start(), part.end(), "season", "a part of a season", mark=SKIPPED)
    if "Cour" in draft.text and draft.part is None and (cour := _COUR.search(draft.text)):
        draft.part = int(cour[1] or cour[2])
        draft.take(cour.start(), cour.end(), "season", "a part of a season", mark=SKIPPED)


def _take_counted_in_han(draft: TitleDraft) -> None:
    """The seasons that Chinese counters name; `第二部` is one where nothing else is, and `第二部分` a part of one."""
    for found in _HAN_SEASON.finditer(draft.text):
        last = han_number(found[2]) if found[2] else None
        _take(draft, found, tuple(map(int, span(han_number(found[1] or found[3]), last).numbers)))
    for found in _ALL_SEASONS.finditer(draft.text):
        draft.is_batch = True
        draft.take(found.start(), found.end(), "season", "so many seasons", mark=SKIPPED)
    for found in _PART.finditer(draft.text):
        if found[2] and draft.part is None:
            draft.part = han_number(found[1])
        elif not found[2] and not draft.seasons:
            draft.seasons = (han_number(found[1]),)
        draft.take(found.start(), found.end(), "season", "a part of a season", mark=SKIPPED)


def read_season_of_name(draft: TitleDraft) -> None:
    """`夜之蔵人2 Yoru no Kurabito [07]`: a digit that only the first of two names has is the season of both.

    Read when the episodes are known: films are numbered so, and have names of their own behind the number.
    """
    if draft.seasons or not draft.episodes or draft.text.isascii() or draft.kind is ReleaseKind.MOVIE:
        return
    found = _DIGIT_OF_NAME.search(draft.text)
    if found is None or found[2] in found[3] or _COUNTS_ON.search(found[3]):
        return
    season = int(found[2])
    # In Chinese the name of an idol group may end so, and has words of its own behind it.
    if sounds_alike(found[3], found[1]) or (season <= _FEW_SEASONS and romaji_key(found[3]) is not None):
        draft.seasons = (season,)
        draft.take(*found.span(2), "season", "a digit behind the first of two names", mark=SKIPPED)


def _take_named(draft: TitleDraft) -> None:
    """The seasons that a word or the letter S names."""
    lowered = draft.text.lower()
    if is_named := _MARK.search(lowered) is not None:
        for found in _ORDINAL_SEASON.finditer(draft.text):
            _take(draft, found, (word_number(found[1] or found[2] or found[3]),))
    if is_named or _SHORT_MARK.search(lowered):
        for found in _SEASONS.finditer(draft.text):
            _take(draft, found, _numbers(found))


def _numbers(found: re.Match[str]) -> tuple[int, ...]:
    """The seasons of a list; a hyphen or "to" between two counts from one to the other."""
    seasons = [int(found[1] or found[3])]
    for joint, digits in _FOLLOWING.findall(found[2] or ""):
        number = int(digits)
        if number <= seasons[-1]:
            break
        seasons += range(seasons[-1] + 1, number) if joint in _THROUGH else ()
        seasons.append(number)
    return tuple(seasons)


def _take(draft: TitleDraft, found: re.Match[str], seasons: tuple[int, ...]) -> None:
    if not draft.seasons:
        draft.seasons = seasons
    draft.take(found.start(), found.end(), "season", "names a season", mark=SKIPPED)
