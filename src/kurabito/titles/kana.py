"""Reads kana aloud, mora by mora. Which of its readings a kanji has only a dictionary of words knows, so they are left alone.

Whether romaji *may* be the reading of a title is another question: there any reading of a kanji may be the one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

import re2  # type: ignore[import-untyped]

from kurabito.titles.romaji import morae

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
_KANJI: Final = re.compile("[\u3005\u3400-\u9fff]")
_KATAKANA_LETTER: Final = re.compile("[ァ-ヺ]")
_PARTICLES: Final = {"は": "(?:ha|wa)", "へ": "(?:he|e)", "を": "(?:wo|o)"}
_PIECES: Final = re.compile(
    "[\u3005\u3400-\u9fff]|[はへを]|[ぁ-のば-ぷべ-ゑんゔー]+|[ァ-ヺー]+|[A-Za-z\u00c0-\u024f]+|\\d+"
)
_FEWEST_SOUNDS: Final = 7
_WHOLE_SOUND: Final = 2
"""A consonant alone says half as much as a reading with its vowels."""
_NO_LETTER: Final = re.compile(r"[^a-z0-9]")
_SPELLED: Final = {
    **{letter: f"{letter}{{1,2}}" for letter in "aiukgsztdbpm"},
    "e": "e[ei]?",
    "o": "o[uoh]?",
    "n": "[nm]",
}
_VOWELS: Final = "[aeiouywh]*"
_HOME_SPELLINGS: Final = {
    "k": "(?:ck?|kk?|qu?|ch)",
    "x": "(?:x|(?:ck?|kk?)[aeiouywh]*(?:ss?|c))",
    "g": "gg?",
    "s": "(?:ss?|c|sc|th)",
    "z": "(?:zz?|j|g|d?s|th)",
    "t": "(?:tt?|t?ch|ts)",
    "d": "dd?",
    "n": "(?:nn?|m|ng)",
    "h": "(?:h|ff?|ph)",
    "b": "(?:bb?|v)",
    "p": "pp?",
    "m": "mm?",
    "r": "(?:rr?|ll?)",
}
_DOUBLED_LETTER: Final = re.compile(r"([a-z])\1")
_NO_CONSONANT: Final = re.compile(r"[^kgsztdnhbpmr]")
_SOUNDS: Final = re.compile("sh|ch|ts|j|f|v")
_SOUND_LETTERS: Final = {"sh": "s", "ch": "t", "ts": "t", "j": "z", "f": "h", "v": "b"}
_SWALLOWED: Final = re.compile(r"(?:k[ui]|tsu|chi)$")
_BEGINNINGS: Final = re.compile(r"^(?:s\{1,2\}h|ch|t\{1,2\}s\{1,2\}|k\{1,2\}|s\{1,2\}|t\{1,2\}|h|f)")
_VOICED: Final = {
    "s{1,2}h": "(?:s?sh|j)", "ch": "(?:ch|j)", "t{1,2}s{1,2}": "(?:t?ts|z)", "k{1,2}": "[kg]{1,2}", "s{1,2}": "[sz]{1,2}",
    "t{1,2}": "[td]{1,2}", "h": "(?:h|b|pp?)", "f": "(?:f|b|pp?)",
}  # fmt: skip
"""Behind another word the first consonant may be voiced."""
_AS_NUMBER: Final = {"四": ("yon",), "漆": ("shichi",), "捌": ("hachi",), "玖": ("kyu", "ku")}
"""How numbers are counted where that is no reading of the letter itself."""
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


def letters_of(name: str) -> str:
    """A name in Latin letters as readings are compared with it: small letters and digits alone."""
    return _NO_LETTER.sub("", unicodedata.normalize("NFKD", name.casefold()))


@lru_cache(maxsize=4096)
def readings_of(title: str, fewest_sounds: int = _FEWEST_SOUNDS) -> Any:
    """Every way in which a Japanese title may be written in Latin letters; None if a kanji has no known reading, or it says too little.

    Katakana is often a borrowed word, which is spelled as at home: only its consonants have to be there.

    >>> bool(readings_of("転生したらスライムだった件").fullmatch(letters_of("Tensei Shitara Slime Datta Ken")))
    True
    """
    pieces: list[str] = []
    sounds = 0
    written = _PIECES.findall(unicodedata.normalize("NFKC", title))
    for place, piece in enumerate(written, 1):
        if _KANJI.match(piece):
            # A sound is swallowed only before another.
            is_again = piece == "々" and pieces
            heard = pieces[-1] if is_again else _heard(piece, is_last=place == len(written))
            if heard is None:
                return None
            pieces.append(heard)
            sounds += _WHOLE_SOUND
        elif _KATAKANA_LETTER.match(piece):
            borrowed = _as_borrowed(piece)
            pieces += borrowed
            sounds += len(borrowed)
        else:
            read = kana_to_romaji(piece)
            pieces.append(_PARTICLES.get(piece) or _as_romaji(read or piece.lower()))
            sounds += len(piece) * (_WHOLE_SOUND if read else 1)
    # Many readings that begin alike: only a matcher that never goes back is safe here.
    return re2.compile("".join(pieces)) if sounds >= fewest_sounds else None


def _as_romaji(read: str) -> str:
    """A pattern for the ways of writing a reading: long vowels, doubled consonants, m for n."""
    return "".join(_SPELLED.get(letter, re.escape(letter)) for letter in read.replace(" ", "").replace("'", ""))


def _as_borrowed(katakana: str) -> list[str]:
    """A pattern for each consonant of a borrowed word, and for the vowels around it; behind a long vowel there may be an r."""
    read = _SOUNDS.sub(lambda found: _SOUND_LETTERS[found[0]], kana_to_romaji(katakana.replace("ー", "")) or "")
    consonants = _NO_CONSONANT.sub("", _DOUBLED_LETTER.sub(r"\1", read)).replace("ks", "x")
    after = f"{_VOWELS}(?:r{_VOWELS})?" if "ー" in katakana else _VOWELS
    return [_VOWELS, *(_HOME_SPELLINGS[letter] + after for letter in consonants)]


@cache
def _kanji() -> dict[str, str]:
    """What the table says of each kanji: its Chinese readings, and its Japanese ones behind a semicolon."""
    lines = files("kurabito.titles").joinpath("kanji.txt").read_text(encoding="utf-8").splitlines()
    return {word[0]: word[1:] for line in lines if not line.startswith("#") for word in line.split()}


@cache
def _heard(kanji: str, *, is_last: bool) -> str | None:
    """How a kanji may be read, as a pattern. The rest of a Japanese reading may be written in kana."""
    word = _kanji().get(kanji)
    if word is None:
        return None
    chinese, _, japanese = word.partition(";")
    readings = {one for one in (*chinese.split(","), *_AS_NUMBER.get(kanji, ())) if one}
    if not is_last:
        readings |= {_SWALLOWED.sub("", one) for one in readings}
    for one in japanese.split(",") if japanese else ():
        parts = morae(one)
        readings |= {"".join(parts[:end]) for end in range(1, len(parts) + 1)}
    heard = {_BEGINNINGS.sub(lambda one: _VOICED[one[0]], _as_romaji(one)) for one in readings}
    return f"(?:{'|'.join(sorted(heard))})"
