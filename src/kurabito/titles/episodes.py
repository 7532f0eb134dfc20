"""Recognises episodes, from the surest form to the least sure; the first form that fits is the answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kurabito.titles import bare_numbers
from kurabito.titles.draft import SKIPPED, TitleDraft
from kurabito.titles.model import ReleaseKind
from kurabito.titles.numbers import HAN, Run, han_number, read_run, span
from kurabito.titles.text import CJK, LETTER_OR_DIGIT

_SEASON_EPISODE: Final = re.compile(
    r"[SsTt](?<![A-Za-z0-9].)(?:(?<=[Ss])(?i:eason(?![ .]?(?:19|20)\d\d(?!\d))|e\.))?[ .]?(\d{1,4})[ .,\-xX/]{0,3}\(?"
    r"(?i:E|EP|Ep\.|Episode|Afl\.)[ .]{0,2}(?=\d)"
)
_SEASON_SPACE_EPISODE: Final = re.compile(r"[Ss](?<![A-Za-z0-9].)(\d{2})[ .](?=\d{2}(?:[\x00 .]|$))")
_BRACKETED_PAIR: Final = re.compile(r"[\[(]S([1-9])-(?=\d{2}[\])])", re.I)
# A year counts as a season only before two digits: what has three behind it is the size of a picture.
_CROSS: Final = re.compile(
    r"(\d(?<![0-9].)\d?(?:(?<=19|20)\d\d(?=.\d\d(?!\d)))?)[xXхХ](?=\d{1,3}(?!\d))(?!\d(?!\d)[^\x00\[]{0,80}\s-\s\d\d)(?!(?<=\d\.\d.)\d(?!\d))"
)
_TWIN: Final = re.compile(r"(?<![A-Za-z\d])-\s?\d{1,4}\s?-\s?$|\s\d{3,4}-\d{3,4}\s$")
_TWIN_IN_FANSUB: Final = re.compile(r"(?<![A-Za-z\d])-\s?\d{1,4}\s?(?:-\s?|\()$|\s\d{3,4}(?:-\d{3,4})?\s$")
_HAN_EPISODE: Final = re.compile(
    rf"第\s?(\d{{1,4}}(?:\.\d)?|[{HAN}]{{1,7}})(?:v\d)?(?:\s?[-~至到+&]\s?第?\s?(\d{{1,4}}|[{HAN}]{{1,7}}))?\s?(?:[话話集回]|(?<=\d)[夜幕])"
)
# Many a show calls its episodes by a word of its own, `第20頁`, `第9杯`; the words left out count seasons, discs, trailers and ages.
_OWN_COUNTER: Final = re.compile(
    rf"(?<=[\w!?。)\[\]\s~])第\s?(\d{{1,3}}|[{HAN}]{{1,4}})\s?(?![季期部弾弹巻卷輯辑册冊枚回次代世号號位名級级区區班型式種种編编篇])"
    rf"([\u4e00-\u9fff])(?=\s?(?:[「\[\](\x00\x01]|$)|\s)"
)
# The same in a recording: `Lesson 07`, `其の七`.
_OWN_WORD: Final = re.compile(
    rf"(?<=[{CJK}!?。~]\s)(?:(?:Lesson|Stage|Phase|File|Act|Chapter|Scene|Page|Track|Step|Mission|Case|Round|Turn|Night|Story|Log|Level)"
    rf"[ .]{{0,2}}(\d{{1,3}})|[其そ]の(?:\s?)([{HAN}]{{1,4}}|\d{{1,3}}))(?=\s?[「\[(\x00])",
    re.I,
)
_HAN_ALL: Final = re.compile(rf"[全共]\s?(\d{{1,4}}|[{HAN}]{{1,7}})\s?[话話集回]")
_HAN_COUNTED: Final = re.compile(r"(?<![\d.])(?:제\s?)?(\d{1,4})(?:\s?[-~]\s?(\d{1,4}))?\s?[话話集回화회](?!\w)")
_NAMED: Final = re.compile(
    r"(?<![^\W\d_])(?:[EÉ]pisodes?|Epis[oó]dio|Eps?|E|Cap(?:[ií]tulo)?|Folge|Puntata|Afl|Odc|T[aậ]p|ตอนที่|(?:ال)?حلقة|Эпизод|Выпуск|פרק|#)[ .]{0,2}(?=\d)"
    r"|(?<=\s)#(?=\d)",
    re.I,
)
_TURKISH: Final = re.compile(r"(\d(?<![\d.].)\d{0,3})\s?\.\s?(?:B[oö]l[uü]m|Blm)(?![a-z])", re.I)
# Spanish releases write season and episode as one number.
_SPANISH: Final = re.compile(r"Cap\.\s?(\d{1,2})(\d\d)(?:[ \-]\d{1,2}(\d\d))?(?!\d)", re.I)
_RUSSIAN: Final = re.compile(
    r"(?:(?<=[^\W\d_]{3})\.\s)?Сер(?:и[ия]|і[яї]):?\s?(?:No)?(\d{1,4})(?:\s?-\s?(\d{1,4}))?(?!\d)"
    r"|(?:(?<=[^\W\d_]{3})\.\s)?(?<!\d)(\d{1,4})(?:-(\d{1,4}))?(?:-?я)?[ .](?:сер(?:и[ия]|і[яї]|\.)|seri[ay])",
    re.I,
)
# What each of these has: asked first, because few titles have one.
_OF_LIKE: Final = re.compile(r"\d[\s.]?(?:of|iz|из|von|de)[\s.]?\d", re.I)
_OF: Final = re.compile(
    r"(?:(?<![A-Za-z])Part[ .])?(?<![\d-])(?<!Season[ .])(\d{1,3})(?:-(\d{1,3}))?[\s.]?(?:of|iz|из|von|de)[\s.]?\d{1,3}(?![\dA-Za-z])",
    re.I,
)
# A season and an episode with a dot between them, where nothing else can be meant: `[2.07]`, ` - 2.07 - `.
_DOTTED_PAIR: Final = re.compile(r"(\d(?<=[\[\s].)\d?)\.(\d{2,3})(?=\]|\s-\s)")
_BEFORE_PAIR: Final = re.compile(r"(?:\[|\s-\s|Episode\s)$", re.I)
_OF_SLASHED: Final = re.compile(r"(?<=\s)(\d{2,3})/\d{2,3}(?=\s?(?:[\[(\x00]|$))")
_OF_IN_BRACKET: Final = re.compile(r"(?<=[\[(])(\d{1,3})/(\d{1,3})(?=[\])])")
_DOUBLE: Final = re.compile(r"(?<=\s)(\d{2,3})\s?\((\d{2,4})\)(?=\s?/)")
# `Koji Vol. 2 2004`: the second film, and its year.
_VOLUME: Final = re.compile(
    r"[Vv](?<![A-Za-z].)(?i:ol(?:ume)?s?)[ .]{0,2}\d{1,3}(?:(?:[-~]|\s?[&+ ]\s?)\d{1,3})?(?:\s?[vV](\d))?(?![\dA-Za-z])"
    r"(?![\s.]{1,2}\(?(?:19|20)\d\d[\s.)])"
)


def read_episodes(draft: TitleDraft) -> None:
    """Find which episodes the title is about, and take them out of it."""
    for found in _VOLUME.finditer(draft.text):
        draft.version = int(found[1]) if found[1] else draft.version
        draft.take(found.start(), found.end(), "volume", "counts discs, not episodes")
    if draft.episodes:
        return
    for recognise in _FORMS:
        if recognise(draft):
            _take_double(draft)
            break


def read_season_and_episode(draft: TitleDraft) -> None:
    """`S01E02` and `1x02`: so sure that they are read before the tags, which some releases wrap around them."""
    for pattern in (_SEASON_EPISODE, _SEASON_SPACE_EPISODE, _CROSS, _BRACKETED_PAIR):
        found = pattern.search(draft.text)
        if found and (run := read_run(draft.text, found.end())):
            draft.seasons = (int(found[1]),)
            _take_twin(draft, found.start())
            draft.number_end = run.end
            written = draft.text[found.start() : run.end]
            draft.settle_episodes(run, found.start(), run.end, "a season and an episode")
            # Each name of a release can carry it.
            if (again := draft.text.find(f"({written})")) >= 0:
                draft.take(again, again + len(written) + 2, "episode", "the same numbers again")
            return


def _take_twin(draft: TitleDraft, before: int) -> None:
    """`Name - 05 - S01E05` says it twice."""
    if twin := (_TWIN_IN_FANSUB if draft.original.startswith("[") else _TWIN).search(draft.text, 0, before):
        draft.take(twin.start(), before, "episode", "the same number again")


def _take_double(draft: TitleDraft) -> None:
    """`夜之蔵人 07(33) / Yoru no Kurabito - 33` counts it in two ways."""
    found = _DOUBLE.search(draft.text) if "(" in draft.text else None
    if found and {float(found[1]), float(found[2])} & set(draft.episodes):
        draft.take(*found.span(), "episode", "the same number, and counted through", mark=SKIPPED)


def _chinese(draft: TitleDraft) -> bool:
    if draft.text.isascii():
        return False
    if found := _HAN_EPISODE.search(draft.text):
        if "." in found[1]:
            return draft.settle_match(Run((float(found[1]),), None, 0), found, "第…话 counts episodes")
        last = han_number(found[2]) if found[2] else None
        return draft.settle_match(span(han_number(found[1]), last), found, "第…话 counts episodes")
    if found := _HAN_ALL.search(draft.text):
        draft.is_batch = True
        return draft.settle_match(span(1, han_number(found[1])), found, "全…话 is the whole season")
    if any(counter in draft.text for counter in "话話集回화회") and (found := _HAN_COUNTED.search(draft.text)):
        last = int(found[2]) if found[2] else None
        return draft.settle_match(span(int(found[1]), last), found, "counted in 话 or 集")
    return False


def _own_counter(draft: TitleDraft) -> bool:
    """`夜之蔵人 第9杯`, where no other number counts episodes."""
    if draft.text.isascii() or draft.kind is ReleaseKind.MOVIE:
        return False
    found = _OWN_COUNTER.search(draft.text) if "第" in draft.text else None
    # Films and seasons are called 第4章 too, and seasons 第二夜 and `Stage 2`.
    if found and (found[2] == "章" or not found[1].isdecimal()) and not _is_broadcast(draft):
        return False
    if found is None and _is_broadcast(draft):
        found = _OWN_WORD.search(draft.text)
    if found is None or not LETTER_OR_DIGIT.search(draft.text, 0, found.start()):
        return False
    number = han_number(found[1] or found[2])
    return draft.settle_match(span(number), found, "a word of its own counts episodes")


def _is_broadcast(draft: TitleDraft) -> bool:
    """Whether it is one file of what was on air."""
    values = draft.values
    is_file = bool(draft.checksum or values.get("container"))
    return is_file and "platform" in values and not {"Blu-ray", "DVD"} & {*values.get("source", ())}


def _dotted_pair(draft: TitleDraft) -> bool:
    found = _DOTTED_PAIR.search(draft.text)
    if found and (before := _BEFORE_PAIR.search(draft.text, 0, found.start())):
        draft.seasons = draft.seasons or (int(found[1]),)
        run = span(int(found[2]))
        return draft.settle_episodes(run, before.start(), found.end(), "a season and an episode with a dot between")
    return False


def _named(draft: TitleDraft) -> bool:
    if found := _TURKISH.search(draft.text):
        return draft.settle_match(span(int(found[1])), found, "the word for episode")
    if found := _SPANISH.search(draft.text):
        draft.seasons = (int(found[1]),)
        return draft.settle_match(span(int(found[2]), int(found[3] or 0)), found, "Cap. counts both")
    may_be_russian = not draft.text.isascii() or "seri" in draft.text.lower()
    if may_be_russian and (found := _RUSSIAN.search(draft.text)):
        return draft.settle_match(
            span(int(found[1] or found[3]), int(found[2] or found[4] or 0)), found, "the word for episode"
        )
    for found in _NAMED.finditer(draft.text):
        run = read_run(draft.text, found.end())
        # `WALL-E 2008`: a letter counts no years.
        if run and not (len(found[0].strip(" .")) == 1 and bare_numbers.is_year(run)):
            return draft.settle_episodes(run, found.start(), run.end, "the word for episode")
    if found := _OF_SLASHED.search(draft.text):
        return draft.settle_match(span(int(found[1])), found, "one of so many")
    found = _OF_IN_BRACKET.search(draft.text)
    if found and int(found[1]) <= int(found[2]) and LETTER_OR_DIGIT.search(draft.text, 0, found.start()):
        return draft.settle_match(span(int(found[1])), found, "one of so many")
    if _OF_LIKE.search(draft.text) and (found := _OF.search(draft.text)):
        return draft.settle_match(span(int(found[1]), int(found[2] or 0)), found, "so many of all")
    return False


_FORMS: Final[tuple[Callable[[TitleDraft], bool], ...]] = (
    _chinese,
    _dotted_pair,
    bare_numbers.behind_dash,
    bare_numbers.alone_in_brackets,
    _named,
    _own_counter,
    bare_numbers.behind_kind,
    bare_numbers.season_and_episode_in_one,
    bare_numbers.last_of_name,
    bare_numbers.with_leading_zero,
    bare_numbers.last_in_bracket,
    bare_numbers.within_file_name,
    bare_numbers.between_hyphens,
    bare_numbers.before_name,
)
