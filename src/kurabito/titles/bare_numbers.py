"""Recognises numbers that count episodes though no word says so, from where they stand."""

from __future__ import annotations

import re
from typing import Final

from kurabito.titles.draft import TitleDraft
from kurabito.titles.model import ReleaseKind, TitleDoubt
from kurabito.titles.numbers import Run, read_run, span, word_number
from kurabito.titles.text import CJK

_BRACKETED: Final = re.compile(
    r"[\[『(-](?:(?<=[\[『])|(?<=-)\s?\(|(?<=\()(?=\d{1,4}[-~]\d{1,4}(?:\)|\s?[\x00+&])))[\s.]?(?i:EP?\.?\s?|EX\s?|TV\s?)?(?=\d)"
)
_CLOSING: Final = re.compile(
    r"(?:[\s.]?(?:END|FIN(?:AL)?|COMPLETE|EX|RAW|REV\d?|FIX|TV|v(?P<version>\d)|[完结結終终话話集回合全修正季篇连連载載]{1,5}|\([^()\]]{1,12}\)"
    r"|[&+][^\])]{1,12}|[\x00\x01]{1,60})){0,4}[\s.]?[\]』)]",
    re.I,
)
# Behind several numbers any remarks will do: `[01-25 精校合集]`, `[001-110 OVA 本传]`.
_REMARK: Final = re.compile(
    r"[\s.]?(?:TV)?[\s.]?(?=[\u4e00-\u9fff\x00\x01])[\u4e00-\u9fff\x00\x01 ]{1,24}[\]』)]", re.I
)
_DASHED: Final = re.compile(
    r"[-–—~:](?:(?<=[\s.\])\x00\x01!?~].)\s{0,2}(?:#|(?i:EX)\s?)?(?=\d{1,4})"
    r"|(?<=[^\W\d]-|\]-)(?=\d{2,3}(?:v\d)?\s?-?\s?(?:[\[\x00(]|$))|(?i:Ep|Episode)-(?=\d))"
)
_FROM_THE_FIRST: Final = re.compile(r"(?<=\s)0{1,2}1\s$")
_STANDS_ALONE: Final = re.compile(r"\s*(?:[\[(\x00\x01]|$|[-–][\s\[\x00]|END\b|FIN\b|完|\.[\[(\x00])", re.I)
_GAP: Final = re.compile(r"[\s.,]|$")
_TELEVISION_NUMBER: Final = re.compile(
    r"(?<=[A-Za-z][.\s])(?:(?:Part[.\s])?(\d{1,2})(?=[.\s]\x00)|Part[.\s](\d{1,2}|One|Two|Three|Four|Five|Six)(?=[.\s]))",
    re.I,
)
_LAST: Final = re.compile(
    r"(?<=[\s.\])\x00\x01])(\d{2,4}(?=(?:\.\d)?(?:\s?v\d)?[\s.]{0,3}(?:[\x00\[(]|-(?![^\W\d_])|$))|\d{1,4}(?=(?:[-~]|\s?&\s?)\d{2,4}\s?(?:[\x00\[(]|$)))",
    re.I,
)
# `Kura 365 - Vol 1`
_VOLUME_BEHIND: Final = re.compile(r"\s(?:-\s)?Vol(?:ume|\.)?\s?\d", re.I)
# `Kura x 365 (1280x720) 01-13`: what the brackets divide from another number ends the name.
_COUNTED_BEHIND: Final = re.compile(
    r"\s?(?=[\x00\[(])(?:[\s\x00]|[\[(][^\[\]()]{1,80}[\])]){1,200}(?:-\s)?(?!(?:19|20)\d\d)\d{2,4}(?:[-~]\d{2,4})?(?:v\d)?\s?(?:[\x00\[(]|$)"
)
_LEADING_ZERO: Final = re.compile(r"(?<=[\s.])0\d{1,2}(?=(?:v\d)?[\s.](?!\x01))|(?<=\x01\s)\d{2,3}(?=\s)", re.I)
_IN_BRACKET: Final = re.compile(
    rf"(?<=[^\W\d_]\s)(0\d{{1,3}}(?:[-~]\d{{2,4}})?(?:v\d)?|\d{{4}}(?:[-~]\d{{4}})?|(?<=[{CJK}]\s)\d{{3}}(?:[-~]\d{{3,4}})?)\]"
)
_IN_FILE: Final = re.compile(r"(?<=[A-Za-z!?]\s)\d{2,3}(?=\s[A-Z])")
_HYPHENED: Final = re.compile(r"(?<=[A-Za-z!?])-(\d{2,3})-(?=[A-Za-z])")
_FIRST: Final = re.compile(r"[\s\x00]{0,200}(?=\d{2,3}(?:-\d{2,3})?(\s-\s|\.\s|-[A-Z]|\s))")
_LAST_DIGIT: Final = re.compile(r"(?<=[A-Za-z]\s)\d(?=\s\x00)")
_YEAR_OR_TAG: Final = re.compile(r"[\s.]{0,3}(?:\x00|\((?:19|20)\d\d\))")
_NOT_EPISODE: Final = re.compile(
    r"(?<![A-Za-z])(?:Movies?|Part|Vol\.?|Volume|No\.?|Act|Class|Chapter|&|Disc|Cour|Round|Stage|Week|Race)[\s.]?$",
    re.I,
)
# `Koji 00 The Movie`
_FILM_FOLLOWS: Final = re.compile(r"\d*\s(?:the\s)?movie\b", re.I)
_MOST_PARTS: Final = 12
_SCENE_NUMBER: Final = re.compile(r"(?<=[A-Za-z0-9][.\s])(?!(?:19|20)\d\d)(0?[1-9]\d?)(?!00)(\d\d)(?=[.\s]\x00)")
_DOTTED_NUMBER: Final = re.compile(r"(?<=[A-Za-z]\.)([1-9])(\d[1-9]|[1-9]0)(?=\.[A-Z][a-z])")
_ANY_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?![\dpx])")
_CLOSING_END: Final = re.compile(r"\s*-\s")
_SPECIAL_NUMBER: Final = re.compile(r"\x01[ .\-]{0,3}(?=\d{1,3}[a-d]?(?![\dA-Za-z]))")


def behind_dash(draft: TitleDraft) -> bool:
    """`Koji - 07`: the commonest form, and the last one that stands alone counts."""
    best: tuple[Run, int] | None = None
    for found in _DASHED.finditer(draft.text):
        run = read_run(draft.text, found.end(), spaced=True)
        if run is None or is_year(run) or not draft.text[: found.start()].strip(" \x00-"):
            continue
        if (first := _FROM_THE_FIRST.search(draft.text, 0, found.start())) and _STANDS_ALONE.match(draft.text, run.end):
            whole = span(1, int(run.numbers[-1]))
            return draft.settle_episodes(whole, first.start(), run.end, "from the first to the last")
        if best and draft.text[best[0].end - 2 : best[0].end - 1] == "0" and draft.text[found.end()] != "0":
            # `Koji - 06 - 7`: who writes the zero writes it in every number that counts episodes.
            continue
        if _STANDS_ALONE.match(draft.text, run.end) and not (best and len(run.numbers) > 1):
            best = (run, found.start())
            if not _CLOSING_END.match(draft.text, run.end):
                break
        elif best is None and _GAP.match(draft.text, run.end) and _counts(draft, found.end()):
            best = (run, found.start())
    if best is None:
        return False
    _doubt_three_digits(draft, best[0])
    return draft.settle_episodes(best[0], best[1], best[0].end, "a number behind a dash")


def _doubt_three_digits(draft: TitleDraft, run: Run) -> None:
    """Where no group signs in front, `103` can be the third episode of the first season."""
    if len(run.numbers) == 1 and 100 <= run.numbers[0] <= 999 and not draft.original.startswith("["):
        draft.doubt(TitleDoubt.BARE_NUMBER)


def _counts(draft: TitleDraft, at: int) -> bool:
    """Whether a number with words behind it is still likely to count episodes."""
    return draft.text[at] == "0" or (draft.original.startswith("[") and draft.text[at : at + 2].isdigit())


def alone_in_brackets(draft: TitleDraft) -> bool:
    """`[07]`, `[01-12 Fin]`; a year alone in brackets is a year, and what follows the group and precedes another is a name."""
    year: tuple[Run, int, int] | None = None
    for found in _BRACKETED.finditer(draft.text):
        run = read_run(draft.text, found.end())
        closing = _closing(draft.text, run) if run else None
        if run is None or closing is None or (is_year(run) and len(run.numbers) > 1):
            continue
        if is_year(run):
            year = year or (run, found.start(), closing.end())
            continue
        if draft.group and not draft.text[: found.start()].strip("\x00 ") and _numbered(draft.text, closing.end()):
            continue
        if found.start() == 0 and "[" not in draft.text[closing.end() :] and not _BRACKETED.search(draft.text, 1):
            continue
        draft.version = int(closing.groupdict().get("version") or 0) or draft.version
        _doubt_three_digits(draft, run)
        return draft.settle_episodes(run, found.start(), closing.end(), "a number alone in brackets")
    if year is not None and draft.year is None:
        draft.year = int(year[0].numbers[0])
        draft.take(year[1], year[2], "year", "a year alone in brackets")
    return False


def _numbered(text: str, at: int) -> bool:
    """Whether a bracket of numbers begins here."""
    found = _BRACKETED.match(text, at)
    run = read_run(text, found.end()) if found else None
    return run is not None and not is_year(run) and _closing(text, run) is not None


def _closing(text: str, run: Run) -> re.Match[str] | None:
    """The end of a bracket that has nothing in it but numbers and remarks about them."""
    return _CLOSING.match(text, run.end) or (_REMARK.match(text, run.end) if len(run.numbers) > 1 else None)


def behind_kind(draft: TitleDraft) -> bool:
    """`OVA - 02`, `SP03`."""
    if draft.kind in (None, ReleaseKind.MOVIE, ReleaseKind.TV):
        return False
    found = _SPECIAL_NUMBER.search(draft.text)
    if found and (run := read_run(draft.text, found.end())):
        return draft.settle_episodes(run, found.start(), run.end, "a number behind the kind")
    return False


def season_and_episode_in_one(draft: TitleDraft) -> bool:
    """`show.217.hdtv` is season 2, episode 17, in titles without brackets."""
    if draft.original.startswith("[") or draft.original.count(".") < 2:
        return False
    recorded = "HDTV" in draft.values.get("source", ())
    if recorded and (found := _TELEVISION_NUMBER.search(draft.text)):
        draft.doubt(TitleDoubt.BARE_NUMBER)
        return draft.settle_match(span(word_number(found[1] or found[2])), found, "a part of what was recorded")
    if found := _SCENE_NUMBER.search(draft.text) or _dotted_number(draft):
        draft.seasons = (int(found[1]),)
        draft.doubt(TitleDoubt.SPLIT_NUMBER)
        return draft.settle_match(span(int(found[2])), found, "a season and an episode in one number")
    return False


def _dotted_number(draft: TitleDraft) -> re.Match[str] | None:
    """`The.Cellar.217.First.Pressing`: a film would have a year."""
    if " " in draft.original.strip() or _ANY_YEAR.search(draft.original):
        return None
    return _DOTTED_NUMBER.search(draft.text)


def last_of_name(draft: TitleDraft) -> bool:
    """`Koji 031 [720p]`."""
    # A checksum is that of one file, so even a single digit before it counts.
    single = _LAST_DIGIT.search(draft.text) if draft.checksum else None
    if single and not _NOT_EPISODE.search(draft.text[: single.start()]):
        return draft.settle_match(span(int(single[0])), single, "the last number of one file's name")
    for found in _LAST.finditer(draft.text):
        run = read_run(draft.text, found.start(), spaced=True)
        before = draft.text[: found.start()]
        if run is None or is_year(run) or not before.strip(" .\x00\x01"):
            continue
        if _COUNTED_BEHIND.match(draft.text, run.end) or _VOLUME_BEHIND.match(draft.original, run.end):
            continue
        # `The Final Act 01-26`: so many are episodes, whatever word is before them.
        if len(run.numbers) <= _MOST_PARTS and _NOT_EPISODE.search(before):
            continue
        if not _is_part_of_film(draft, found):
            if _is_ambiguous(draft, found[0], run):
                draft.doubt(TitleDoubt.BARE_NUMBER)
            return draft.settle_episodes(run, found.start(), run.end, "the last number of the name")
    return False


def _is_ambiguous(draft: TitleDraft, digits: str, run: Run) -> bool:
    """Whether a number could as well end the name: `Koji 100`. Zeros in front, and small numbers of fansubs, count episodes."""
    if len(run.numbers) > 1:
        return run.numbers[0] > 1 and not draft.original.startswith("[")
    return not digits.startswith("0") and (run.numbers[0] >= 100 or not draft.original.startswith("["))


def _is_part_of_film(draft: TitleDraft, found: re.Match[str]) -> bool:
    """`Koji 13 1080p` is no episode; `Koji 013` is, and so is what was recorded from television."""
    if draft.original.startswith("[") or found[1].startswith("0") or "HDTV" in draft.values.get("source", ()):
        return False
    ahead = _YEAR_OR_TAG.match(draft.text, found.end())
    if ahead is None or draft.text[: found.start()].rstrip(" .").endswith("-"):
        return False
    return "(" in ahead[0] or (len(found[1]) < 3 and "[" not in draft.original)


def with_leading_zero(draft: TitleDraft) -> bool:
    """`Koji 01 First Pressing`."""
    found = _LEADING_ZERO.search(draft.text)
    if found and (_NOT_EPISODE.search(draft.text, 0, found.start()) or _FILM_FOLLOWS.match(draft.text, found.end())):
        return False
    if found and (run := read_run(draft.text, found.start())):
        digits = draft.text[found.start() : run.end].strip()
        if not draft.text.isascii() and re.search(rf"[{CJK}]{re.escape(digits)}(?!\d)", draft.text):
            # `夜之蔵人00 / Yoru no Kurabito 00 / 夜のくらびと00`: each of the names ends so.
            return False
        return draft.settle_episodes(run, found.start(), run.end, "a number that begins with zero")
    return False


def last_in_bracket(draft: TitleDraft) -> bool:
    """`[Koji 08]`, `[蔵人探偵 1105]`: a name and its episode in one bracket."""
    found = _IN_BRACKET.search(draft.text)
    run = read_run(draft.text, found.start(1)) if found else None
    if found is None or run is None or is_year(run):
        return False
    draft.doubt(TitleDoubt.BARE_NUMBER)
    return draft.settle_episodes(run, *found.span(1), "the last number in the bracket of the name")


def within_file_name(draft: TitleDraft) -> bool:
    """`[Kura] Koji 14 First Pressing [A1B2C3D4].mkv`: the name of one file, not of a series."""
    if not draft.original.startswith("[") or not (draft.checksum or draft.values.get("container")):
        return False
    found = _IN_FILE.search(draft.text)
    if found is None or _NOT_EPISODE.search(draft.text[: found.start()]):
        return False
    draft.doubt(TitleDoubt.BARE_NUMBER)
    return draft.settle_match(span(int(found[0])), found, "a number in the name of a file")


def between_hyphens(draft: TitleDraft) -> bool:
    """`koji-07-first-pressing`."""
    found = _HYPHENED.search(draft.text)
    if found is None:
        return False
    draft.doubt(TitleDoubt.BARE_NUMBER)
    return draft.settle_match(span(int(found[1])), found, "a number between hyphens")


def before_name(draft: TitleDraft) -> bool:
    """`06 Koji [720p]`, `003. Koji - First Pressing`."""
    found = _FIRST.match(draft.text)
    if found is None:
        return False
    # `91 Barrels`, `86 - Barrel Six`: without a zero in front, a number before a name is rather a part of it.
    is_list = found[1].startswith((".", "-")) or (found[1] == " - " and not draft.seasons)
    if draft.text[found.end()] != "0" and not is_list:
        return False
    run = read_run(draft.text, found.end())
    if run is None:
        return False
    dash = draft.text.find(" - ", run.end)
    if found[1].startswith(".") and dash > 0:
        draft.take(dash, len(draft.text), "episode", "the episode's own name")
    draft.doubt(TitleDoubt.BARE_NUMBER)
    return draft.settle_episodes(run, found.end(), run.end, "the number before the name")


def is_year(run: Run) -> bool:
    """Whether what was read begins with a year."""
    return 1900 <= run.numbers[0] <= 2099
