"""Recognises years and dates."""

from __future__ import annotations

import re
from typing import Final

from kurabito.titles.draft import SKIPPED, TAKEN, TitleDraft
from kurabito.titles.text import CJK, CJK_LETTER, LETTER_OR_DIGIT

_DATE: Final = re.compile(
    r"(?<!\d)(?:((?:19|20)\d\d)[. \-/](\d\d)[. \-/](\d\d)|(\d\d)[. \-/](\d\d)[. \-/]((?:19|20)\d\d))(?!\d)"
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WRITTEN_DATE: Final = re.compile(
    rf"(?<![\dA-Za-z])(\d{{1,2}})[. \-]({'|'.join(_MONTHS)})[a-z]{{0,6}}[. \-]((?:19|20)\d\d)(?!\d)", re.I
)
# What every day has: asked first, because few titles have one.
_DATE_LIKE: Final = re.compile(r"\d[. \-/](?:\d\d[. \-/]\d\d|[A-Za-z]{3,9}[. \-]\d{4})")
# At the very front, and with nothing behind it but what was taken, it is the name.
_SHORT_DATE: Final = re.compile(
    r"(?:(?<=[A-Za-z]\.)|^)\d\d\.\d\d\.\d\d(?=\.(?!\x00)|$)|(?<=[A-Za-z]\.)\d\d\.\d\d\.\d\d(?=\.\x00)"
    r"|(?:(?<=[A-Za-z!?][ .])|(?<=\s-\s))(?:(?:0\d|1[0-2])-(?:[0-2]\d|3[01])|(?:[0-2]\d|3[01])-(?:0\d|1[0-2]))-\d\d(?=[ .\x00]|$)"
)
# `Koji 2045` is a name: nothing was released so late.
_BRACKETED_YEAR: Final = re.compile(
    r"[(\[][^()\[\]]{0,30}?(?<![\dA-Za-z])((?:19\d|20[0-3])\d)(?:[-–]\d{2,4})?(?![\dA-Za-z])[^()\[\]]{0,60}[)\]]"
)
# `夜之蔵人 2019 (Yoru no Kurabito 2019)`: what stands in brackets is the other name.
_YEAR_OF_NAME: Final = re.compile(
    rf"[{CJK}](?:(?:\s?(?:19[5-9]|20[0-3])\d)?\s?\(|\]\[)(?=[A-Z])(?!(?:Spring|Summer|Autumn|Fall|Winter)\s)"
    rf"[^()\[\]{CJK}\x00]{{3,60}}\s((?:19[5-9]|20[0-3])\d)[\])]"
)
# `夜之蔵人 1999版`: the version of that year.
_VERSION_OF_YEAR: Final = re.compile(r"(?<!\d)((?:19[5-9]|20[0-3])\d)\s?年?版(?=[\s\])/\x00]|$)")
# Behind the year of one name the next one begins.
_NEXT_NAME: Final = re.compile(rf"\s?[/|]\s?\w|\]\[[^\W\d_]{{3}}|\s-\s[{CJK}]")
# `【2018】夜之蔵人.Yoru.E21`
_YEAR_IN_FRONT: Final = re.compile(rf"\[((?:19[5-9]|20[0-3])\d)\](?=[{CJK}])")
_LATIN_NAME: Final = re.compile(r"\s[A-Z][a-z]{2}")
_BARE_YEAR: Final = re.compile(r"(?<=[\s.\x00-])((?:19\d|20[0-3])\d)(?:-(?:19|20)\d\d)?(?=[\s.\x00,\])-]|$)")

# `밤의 양조장 1988.E01.1080p`: the dot ends the name, and what stands behind its blank is the last word of it.
_EPISODE_NEXT: Final = re.compile(r"\.EP?\d", re.I)


def read_date(draft: TitleDraft) -> None:
    """A day, as shows that air daily have it."""
    if not _DATE_LIKE.search(draft.text):
        return
    for found in _DATE.finditer(draft.text):
        year, month, day = (found[1], found[2], found[3]) if found[1] else (found[6], found[5], found[4])
        if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
            draft.date = f"{year}-{month}-{day}"
            draft.year = int(year)
            draft.take(found.start(), found.end(), "date", "a day")
            return
    written = _WRITTEN_DATE.search(draft.text)
    if written and 1 <= int(written[1]) <= 31:
        draft.date = f"{written[3]}-{_MONTHS.index(written[2].lower()) + 1:02}-{int(written[1]):02}"
        draft.year = int(written[3])
        draft.take(written.start(), written.end(), "date", "a day")
        return
    if short := _SHORT_DATE.search(draft.text):
        draft.take(short.start(), short.end(), "date", "a day whose order of numbers is unknown")


def read_year(draft: TitleDraft) -> None:
    """The year behind the name. A name can begin with one, and of several the last counts."""
    if not draft.text.isascii() and _read_year_beside_names(draft):
        return
    found = _BRACKETED_YEAR.search(draft.text)
    if found and LETTER_OR_DIGIT.search(draft.text[: found.start()] + draft.text[found.end() :]):
        draft.year = int(found[1])
        mark = " " if draft.goes_on_behind(found.end()) else _mark_of(draft.text, found.end(), found.start())
        draft.take(found.start(), found.end(), "year", "a year in brackets", mark=mark)
        # Each name of a release can carry it.
        for again in _BRACKETED_YEAR.finditer(draft.text):
            if again[0][1:-1] == found[1]:
                mark = _mark_of(draft.text, again.end())
                draft.take(again.start(), again.end(), "year", "the same year again", mark=mark)
        return
    if draft.original.startswith("[") and draft.episodes:
        # Fansubs bracket the year; one that stands bare before an episode tells two series apart.
        return
    last: re.Match[str] | None = None
    for found in _BARE_YEAR.finditer(draft.text):
        if draft.text[: found.start()].strip(" .\x00[") and not _is_word_of_name(draft, found):
            last = found
    if last is not None:
        draft.year = int(last[1])
        draft.take(last.start(), last.end(), "year", "a year behind the name")


def _read_year_beside_names(draft: TitleDraft) -> bool:
    """A year as Chinese titles have it: of a version, in front, or behind the other name."""
    if "版" in draft.text and (found := _VERSION_OF_YEAR.search(draft.text)):
        draft.year = int(found[1])
        draft.take(*found.span(), "year", "the version of a year", mark=_mark_of(draft.text, found.end()))
        return True
    found = _YEAR_IN_FRONT.match(draft.text) if draft.group is None else None
    if found or (found := _YEAR_OF_NAME.search(draft.text)):
        draft.year = int(found[1])
        draft.take(*found.span(1), "year", "a year in front, or behind the other name", mark=SKIPPED)
    return found is not None


def _is_word_of_name(draft: TitleDraft, found: re.Match[str]) -> bool:
    """Whether a year hangs on a name by a blank, and the episode on both by a dot."""
    is_joined = draft.original[found.start() - 1] == " " and "." not in draft.original[: found.start()].strip(". ")
    return is_joined and _EPISODE_NEXT.match(draft.original, found.end()) is not None


def _mark_of(text: str, end: int, start: int = 0) -> str:
    """What stands for a year: another name may follow it, `夜之蔵人 (2019) / Yoru no Kurabito`."""
    is_between = _LATIN_NAME.match(text, end) and CJK_LETTER.match(text[:start].rstrip()[-1:])
    return SKIPPED if is_between or _NEXT_NAME.match(text, end) else TAKEN
