"""What a bracket of tags says. Releases repeat their brackets word for word, so the last ones read are remembered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from kurabito.titles.text import CJK_LETTER
from kurabito.titles.vocabulary import Meaning
from kurabito.titles.words import Tag, Word, find_tags, read_words

_REMEMBERED: Final = 2048
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
# `(BSフジ 1440x1080 MPEG2 AAC)`: stations whose names are not in Latin letters alone.
_STATION: Final = re.compile(
    r"(?:BS)?(?:フジテレビ|フジ|日テレ|テレ東|テレビ東京|テレ朝|テレビ朝日|朝日|ジャパン|プレミアム)|NHK\s?(?:BS)?(?:総合|Eテレ|Gテレ|プレミアム)"
    r"|(?:毎日|朝日)放送|(?:関西|読売|東海|中京)テレビ"
)
_SIGNED: Final = re.compile(r"[ -]([A-Za-z0-9]{2,20}-(?:Raws?|(?:Fan)?subs?|Team|Studio))\s*$", re.I)


class TagBracket(NamedTuple):
    """A bracket that is all tags, or nearly."""

    meanings: tuple[Meaning, ...]
    sure: bool
    """Whether one of the tags can be nothing else."""
    year: int | None
    signature: str | None
    """The last word that is no tag: often who released it."""
    number_end: int
    """Where an episode ends that shares the bracket with tags, or 0."""


@lru_cache(maxsize=_REMEMBERED)
def read_bracket(inner: str) -> TagBracket | None:
    """Read what stands inside a bracket; None if it is not about tags."""
    if not inner.isascii():
        inner = _STATION.sub(lambda station: " " * len(station[0]), inner)
    words = read_words(inner, 0, len(inner))
    tags = find_tags(inner, words)
    if not tags:
        return None
    known = sum(tag.words for tag in tags)
    strange = [word for word in _strange_words(words, tags) if not word.text.isdigit()]
    sure = any(tag.meaning.sure for tag in tags)
    if CJK_LETTER.search(inner) and not (sure and known >= len(words)):
        return None
    if strange and not (sure and len(strange) <= known):
        return None
    if known < len(words) and not sure and not strange:
        # `[01-12 Fin]` is about episodes.
        return None
    return TagBracket(
        meanings=tuple(tag.meaning for tag in tags),
        sure=sure,
        year=next((int(word.text) for word in words if _YEAR.fullmatch(word.text)), None),
        signature=_signature(inner, strange),
        number_end=_number_end(words[0], tags[0]) if sure else 0,
    )


def _strange_words(words: list[Word], tags: list[Tag]) -> Iterator[Word]:
    """The words that belong to no tag."""
    at = 0
    for word in words:
        while at < len(tags) and tags[at].end <= word.start:
            at += 1
        if at == len(tags) or word.start < tags[at].start:
            yield word


def _signature(inner: str, strange: list[Word]) -> str | None:
    if not strange:
        return None
    signed = _SIGNED.search(inner)
    return signed[1] if signed else inner[strange[-1].start : strange[-1].end]


def _number_end(first: Word, tag: Tag) -> int:
    return first.end if first.text.isdigit() and len(first.text) in (2, 3) and first.end < tag.start else 0
