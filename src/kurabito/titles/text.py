"""A title as the recognisers read it: one width, one kind of bracket, nothing invisible, never too long."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LONGEST: Final = 1000
"""Characters that are read. Real titles have fewer than 300; what comes after is not looked at."""

_BRACKETS: Final = tuple(zip("【】〔〕〖〗", "[][][]", strict=True))
_ASCII_BRACKETS: Final = tuple(zip("{}_", "[] ", strict=True))
# Controls (but blanks, which are folded), marks of direction and width, lone halves of surrogate pairs, private letters.
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff]"
)

# Han, kana, hangul and their punctuation. Not complete: enough to tell the two names of a release apart.
CJK: Final = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
CJK_LETTER: Final = re.compile(f"[{CJK}]")
# Signs of fractions count as letters to Python, and are of no script.
FOREIGN_LETTER: Final = re.compile(r"[^\W\d_\x00-\u024f\u2150-\u215f\u2189]")
# NFKC makes three characters of one: `2½` would read as twenty-one halves.
_FRACTION: Final = re.compile("([\u00bc-\u00be\u2150-\u215e\u2189])")
LATIN_LETTER: Final = re.compile("[A-Za-z\u00c0-\u024f]")
LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")

# Where an underscore or a dot joins a name to the same name in another script. Between blanks it is the slash that no file
# name can have.
_MOST_JOINTS: Final = 2
"""With more underscores, and not one blank, they are the blanks."""
_JOINTS: Final = re.compile(f"(?<=[{CJK}!?~。])[_·](?=[A-Za-z])|(?<=[A-Za-z!?.])[_·](?=[{CJK}])|(?<=\\S) _ (?=\\S)")
# A Chinese name and the Japanese one, which has kana: `[夜之蔵人_くらびと]`.
_KANA_FOLLOWS: Final = re.compile(r"(?<=\[)([\u3400-\u9fff]{2,20})_(?=[\u3041-\u30ff][^\[\]_/]{1,40}\])")
# `[夜之蔵人_Night!!]`, `[夜之蔵人SS_Night SS]`: the only underscore of a bracket, whatever stands for blanks in other ones.
# `[Night_Brewer 夜之蔵人]` and `[夜之蔵人Night Brewer_Encore]` have it inside the Latin name.
_LONE_UNDERSCORE: Final = re.compile(
    rf"(?<=\[)(?:([^\[\]_/]{{0,60}}[{CJK}][^\[\]_/A-Za-z{CJK}]{{0,4}}[A-Za-z\d]{{0,12}}[^\[\]_/A-Za-z{CJK}]{{0,4}})_"
    rf"(?=[A-Z0-9][A-Za-z!?'.:-]{{3}}|[A-Z][a-z]{{1,2}} [A-Za-z]|\d{{1,3}}[A-Za-z]{{3}})([^\[\]_/{CJK}]{{4,120}})"
    rf"|([A-Z0-9][A-Za-z!?'.:-]{{3}}[^\[\]_/{CJK}]{{0,120}})_([{CJK}][^\[\]_/]{{1,80}}))(?=\])"
)

# `[夜之蔵人 Night Days_Yoru no Kurabito Night Days]`: both names end alike.
_SAME_ENDING: Final = re.compile(
    rf"(?<=\[)([^\[\]_/]{{0,40}}[{CJK}] ?([A-Za-z][A-Za-z0-9 ]{{3,30}}))_(?=[^\[\]_/{CJK}]{{2,80}} \2\])", re.I
)
# `[夜之蔵人][醪篇][07]`: what a part of the story is called belongs to the name before it.
_ARC: Final = re.compile(r"(?<=\[)([\u3400-\u9fff]{2,16})(?<![组組社])\]\[([\u3400-\u9fff]{1,5}[篇編编]\]\[第?\d)")
# `[03[1080p]`: a slip that hides the episode.
_UNCLOSED: Final = re.compile(r"\[(\d{1,4}(?:v\d)?)(?=\[)", re.I)


def normalise(text: str) -> str:
    """The title with compatibility forms folded (NFKC), one kind of blank and square brackets only.

    >>> normalise("【喵】　第１２話"), normalise("Koji 2½")
    ('[喵] 第12話', 'Koji 2½')
    """
    shown = text[:LONGEST]
    if not shown.isascii():
        # Cut again: one character can become eighteen.
        shown = _compatible(shown)[:LONGEST]
        if ("_" in shown or "·" in shown) and (" " in shown or shown.count("_") <= _MOST_JOINTS):
            shown = _JOINTS.sub(" / ", shown)[:LONGEST]
        for bracket, square in _BRACKETS:
            shown = shown.replace(bracket, square)
        if "_" in shown:
            shown = _KANA_FOLLOWS.sub(r"\1 / ", shown)[:LONGEST]
            shown = _SAME_ENDING.sub(r"\1 / ", shown)[:LONGEST]
            shown = _LONE_UNDERSCORE.sub(r"\1\3 / \2\4", shown)[:LONGEST]
        if "篇]" in shown or "編]" in shown or "编]" in shown:
            shown = _ARC.sub(r"\1 \2", shown)
    if not shown.isprintable():
        shown = _INVISIBLE.sub("", shown)
    for bracket, square in _ASCII_BRACKETS:
        shown = shown.replace(bracket, square)
    written = " ".join(shown.split())
    return _UNCLOSED.sub(r"[\1]", written)[:LONGEST] if _UNCLOSED.search(written) else written


def _compatible(text: str) -> str:
    """The text in NFKC, with the signs of fractions as they are written."""
    if not _FRACTION.search(text):
        return unicodedata.normalize("NFKC", text)
    pieces = _FRACTION.split(text)
    return "".join(piece if _FRACTION.match(piece) else unicodedata.normalize("NFKC", piece) for piece in pieces)


def is_foreign(text: str) -> bool:
    """Whether there is a letter of any script but the Latin one."""
    return not text.isascii() and FOREIGN_LETTER.search(text) is not None


def fold(text: str) -> str:
    """The letters and digits alone, without case: two names that differ in nothing else are the same."""
    return "".join(LETTER_OR_DIGIT.findall(unicodedata.normalize("NFKC", text).casefold()))


def storable(text: str) -> str:
    r"""The text without what no database holds: NUL and lone halves of surrogate pairs.

    >>> storable("蔵\x00\ud83d人")
    '蔵人'
    """
    return text.encode("utf-8", "ignore").decode().replace("\x00", "")
