"""Recognises what sort of thing it is: a film, an OVA, a special, an opening."""

from __future__ import annotations

import re
from typing import Final

from kurabito.titles.draft import SKIPPED, TitleDraft
from kurabito.titles.model import ReleaseKind
from kurabito.titles.text import CJK

_WORDS: Final = re.compile(
    r"(?:(?P<movie>剧场版|劇場版|(?<![\w!?~.-]\s)(?<!\w)(?:映画\s(?=\S)|Eiga\s(?=[A-Z0-9]))|"
    r"(?<![A-Za-z])(?<!the )(?<!animated )(?<!new )Movie(?=\s0\d|\s*[\[(\x00\])]))"
    r"|(?P<ova>(?<![A-Za-z])(?:OVA|OAD|OAV|ONA|OVD)(?![A-Za-z]))"
    r"|(?P<special>(?<![A-Za-z])(?:SPs?(?=[\s.\-]?\d|\s?[\])\x00]|$)|Specials?(?=\s?(?:-\s?)?\d|\s?[\])\x00]|$))|特别篇|特別篇|番外篇?|特典|[总總]集[篇编編])"
    r"|(?P<tv>(?<=[^\W_]\s)TV(?=\s?\d{1,3}-\d{1,3}(?!\d)|\s-\s\d{2,3}(?!\d))|(?<=[\s\w])(?:动画|動畫)版(?=[\s\])\x00])|(?<=\s)(?:本[伝传傳]|正[传傳])(?=[\s\])\x00])|(?<![A-Za-z])TV\s?(?:版|(?:动画|動畫|アニメ)版?)(?=[\s\])\x00]))"
    r"|(?P<batch>(?:(?<![A-Za-z])TV)?\s?(?:修正|精校)?(?:合集|全集))"
    r"|(?P<opening>(?<![A-Za-z])(?:NC ?OPs?(?:v\d)?|Creditless OP(?:ening)?|OP(?=\s?\d|\s?[\])\x00]|$)|Opening(?=\s?\d|\s*$))(?![B-Zb-z]))"
    r"|(?P<ending>(?<![A-Za-z])(?:NC ?EDs?(?:v\d)?|Creditless ED|Creditless Ending|ED(?=\s?\d|\s?[\])\x00]|$)|Ending(?=\s?\d|\s*$))(?![B-Zb-z]))"
    r"|(?P<trailer>(?<![A-Za-z])(?:PVs?|CMs?|Trailer|Teaser|Menu)(?=\s?\d|\s?[\])\x00]|\s*$)))",
    re.I,
)
# What each of them begins with, where no Latin word is going on: every other place is passed over at once.
_FIRST_LETTER: Final = re.compile(r"[剧劇映特番总總修精合全动動本正MTOSNCEPmtosncep](?<![A-Za-z]{2})")
_WORD_BEFORE: Final = re.compile(r"[A-Za-z0-9!?%.~] $")
_ENDS_NAME: Final = re.compile(r"\s?(?:\x00|[\[(](?!\d{1,3}[\])v-])|$)")
_ARTICLE: Final = re.compile(r"(?<=\w\s)the\s$", re.I)
_COLON: Final = re.compile(r"\s?:\s?[^\W\d_]")
# `夜之蔵人剧场版 朝篇`: what stands behind the word belongs to the name.
_INSIDE: Final = re.compile(rf"[{CJK}!?]\s?$")
_GOES_ON: Final = re.compile(rf"\s?[{CJK}]")
_COUNTED: Final = re.compile(r"\s-\s\d")
_FEW_WORDS: Final = 3
_MOVIE: Final = re.compile(r"(?<![A-Za-z])(?:Movies?|Gekij(?:ou|ō|o)ban)(?![A-Za-z])", re.I)


def read_kind(draft: TitleDraft) -> None:
    """Take the word that says the kind; the name goes on without it."""
    passed = 0
    for letter in _FIRST_LETTER.finditer(draft.text):
        found = _WORDS.match(draft.text, letter.start())
        if found is None or found.start() < passed:
            continue
        passed = found.end()
        if found.lastgroup == "batch":
            draft.is_batch = True
            draft.take(*found.span(), "batch", "says that it is whole", mark=SKIPPED)
            continue
        kind = ReleaseKind(str(found.lastgroup))
        start, end = found.span()
        if not draft.text[:start].strip(" \x00\x01-[") and kind is not ReleaseKind.MOVIE:
            continue
        if kind is ReleaseKind.TV and _COUNTED.match(draft.text, end) and len(draft.text[:start].split()) < _FEW_WORDS:
            # `Barrel TV - 05`: of one word and this one, both are the name.
            continue
        draft.kind = draft.kind or kind
        if kind is ReleaseKind.OVA and _ENDS_NAME.match(draft.text, end) and _WORD_BEFORE.search(draft.text, 0, start):
            # `Koji OVA [720p]`: without a number it is a work of its own, and this is its name.
            continue
        if kind in (ReleaseKind.OVA, ReleaseKind.SPECIAL) and _ARTICLE.search(draft.text, 0, start):
            # `Koji The OVA Arietta`: the word is one of the name.
            continue
        if kind is ReleaseKind.MOVIE and _COLON.match(draft.text, end):
            # `新劇場版:序`: a subtitle goes on from the word.
            continue
        is_inside = (
            kind is ReleaseKind.MOVIE and _INSIDE.search(draft.text, 0, start) and _GOES_ON.match(draft.text, end)
        )
        draft.take(start, end, "kind", f"says {kind}", mark=" " if is_inside else SKIPPED)
    if draft.kind is None and _MOVIE.search(draft.text):
        draft.kind = ReleaseKind.MOVIE
