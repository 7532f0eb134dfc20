"""Recognises who released it: the bracket in front, or the word behind the last hyphen."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from kurabito.titles.draft import SKIPPED, TAKEN, Segment, TitleDraft
from kurabito.titles.scripts import Script, script_of
from kurabito.titles.text import CJK, CJK_LETTER, LETTER_OR_DIGIT, is_foreign

_SITES: Final = frozenset(
    "eztv eztv.re rartv ettv tgx rarbg vtv etrg prt ethd glodls eztvx.to publichd usabit.com 1337x fgt".split()
)
_TEAM: Final = "(?:-(?:Raws?|(?:Fan)?subs?|Team|Studio))?"
_BEHIND_TAGS: Final = re.compile(r"\x00[\s)\].]{0,3}[-–][\s.]?([^\W_][^\x00\[\]()]{0,40})$")
_BEHIND_HYPHEN: Final = re.compile(rf"\S-([A-Za-z0-9@]{{2,20}}{_TEAM})$", re.I)
_LAST_WORD: Final = re.compile(r"\x00[\s.](?:by[ .])?((?:[A-Za-z0-9]{1,5}-)?[A-Za-z0-9]{3,20})$")
# `-KURA (The Cellar, Multi-Subs)`, `-KURA[site]`: what stands in the bracket is a note.
_BEFORE_NOTE: Final = re.compile(
    rf"\x00-([A-Za-z0-9@]{{2,24}}{_TEAM})\s?[\[(][^\[\]()\x00]{{1,120}}[\])][\s\x00.]*$", re.I
)
_LAST_BRACKET: Final = re.compile(r"[\[(]([^\[\]()\x00]{2,60})[\])][\s\x00.]*$")
_DOMAIN: Final = re.compile(r"(?:www\.)?[\w-]+(?:\.[\w-]+){0,3}\.(?:com|org|net|ru|re|to|me|cc|info|tv|in|mx|se)", re.I)
_ID: Final = re.compile(r"(?:tmdb|tvdb|imdb|anidb|bangumi)(?:id)?[-= ]\w", re.I)
_EPISODE_NUMBER: Final = re.compile(
    r"\[(?:第[^\]]{1,8}|\s?(?i:EP?)?\d{1,4}(?:\.\d)?(?:v\d|[-~](?i:EP?)?\d{1,4})?(?:\s?(?i:v\d|END|FIN|[完结結終终话話集回合全修正]{1,4}|[(&+][^\]]{1,8}))?)\s?\]|第\s?\d{1,4}\s?[话話集回]"
)
_BARE_WORD: Final = re.compile(r"\s?[^\W\d_]{2}")
_NUMBER_AS_NAME: Final = re.compile(r"\s?\d[\d.-]{0,8}\s-\s\d|\s?\[?\d{1,3}/\d{1,3}\s?(?:\]|$)")
# `[Season 2] The Cellar - 01`: no group is called so.
_SEASON_ALONE: Final = re.compile(
    r"\s?(?:S|Season\s?)\d{1,2}\s?|\s?第\s?[一二三四五六七八九十\d]{1,3}\s?[季期]\s?", re.I
)
_YEAR: Final = re.compile(r"(?:19[5-9]|20[0-3])\d")
_GROUP_BRACKET: Final = re.compile(
    r"\[[^\[\]/]*(?:字幕[组組社]|工作室|[压壓]制[组組]|发布组|發佈組|subs?|raws?)\]", re.I
)
_SEASON_INSIDE: Final = re.compile(r"\S\s?第\s?[一二三四五六七八九十\d]{1,3}\s?[季期]")
_TELEVISION: Final = re.compile(rf"[{CJK}]\s?(?:TV|[动動][画畫])版$")
# `[夜之蔵人2][Yoru no Kurabito 2]`: both end in the number of the season.
_SAME_NUMBER: Final = re.compile(rf"[^\[\]]*[{CJK}]([2-9])\]\[[^\[\]{CJK}]*[A-Za-z!] ?\1\]")
# `[夜之蔵人!?][夜之くらびと!?]`: the same name in two languages.
_SAME_BEGINNING: Final = re.compile(rf"([{CJK}]{{2}})[^\[\]]{{2,}}\]\[\1[^\[\]]*\](?=\[)")
_TWO_NAMES: Final = re.compile(rf"[{CJK}][^/]*/\s?[A-Z][a-z]+[^/]*\s[A-Za-z]")
# `[老番][1969][夜之蔵人][01-26]`: the year stands before the names, which another bracket than that of the group holds.
_YEAR_FIRST: Final = re.compile(
    r"[\s\x01]*(?:\[([^\[\]\x00\x01]{1,60})\])?[\s\x01]*\[((?:19[3-9]|20[0-3])\d)年?\](?=\[([^\[\]\x00]{2,200})\])"
)
OF_GROUPS: Final = re.compile(r"字幕|[组組社]$|subs?\b|raws?\b|(?:team|studio|house)$", re.I)
_SECOND_GROUP: Final = re.compile(
    r"\s?\[([^\[\]\x00\x01]{1,40}(?:字幕[组組社]|Raws|Fansub))\](?=\s?(?:\[[^\d\]]|[^\s\[\]\x00-]))"
)
_OF_NOTES: Final = re.compile(r"番$|漫$|[动動][画畫漫]")
_SUFFIX: Final = re.compile(
    r"-(?:xpost|asrequested|obfuscated|scrambled|postbot|rakuv|nzbgeek|buymore|repackpost|whiterev|pre|sample)[\w ]*$|\.sample$",
    re.I,
)
_BETWEEN: Final = re.compile(r"\s?[&×+/、]\s?|\sx\s")
_SIGNS_BETWEEN: Final = frozenset("&×+/、x")


def read_year_first(draft: TitleDraft) -> None:
    """Take a year that stands before the names, and a group or a note before it."""
    found = _YEAR_FIRST.match(draft.text) if "[1" in draft.text or "[2" in draft.text else None
    if found is None or _EPISODE_NUMBER.match(draft.text, found.end()):
        return
    group, year, name = found.groups()
    is_group = OF_GROUPS.search(name) is not None
    if group and is_group:
        return
    if group and not (OF_GROUPS.search(group) or _OF_NOTES.search(group)) and name.isascii() and " " not in name:
        # `[夜之蔵人][2019][Kura][05]`: who released it, behind the name.
        return
    if not _EPISODE_NUMBER.search(draft.text, found.end()):
        return
    draft.year = int(year)
    draft.take(found.start(2) - 1, found.end(), "date", "a year before the names", mark=SKIPPED)
    if group:
        _settle(draft, group, found.start(1) - 1, found.end(1) + 1, "the first bracket")
    elif not is_group:
        # The names come next, and none of them is one.
        draft.group = ""


def read_leading_group(draft: TitleDraft) -> None:
    """The first bracket, if a name can follow it."""
    for index, segment in enumerate(draft.segments):
        inner = draft.text[segment.start : segment.end]
        bare = inner.strip(" \x00\x01.-★☆")
        if not bare:
            continue
        if not segment.bracket:
            if bare.isdigit() and index + 1 < len(draft.segments):
                # A player's own counting before the real name.
                continue
            return
        if _SEASON_ALONE.fullmatch(inner) or (_YEAR.fullmatch(inner) and CJK_LETTER.match(draft.text, segment.end + 1)):
            continue
        if "\x00" in bare or not _name_follows(draft, segment.end + 1) or _is_name(draft, inner, segment.end + 1):
            return
        if draft.text[segment.end + 1 : segment.end + 2] == "." and CJK_LETTER.search(inner):
            # `[夜之蔵人].Night.Brewer.2023`: the name in two scripts.
            return
        if segment.bracket == "(" and (not bare.isalpha() or draft.segments[-1] is segment or index):
            return
        if index and not draft.segments[0].bracket:
            draft.take(0, segment.start - 1, "number", "counts files")
        _settle(draft, inner, *segment.outer, "the first bracket")
        _read_second_group(draft, segment.end + 1)
        return


def _is_name(draft: TitleDraft, inner: str, end: int) -> bool:
    """Whether the first bracket has the name: it has a season, or two names, or the group stands in another one."""
    if " / " in inner and is_foreign(inner) and OF_GROUPS.search(inner) is None and not CJK_LETTER.search(inner):
        return True
    if CJK_LETTER.search(inner) is None:
        return False
    if _SEASON_INSIDE.search(inner) or _TELEVISION.search(inner) or _TWO_NAMES.search(inner) or inner.count(" / ") > 1:
        return True
    begin = end - len(inner) - 1
    is_of_fans = OF_GROUPS.search(inner) is not None or inner.endswith(("团", "團"))
    if _SAME_NUMBER.match(draft.text, begin) or (not is_of_fans and _SAME_BEGINNING.match(draft.text, begin)):
        return True
    other = _GROUP_BRACKET.search(draft.text, end)
    # Two groups in a row worked together.
    return OF_GROUPS.search(inner) is None and other is not None and other.start() > end


def _read_second_group(draft: TitleDraft, at: int) -> None:
    """`[天使酒论坛][酒字幕组][夜之蔵人]`: a forum and its own group, in a bracket each."""
    if second := _SECOND_GROUP.match(draft.text, at):
        draft.group = f"{draft.group}&{second[1]}"
        draft.take(*second.span(), "group", "the second bracket")


def _name_follows(draft: TitleDraft, at: int) -> bool:
    """Whether a name is left before the episode; if none is, the first bracket is the name itself."""
    episode = _EPISODE_NUMBER.search(draft.text, at)
    if episode and episode.start() == at:
        if _BARE_WORD.match(draft.text, episode.end()):
            return True
        if _EPISODE_NUMBER.match(draft.text, episode.end()):
            # Of two numbers the first is the name: `[Kura][86][03]`.
            return True
    left = draft.text[at : episode.start() if episode else None]
    return any(char.isalpha() for char in left) or _NUMBER_AS_NAME.match(left) is not None


def read_trailing_group(draft: TitleDraft) -> None:
    """The part behind the last hyphen, else the last bracket that no recogniser took."""
    if draft.group is not None:
        return
    tail = draft.text.rstrip(" \x00")
    while (bracket := _LAST_BRACKET.search(tail)) and _is_site(bracket[1]):
        tail = tail[: bracket.start()].rstrip(" .")
    tail = _SUFFIX.sub("", tail)
    for pattern in (_BEHIND_TAGS, _BEFORE_NOTE, _LAST_WORD, _BEHIND_HYPHEN):
        if TAKEN in tail and (found := pattern.search(tail)) and not _names_episode(draft, found):
            if not LETTER_OR_DIGIT.search(tail, 0, found.start()):
                # Nothing would be left for the name.
                return
            _settle(draft, found[1], found.start(1) - 1, found.end(1), "behind the last tag")
            return


def _names_episode(draft: TitleDraft, found: re.Match[str]) -> bool:
    """Whether it follows the number of an episode: `The Cellar - 1x05 - First Pressing`, `The Cellar S01E01 Pilot`."""
    behind_number = draft.number_end and draft.number_end - 1 <= found.start() <= draft.number_end
    joint = found[0][1:].lstrip(")]")
    return bool(behind_number) and (joint.startswith(" - ") or (joint.startswith(" ") and found[1].isalpha()))


def read_bracketed_group(draft: TitleDraft, name_end: int) -> None:
    """The last free bracket behind the name, else the strange word among the tags."""
    if draft.group is not None:
        return
    for segment in reversed(draft.segments):
        inner = draft.text[segment.start : segment.end]
        if not segment.bracket:
            if inner.strip(" .\x00"):
                break
        elif TAKEN in inner or SKIPPED in inner or _is_site(inner) or _is_other_name(draft, segment):
            continue
        elif segment.start > name_end or (segment.bracket == "[" and segment.start > 1):
            if not LETTER_OR_DIGIT.search(draft.text[: segment.start] + draft.text[segment.end :]):
                # Nothing would be left for the name.
                break
            _settle(draft, inner, *segment.outer, "the last bracket")
            return
    draft.group = draft.signature


def _is_other_name(draft: TitleDraft, segment: Segment) -> bool:
    """`[夜之蔵人 第二季][Yoru no Kurabito][07]`: the first bracket is no group, and the second is the same name."""
    first, inner = draft.segments[0], draft.original[segment.start : segment.end]
    is_name = (inner.isascii() and " " in inner.strip()) or script_of(inner) in (Script.KANA, Script.HANGUL)
    is_name = is_name or " / " in inner
    if not first.bracket or segment.start != first.outer[1] + 1 or not is_name:
        return False
    before = draft.original[first.start : first.end]
    if CJK_LETTER.search(before) is None or OF_GROUPS.search(inner):
        return False
    is_told = _SEASON_INSIDE.search(before) or _TELEVISION.search(before)
    return bool(is_told or _SAME_NUMBER.match(draft.original, first.start))


def _is_site(name: str) -> bool:
    """Whether it names a site, or the title's id there: `{tmdb-12345}`."""
    return (
        _ID.match(name) is not None
        or name.lower() in _SITES
        or ("." in name and _DOMAIN.fullmatch(name.strip()) is not None)
    )


def _settle(draft: TitleDraft, name: str, start: int, end: int, why: str) -> None:
    if LETTER_OR_DIGIT.search(name):
        draft.group = name.strip(" -.")
        draft.take(start, end, "group", why)


@lru_cache(maxsize=1024)
def split_group(group: str) -> tuple[str, ...]:
    """The groups that worked together, one by one."""
    if _SIGNS_BETWEEN.isdisjoint(group):
        # Most work alone.
        return (group.strip(),) if group.strip() else ()
    return tuple(name for part in _BETWEEN.split(group) if (name := part.strip()))
