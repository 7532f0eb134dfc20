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
    rf"\s?[+&]\s?(?:\d{{1,2}}\s)?(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _KINDS)})(?![A-Za-z])", re.I
)
_COUNT: Final = re.compile(r"[\s.]?(?=\d{1,3}(?![\dpx]))")
# They follow numbers, or the word for those: `01-12 END+OVA`, `TV+SP`.
_BEFORE: Final = re.compile(r"(?:\d|(?P<word>(?<![A-Za-z])TV|\d\sEpisodes)|END|Fin|[话話集全完季篇編编传傳])\s?$", re.I)


def read_extras(draft: TitleDraft) -> None:
    """Take every extra that stands behind the numbers of a batch."""
    if "+" not in draft.text and "&" not in draft.text:
        return
    for first in _ONE.finditer(draft.text):
        if before := _BEFORE.search(draft.text, 0, first.start()):
            start = before.start("word") if before["word"] else first.start()
            draft.take(start, _read_from(draft, first.start()), "extras", "comes with the episodes")
            return


def _read_from(draft: TitleDraft, at: int) -> int:
    """Read one extra after the other; where the last one ends."""
    extras = []
    while found := _ONE.match(draft.text, at):
        count = _COUNT.match(draft.text, found.end())
        run = read_run(draft.text, count.end()) if count else None
        extras.append(ReleaseExtra(ReleaseKind(str(found.lastgroup)), run.numbers if run else ()))
        at = run.end if run else found.end()
    draft.extras = tuple(extras)
    return at
