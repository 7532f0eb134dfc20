"""Recognises episodes, from the surest form to the least sure; the first form that fits is the answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kurabito.titles.draft import Draft
from kurabito.titles.model import Kind
from kurabito.titles.numbers import HAN, Run, han_number, read_run

_SEASON_EPISODE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:S|Season|Se\.|T)[ .]?(\d{1,4})[ .,\-x/]{0,3}\(?(?:E|EP|Ep\.|Episode|Afl\.)[ .]{0,2}(?=\d)",
    re.I,
)
_SEASON_SPACE_EPISODE: Final = re.compile(r"(?<![A-Za-z0-9])S(\d{2})[ .](?=\d{2}(?:[\x00 .]|$))", re.I)
_BRACKETED_PAIR: Final = re.compile(r"[\[(]S([1-9])-(?=\d{2}[\])])", re.I)
_CROSS: Final = re.compile(r"(?<![0-9])(\d{1,2}|(?:19|20)\d\d)[xх](?=\d{1,3}(?!\d))", re.I)
_TWIN: Final = re.compile(r"-\s?\d{1,4}\s?-\s?$|\s\d{3,4}-\d{3,4}\s$")
_TWIN_IN_FANSUB: Final = re.compile(r"-\s?\d{1,4}\s?-\s?$|\s\d{3,4}(?:-\d{3,4})?\s$")
_HAN_EPISODE: Final = re.compile(
    rf"第\s?(\d{{1,4}}(?:\.\d)?|[{HAN}]{{1,7}})(?:v\d)?(?:\s?[-~至到+&]\s?第?\s?(\d{{1,4}}|[{HAN}]{{1,7}}))?\s?[话話集回夜幕]"
)
_HAN_ALL: Final = re.compile(rf"[全共]\s?(\d{{1,4}}|[{HAN}]{{1,7}})\s?[话話集回]")
_HAN_COUNTED: Final = re.compile(r"(?<![\d.])(\d{1,4})(?:\s?[-~]\s?(\d{1,4}))?\s?[话話集回](?![\w])")
_NAMED: Final = re.compile(
    r"(?<![A-Za-z])(?:Episodes?|Epis[oó]dio|Eps?|E|Cap(?:itulo)?|Folge|Afl|#)[ .]{0,2}(?=\d)|(?<=\s)#(?=\d)", re.I
)
_TURKISH: Final = re.compile(r"(?<![\d.])(\d{1,4})\s?\.\s?(?:B[oö]l[uü]m|Blm)(?![a-z])", re.I)
# Spanish releases write season and episode as one number.
_SPANISH: Final = re.compile(r"Cap\.\s?(\d{1,2})(\d\d)(?:[ \-]\d{1,2}(\d\d))?(?!\d)", re.I)
_RUSSIAN: Final = re.compile(
    r"Сери[ия]:?\s?№?(\d{1,4})(?:\s?-\s?(\d{1,4}))?(?!\d)|(?<!\d)(\d{1,4})(?:-?я)?[ .](?:сер(?:ия|\.|ии)|seri[ay])",
    re.I,
)
_OF: Final = re.compile(r"(?<!\d)(?<!Season[ .])(\d{1,3})[\s.]?(?:of|iz|von|de)[\s.]?(\d{1,3})(?![\dA-Za-z])", re.I)
_BRACKETED: Final = re.compile(r"(?:[\[『]|-\s?\(|\((?=\d{1,4}-\d{1,4}\)))\s?(?:EP?\.?\s?|EX\s?|TV\s)?(?=\d)", re.I)
_CLOSING: Final = re.compile(
    r"(?:[\s.]?(?:END|FIN(?:AL)?|EX|RAW|[完结結終终话話集回合全修正季篇]{1,5}|\([^()\]]{1,12}\)|[&+][^\]]{1,12}|\x01{1,6})){0,4}\s?[\]』)]",
    re.I,
)
_DASHED: Final = re.compile(
    r"(?<=[\s.\])\x00\x01!?~])[-–—~:]\s{0,2}(?:#|EX\s?)?(?=\d{1,4})|(?<=[^\W\d]|\])-(?=\d{2,3}(?:v\d)?\s?(?:[\[\x00(]|$))"
)
_STANDS_ALONE: Final = re.compile(r"\s*(?:[\[(\x00\x01]|$|[-–]\s|END\b|FIN\b|完|\.[\[(\x00])", re.I)
_GAP: Final = re.compile(r"[\s.,]|$")
_TELEVISION_NUMBER: Final = re.compile(r"(?<=[A-Za-z][.\s])(?:Part[.\s])?(\d{1,2})(?=[.\s]\x00)", re.I)
_LAST: Final = re.compile(
    r"(?<=[\s.\])\x00\x01])(\d{2,4}(?=(?:\.\d)?(?:\s?v\d)?[\s.]{0,3}(?:[\x00\[(-]|$))|\d{1,4}(?=[-~]\d{2,4}\s?(?:[\x00\[(]|$)))",
    re.I,
)
_LEADING_ZERO: Final = re.compile(r"(?<=[\s.])0\d{1,2}(?=(?:v\d)?[\s.](?!\x01))", re.I)
_FIRST: Final = re.compile(r"[\s\x00]{0,200}(?=\d{2,3}(?:-\d{2,3})?(\s-\s|\.\s|-[A-Z]|\s))")
_LAST_DIGIT: Final = re.compile(r"(?<=[A-Za-z]\s)\d(?=\s\x00)")
_YEAR_OR_TAG: Final = re.compile(r"[\s.]{0,3}(?:\x00|\((?:19|20)\d\d\))")
_NOT_EPISODE: Final = re.compile(r"(?:Movies?|Part|Vol\.?|Volume|No\.?|Act|Class|Chapter|&|Disc|Cour)\s?$", re.I)
_SCENE_NUMBER: Final = re.compile(r"(?<=[A-Za-z0-9][.\s])(?!19|20)(0?[1-9]\d?)(\d\d)(?=[.\s]\x00)")

_VOLUME: Final = re.compile(r"(?<![A-Za-z])Vol(?:ume)?s?[ .]{0,2}\d{1,3}(?:\s?[-&+~ ]\s?\d{1,3})?(?![\dA-Za-z])", re.I)


def read_episodes(draft: Draft) -> None:
    """Find which episodes the title is about, and take them out of it."""
    for found in _VOLUME.finditer(draft.text):
        draft.take(found.start(), found.end(), "volume", "counts discs, not episodes")
    if draft.episodes:
        return
    for recognise in _FORMS:
        if recognise(draft):
            break


def _settle(draft: Draft, run: Run, start: int, end: int, why: str) -> bool:
    draft.episodes = run.numbers
    draft.version = run.version or draft.version
    draft.take(start, end, "episode", why)
    return True


def read_season_and_episode(draft: Draft) -> None:
    """`S01E02` and `1x02`: so sure that they are read before the tags, which some releases wrap around them."""
    for pattern in (_SEASON_EPISODE, _SEASON_SPACE_EPISODE, _CROSS, _BRACKETED_PAIR):
        found = pattern.search(draft.text)
        if found and (run := read_run(draft.text, found.end())):
            draft.seasons = (int(found[1]),)
            _take_twin(draft, run, found.start())
            _settle(draft, run, found.start(), run.end, "a season and an episode")
            return


def _take_twin(draft: Draft, run: Run, before: int) -> None:
    """`Name - 05 - S01E05` says it twice."""
    if twin := (_TWIN_IN_FANSUB if draft.original.startswith("[") else _TWIN).search(draft.text, 0, before):
        draft.take(twin.start(), before, "episode", "the same number again")


def _chinese(draft: Draft) -> bool:
    text = draft.text
    if found := _HAN_EPISODE.search(text):
        if "." in found[1]:
            numbers: tuple[float, ...] = (float(found[1]),)
        else:
            first = han_number(found[1])
            last = han_number(found[2]) if found[2] else first
            numbers = tuple(range(first, last + 1)) if first <= last <= first + 2000 else (first,)
        return _settle(draft, Run(numbers, None, 0), found.start(), found.end(), "第…话 counts episodes")
    if found := _HAN_ALL.search(text):
        draft.is_batch = True
        everything = tuple(range(1, min(han_number(found[1]), 2000) + 1))
        return _settle(draft, Run(everything, None, 0), found.start(), found.end(), "全…话 is the whole season")
    if found := _HAN_COUNTED.search(text):
        first, last = int(found[1]), int(found[2] or found[1])
        numbers = tuple(range(first, last + 1)) if first <= last <= first + 2000 else (first,)
        return _settle(draft, Run(numbers, None, 0), found.start(), found.end(), "counted in 话 or 集")
    return False


def _named(draft: Draft) -> bool:
    if found := _TURKISH.search(draft.text):
        return _settle(draft, Run((int(found[1]),), None, 0), found.start(), found.end(), "the word for episode")
    if found := _SPANISH.search(draft.text):
        draft.seasons = (int(found[1]),)
        first, last = int(found[2]), int(found[3] or found[2])
        return _settle(
            draft,
            Run(tuple(range(first, max(first, last) + 1)), None, 0),
            found.start(),
            found.end(),
            "Cap. counts both",
        )
    if found := _RUSSIAN.search(draft.text):
        first, last = int(found[1] or found[3]), int(found[2] or found[1] or found[3])
        return _settle(
            draft,
            Run(tuple(range(first, max(first, last) + 1)), None, 0),
            found.start(),
            found.end(),
            "the word for episode",
        )
    for found in _NAMED.finditer(draft.text):
        if run := read_run(draft.text, found.end()):
            return _settle(draft, run, found.start(), run.end, "the word for episode")
    if found := _OF.search(draft.text):
        return _settle(draft, Run((int(found[1]),), None, 0), found.start(), found.end(), "one of so many")
    return False


def _bracketed(draft: Draft) -> bool:
    year: tuple[Run, int, int] | None = None
    for found in _BRACKETED.finditer(draft.text):
        run = read_run(draft.text, found.end())
        closing = _CLOSING.match(draft.text, run.end) if run else None
        if run is None or closing is None or (_is_year(run) and len(run.numbers) > 1):
            continue
        if len(run.numbers) == 1 and 1900 <= run.numbers[0] <= 2099:
            year = year or (run, found.start(), closing.end())
            continue
        if found.start() == 0 and "[" not in draft.text[closing.end() :] and not _BRACKETED.search(draft.text, 1):
            continue
        return _settle(draft, run, found.start(), closing.end(), "a number alone in brackets")
    if year is not None and draft.year is None:
        draft.year = int(year[0].numbers[0])
        draft.take(year[1], year[2], "year", "a year alone in brackets")
    return False


def _dashed(draft: Draft) -> bool:
    best: tuple[Run, int] | None = None
    for found in _DASHED.finditer(draft.text):
        run = read_run(draft.text, found.end(), spaced=True)
        if run is None or _is_year(run) or not draft.text[: found.start()].strip(" \x00-"):
            continue
        if _STANDS_ALONE.match(draft.text, run.end) and not (best and len(run.numbers) > 1):
            best = (run, found.start())
            if not _CLOSING_END.match(draft.text, run.end):
                break
        elif best is None and _GAP.match(draft.text, run.end) and _counts(draft, found.end()):
            best = (run, found.start())
    return best is not None and _settle(draft, best[0], best[1], best[0].end, "a number behind a dash")


_CLOSING_END: Final = re.compile(r"\s*-\s")


def _counts(draft: Draft, at: int) -> bool:
    """Whether a number with words behind it is still likely to count episodes."""
    return draft.text[at] == "0" or (draft.original.startswith("[") and draft.text[at : at + 2].isdigit())


def _is_year(run: Run) -> bool:
    return 1900 <= run.numbers[0] <= 2099


def _special(draft: Draft) -> bool:
    if draft.kind in (None, Kind.MOVIE, Kind.TV):
        return False
    found = _SPECIAL_NUMBER.search(draft.text)
    if found and (run := read_run(draft.text, found.end())):
        return _settle(draft, run, found.start(), run.end, "a number behind the kind")
    return False


_SPECIAL_NUMBER: Final = re.compile(r"\x01[ .\-]{0,3}(?=\d{1,3}[a-d]?(?![\dA-Za-z]))")


def _last_number(draft: Draft) -> bool:
    # A checksum is that of one file, so even a single digit before it counts.
    if (
        draft.checksum
        and (found := _LAST_DIGIT.search(draft.text))
        and not _NOT_EPISODE.search(draft.text[: found.start()])
    ):
        return _settle(
            draft, Run((int(found[0]),), None, 0), found.start(), found.end(), "the last number of one file's name"
        )
    for found in _LAST.finditer(draft.text):
        run = read_run(draft.text, found.start())
        if run is None or _is_year(run) or _NOT_EPISODE.search(draft.text[: found.start()]):
            continue
        if not draft.text[: found.start()].strip(" .\x00\x01"):
            continue
        if _is_part_of_film(draft, found):
            continue
        return _settle(draft, run, found.start(), run.end, "the last number of the name")
    return False


def _is_part_of_film(draft: Draft, found: re.Match[str]) -> bool:
    """`Apollo 13 1080p` is no episode; `Naruto 013` is, and so is what was recorded from television."""
    if "[" in draft.original or found[1].startswith("0") or "HDTV" in draft.values.get("source", ()):
        return False
    ahead = _YEAR_OR_TAG.match(draft.text, found.end())
    return ahead is not None and (len(found[1]) < 3 or "(" in ahead[0])


def _scene_number(draft: Draft) -> bool:
    """`show.217.hdtv` is season 2, episode 17, where nobody uses brackets."""
    if draft.original.startswith("[") or draft.original.count(".") < 2:
        return False
    recorded = "HDTV" in draft.values.get("source", ())
    if recorded and (found := _TELEVISION_NUMBER.search(draft.text)):
        return _settle(
            draft, Run((int(found[1]),), None, 0), found.start(), found.end(), "a number before what was recorded"
        )
    if found := _SCENE_NUMBER.search(draft.text):
        draft.seasons = (int(found[1]),)
        return _settle(
            draft, Run((int(found[2]),), None, 0), found.start(), found.end(), "a season and an episode in one number"
        )
    return False


def _zero_number(draft: Draft) -> bool:
    found = _LEADING_ZERO.search(draft.text)
    if found and (run := read_run(draft.text, found.start())):
        return _settle(draft, run, found.start(), run.end, "a number that begins with zero")
    return False


def _first_number(draft: Draft) -> bool:
    found = _FIRST.match(draft.text)
    if found is None or (found[1] == " " and not draft.original.startswith("[") and draft.text[found.end()] != "0"):
        return False
    run = read_run(draft.text, found.end())
    if run is None:
        return False
    dash = draft.text.find(" - ", run.end)
    if found[1].startswith(".") and dash > 0:
        draft.take(dash, len(draft.text), "episode", "the episode's own name")
    return _settle(draft, run, found.end(), run.end, "the number before the name")


_FORMS: Final[tuple[Callable[[Draft], bool], ...]] = (
    _chinese,
    _dashed,
    _bracketed,
    _named,
    _special,
    _scene_number,
    _last_number,
    _zero_number,
    _first_number,
)
