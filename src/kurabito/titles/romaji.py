"""Japanese in Latin letters: one key for the ways of writing the same sounds.

    romaji_key("Sōsō no Frieren") == romaji_key("Sousou no Frieren")

A key finds candidates, no more: it throws away what tells some words apart (long vowels, ha from wa). Names that are not
romaji have none, or "Soul" would be "Sol".
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_WORD: Final = re.compile(r"[a-z]+|\d+|×")
_APOSTROPHE: Final = re.compile(r"(?<=[a-z])['\u2018\u2019`\u00b4](?=[a-z])")
_NOT_LATIN: Final = re.compile(r"[^\W\d_\x00-\u024f]")

_ONSET: Final = r"(?:[kgnhfbpmryszjtdv]y|shy?|chy?|ts|dz|kw|[kgsztdnhfbpmyrwjv])?"
# Doubled before the same consonant; a closing n; m for it before b, p and m; h after an o that is long.
_MORA: Final = (
    r"(?:(?:k(?=k)|s(?=s)|t(?=t|ch)|c(?=ch)|p(?=p)|g(?=g)|d(?=d)|b(?=b)|z(?=z)|j(?=j))?"
    rf"{_ONSET}[aiueo](?:(?<=o)h(?![aiueoy]))?|n(?![aiueo])|m(?=[bpm]))"
)
_ROMAJI_WORD: Final = re.compile(rf"{_MORA}+")
_MORAE: Final = re.compile(_MORA)

_PARTICLES: Final = frozenset("no wa ha ga wo o ni to de mo e he kara ka na yo ne desu".split())
_TELLING: Final = frozenset("no wa ga wo ni kara desu".split())
"""Particles that no other language has as words, but for a few."""
_ENGLISH: Final = frozenset("the of and with from my your you is for in on at by an are we".split())
_CROSS: Final = frozenset(["x", "×", "cross"])
_NUMERALS: Final = {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
"""Of sequels. Read as sounds, `Kurabi II` would be a long `Kurabi`."""
_SHORTEST: Final = 6
"""Letters; what is shorter could be a word of any language, and "Moon" would be "Mon"."""
_SHORTEST_WITH_DIGITS: Final = 3
_LONG_ENOUGH: Final = 0.6
_MANY: Final = 3
"""So many words of two morae and more make a romaji name of one that has foreign words in it."""

_SPELLINGS: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"oh(?![aiueoy])", "o"),
        (r"m(?=[bpm])", "n"),
        (r"tch", "cch"),
        (r"([sc])hy(?=[auo])", r"\1h"),
        (r"(?:j|z|d)y(?=[auo])", "j"),
        (r"sy(?=[auo])", "sh"),
        (r"ty(?=[auo])", "ch"),
        (r"si", "shi"),
        (r"tti", "cchi"),
        (r"ti", "chi"),
        (r"[zd]i", "ji"),
        (r"tu", "tsu"),
        (r"dz?u", "zu"),
        (r"hu(?<![cs]hu)", "fu"),
        (r"wo", "o"),
        (r"(?<![cs])ha", "wa"),
        (r"(?<![cs])he", "e"),
        (r"o[uo]+", "o"),
        (r"([aiue])\1+", r"\1"),
    )
)


def romaji_key(name: str) -> str | None:
    """What romaji names are compared by to find candidates; None when the name is not plausibly romaji.

    >>> romaji_key("Shimbun o Yomu Ohkami") == romaji_key("Sinbun wo yomu Ōkami")
    True
    >>> romaji_key("Soul") is None
    True
    """
    words = _words(name)
    if words is None or not _is_plausible(words):
        return None
    if len(words) > 1:
        words[-1] = _NUMERALS.get(words[-1], words[-1])
    # Joined first: writers cut words in different places, and vowels meet over the cut.
    key = "".join("x" if word in _CROSS else word for word in words)
    for pattern, replacement in _SPELLINGS:
        key = pattern.sub(replacement, key)
    return key


def is_romaji(name: str) -> bool:
    """Whether a name surely is romaji: it is plausible, and has a particle or a word that only Japanese is built like."""
    words = _words(name)
    if words is None or not _is_plausible(words):
        return False
    return not _TELLING.isdisjoint(words) or sum(len(morae(word)) > 1 for word in words) >= _MANY


def morae(word: str) -> list[str]:
    """The morae of a romaji word; none if it is not one."""
    return _MORAE.findall(word) if _ROMAJI_WORD.fullmatch(word) else []


def content_words(name: str) -> list[str]:
    """The words of a romaji name without its particles, in small letters; none if it is not romaji."""
    words = _words(name)
    if words is None or not _is_plausible(words):
        return []
    return [word for word in words if word not in _PARTICLES]


def _words(name: str) -> list[str] | None:
    """The words in small letters without marks of length; None if letters of another script are among them."""
    text = unicodedata.normalize("NFKC", name).casefold()
    if _NOT_LATIN.search(text):
        return None
    bare = "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    return _WORD.findall(_APOSTROPHE.sub("", bare))


def _is_plausible(words: list[str]) -> bool:
    spelled = [word for word in words if word.isalpha() and word not in _CROSS]
    if not spelled or not _ENGLISH.isdisjoint(spelled):
        return False
    japanese = [word for word in spelled if _ROMAJI_WORD.fullmatch(word)]
    if len(japanese) == len(spelled):
        letters_and_digits = sum(map(len, [*japanese, *filter(str.isdecimal, words)]))
        return letters_and_digits >= _SHORTEST and max(map(len, japanese)) >= _SHORTEST_WITH_DIGITS
    letters = sum(map(len, japanese)) / sum(map(len, spelled))
    many = sum(len(morae(word)) > 1 for word in japanese) >= _MANY
    particle = not _TELLING.isdisjoint(japanese) and any(len(morae(word)) > 1 for word in japanese)
    return (many and letters >= _LONG_ENOUGH) or (particle and len(japanese) > len(spelled) - len(japanese))
