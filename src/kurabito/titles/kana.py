"""Reads kana aloud, mora by mora. Kanji have readings that only a dictionary knows, so they are left alone."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ROWS: Final = (
    ("", "あいうえお"),
    ("k", "かきくけこ"),
    ("g", "がぎぐげご"),
    ("s", "さしすせそ"),
    ("z", "ざじずぜぞ"),
    ("t", "たちつてと"),
    ("d", "だぢづでど"),
    ("n", "なにぬねの"),
    ("h", "はひふへほ"),
    ("b", "ばびぶべぼ"),
    ("p", "ぱぴぷぺぽ"),
    ("m", "まみむめも"),
    ("r", "らりるれろ"),
)
_MORAE: Final[dict[str, str]] = {
    **{kana: onset + vowel for onset, row in _ROWS for kana, vowel in zip(row, "aiueo", strict=True)},
    **dict(zip("しちつふじぢづ", "shi chi tsu fu ji ji zu".split(), strict=True)),
    **dict(zip("やゆよわゐゑをゔゕゖ", "ya yu yo wa i e wo vu ka ke".split(), strict=True)),
    **dict(zip("ぁぃぅぇぉゃゅょゎ", "a i u e o ya yu yo wa".split(), strict=True)),
}
# What is left of a mora before a small vowel of another sound: ティ is ti, ヴァ is va, ウィ is wi.
_LENT: Final = dict(
    pair.split(":") for pair in "shi:sh chi:ch ji:j tsu:ts fu:f vu:v te:t de:d to:t do:d u:w i:y ku:kw gu:gw".split()
)
_SMALL: Final = "ぁぃぅぇぉゃゅょゎ"
_MORA: Final = re.compile(f"([{''.join(_MORAE)}])([{_SMALL}]?)")
_AGAIN: Final = re.compile("([ぁ-ゖ])([ゝゞ])")
_KATAKANA: Final = {code: code - 0x60 for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}
_UNREAD: Final = re.compile("[^\\W\\d_A-Za-z\u00c0-\u024fぁ-ゖー]")
_DOUBLED: Final = re.compile("っ+([bcdfghjkmpstvwyzr])")
_LONG: Final = re.compile("([aiueo])ー+")
_CLOSING_BEFORE_VOWEL: Final = re.compile("ん(?=[aiueoy])")
_NEITHER_LETTER_NOR_DIGIT: Final = re.compile(r"[^a-z0-9\u00c0-\u024f']+", re.I)


def kana_to_romaji(text: str) -> str | None:
    """The reading of a title in kana, as Hepburn writes it; None if it has no kana, or letters without a fixed reading.

    >>> kana_to_romaji("ゆるキャン△"), kana_to_romaji("ガールズ パンツァー")
    ('yurukyan', 'gaaruzu pantsaa')
    >>> kana_to_romaji("夜の蔵人") is None
    True
    """
    written = _hiragana(text)
    if not _MORA.search(written) or _UNREAD.search(written):
        return None
    read = _MORA.sub(_read_mora, written)
    read = _CLOSING_BEFORE_VOWEL.sub("n'", _LONG.sub(r"\1\1", read)).replace("ん", "n")
    # Hepburn doubles ch as tch.
    read = _DOUBLED.sub(lambda found: ("t" if found[1] == "c" else found[1]) + found[1], read)
    return " ".join(_NEITHER_LETTER_NOR_DIGIT.sub(" ", read).split())


def _hiragana(text: str) -> str:
    """The text with katakana as hiragana, and the marks of repetition as what they repeat."""
    written = unicodedata.normalize("NFKC", text).translate(_KATAKANA)
    return _AGAIN.sub(
        lambda found: found[1] + unicodedata.normalize("NFC", found[1] + ("\u3099" if found[2] == "ゞ" else "")),
        written,
    )


def _read_mora(found: re.Match[str]) -> str:
    base, small = _MORAE[found[1]], _MORAE.get(found[2], "")
    if not small:
        return base
    if small.startswith("y"):
        stem = _LENT.get(base, base[:-1] if base.endswith("i") else base)
        return stem + (small[1:] if stem in ("sh", "ch", "j") else small)
    return (base if base[-1] == small[-1] else _LENT.get(base, base)) + small
