"""Finds the words of the vocabulary in a text."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kurabito.titles.vocabulary import KNOWN, LENGTHS, Meaning, numeric

WORD: Final = re.compile(r"[A-Za-z0-9\u00c0-\u024f\u0370-\u03ff×]+\+?")
_JOINTS: Final = frozenset(["", " ", ".", "-", ". ", " - "])


class Word(NamedTuple):
    """A word without case, and where it stands."""

    start: int
    end: int
    text: str


class Tag(NamedTuple):
    """A word or phrase of the vocabulary, found at a place."""

    start: int
    end: int
    meaning: Meaning
    words: int


def read_words(text: str, start: int, end: int) -> list[Word]:
    """The words in a stretch of a text."""
    return [Word(found.start(), found.end(), found[0].lower()) for found in WORD.finditer(text, start, end)]


def find_tags(text: str, words: list[Word]) -> list[Tag]:
    """The tags among the words; of two that begin at the same word, the longer."""
    tags: list[Tag] = []
    passed = 0
    for index, (start, end, word) in enumerate(words):
        if index < passed:
            continue
        if word in LENGTHS:
            tag = _longest(text, words, index)
            if tag is not None:
                tags.append(tag)
                passed = index + tag.words
                continue
        # Most words are plain and end here.
        if not word.isalpha() and not word.isdigit() and (meaning := numeric(word)):
            tags.append(Tag(start, end, meaning, 1))
    return tags


def _longest(text: str, words: list[Word], index: int) -> Tag | None:
    start, end, phrase = words[index]
    meaning = KNOWN.get(phrase)
    best = Tag(start, end, meaning, 1) if meaning else None
    for length in range(2, LENGTHS[phrase] + 1):
        last = index + length - 1
        if last == len(words) or text[end : words[last].start] not in _JOINTS:
            break
        end = words[last].end
        phrase = f"{phrase} {words[last].text}"
        if meaning := KNOWN.get(phrase):
            best = Tag(start, end, meaning, length)
    return best
