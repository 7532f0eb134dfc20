"""Recognises what a batch brings beside its episodes: `01-12+OVA`, `TV 01-25+SP 01-03`."""

from __future__ import annotations

import re
from typing import Final

from kurabito.titles.draft import TitleDraft
from kurabito.titles.model import ReleaseExtra, ReleaseKind
from kurabito.titles.numbers import read_run

_KINDS: Final = (
    (ReleaseKind.OVA, "OVAs?|OADs?|OAVs?|ONAs?"),
    (ReleaseKind.SPECIAL, "SPs?|Specials?|映像特典|特典|特[别別](?:篇|编|編)?|番外篇?"),
    (ReleaseKind.MOVIE, "Movies?|[剧劇][场場]版|[电電]影"),
    (ReleaseKind.OPENING, "NC ?OPs?|OPs?"),
    (ReleaseKind.ENDING, "NC ?EDs?|EDs?"),
    (ReleaseKind.TRAILER, "PVs?|CMs?|Menus?|Trailers?"),
)
_ONE: Final = re.compile(
    rf"\s?[+&]\s?(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _KINDS)})(?![A-Za-z])", re.I
)
_COUNT: Final = re.compile(r"[\s.]?(?=\d{1,3}(?![\dpx]))")
# They follow numbers, or the word for those: `01-12 END+OVA`, `TV+SP`.
_BEFORE: Final = re.compile(r"(?:\d|TV|END|Fin|[话話集全完季])\s?$", re.I)


def read_extras(draft: TitleDraft) -> None:
    """Take every extra that stands behind the numbers of a batch."""
    if "+" not in draft.text and "&" not in draft.text:
        return
    first = next((found for found in _ONE.finditer(draft.text) if _BEFORE.search(draft.text, 0, found.start())), None)
    if first is None:
        return
    extras, end = [], first.start()
    while found := _ONE.match(draft.text, end):
        count = _COUNT.match(draft.text, found.end())
        run = read_run(draft.text, count.end()) if count else None
        extras.append(ReleaseExtra(ReleaseKind(str(found.lastgroup)), run.numbers if run else ()))
        end = run.end if run else found.end()
    draft.extras = tuple(extras)
    draft.take(first.start(), end, "extras", "comes with the episodes")
