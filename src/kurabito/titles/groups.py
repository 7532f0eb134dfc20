"""Recognises who released it: the bracket in front, or the word behind the last hyphen."""

from __future__ import annotations

import re
from typing import Final

from kurabito.titles.draft import Draft
from kurabito.titles.text import LETTER_OR_DIGIT

_SITES: Final = frozenset("eztv eztv.re rartv ettv tgx rarbg vtv etrg prt ethd glodls eztvx.to publichd usabit.com 1337x fgt".split())
_BEHIND_TAGS: Final = re.compile(r"\x00[\s)\].]{0,3}[-–]\s?([^\W_][^\x00\[\]()]{0,40})[\s\x00]*(?:\[[^\]]*\][\s\x00]*){0,2}$")
_BEHIND_HYPHEN: Final = re.compile(r"[^\s]-([A-Za-z0-9]{2,20})[\s\x00]*(?:\[[^\]]*\][\s\x00]*){0,2}$")
_LAST_BRACKET: Final = re.compile(r"[\[(]([^\[\]()\x00]{2,60})[\])][\s\x00]*$")
_SUFFIX: Final = re.compile(r"-(?:xpost|asrequested|obfuscated|scrambled|postbot|rakuv|nzbgeek|buymore|sample|alternativetorsion)[\w ]*$", re.I)
_BETWEEN: Final = re.compile(r"\s?[&×+/、]\s?|\sx\s")


def read_leading_group(draft: Draft) -> None:
    """The first bracket, if a name can follow it."""
    for index, segment in enumerate(draft.segments):
        inner = draft.text[segment.start : segment.end]
        if not inner.strip(" \x00.-"):
            continue
        if not segment.bracket:
            if index and inner.strip(" \x00-").isdigit():
                continue
            return
        if segment.bracket == "(" or "\x00" in inner or not _name_follows(draft, segment.end + 1):
            return
        _settle(draft, inner, *segment.outer, "the first bracket")
        return


def _name_follows(draft: Draft, at: int) -> bool:
    return any(char.isalpha() for char in draft.text[at:])


def read_trailing_group(draft: Draft) -> None:
    """What stands behind the last hyphen, else the last bracket that nobody took."""
    if draft.group is not None:
        return
    tail = _SUFFIX.sub("", draft.text.rstrip(" \x00"))
    if (found := _LAST_BRACKET.search(tail)) and found[1].lower() not in _SITES and tail[: found.start()].strip(" \x00"):
        _settle(draft, found[1], found.start(), found.end(), "the last bracket")
    elif found := _BEHIND_TAGS.search(tail) or ("\x00" in tail and _BEHIND_HYPHEN.search(tail)) or None:
        _settle(draft, found[1], found.start(1) - 1, found.end(1), "behind the last hyphen")
    elif draft.signature:
        draft.group = draft.signature


def _settle(draft: Draft, name: str, start: int, end: int, why: str) -> None:
    if LETTER_OR_DIGIT.search(name):
        draft.group = name.strip(" -.")
        draft.take(start, end, "group", why)


def split_group(group: str) -> tuple[str, ...]:
    """The groups that worked together, one by one."""
    return tuple(name for part in _BETWEEN.split(group) if (name := part.strip()))
