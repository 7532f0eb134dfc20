"""Short names that groups make of a long title. They are guesses: they find candidates, and prove nothing."""

from __future__ import annotations

import re
from typing import Final

from kurabito.titles.romaji import content_words, morae
from kurabito.titles.text import LATIN_LETTER, is_foreign

_SUBTITLE: Final = re.compile(r"\s?[:~〜～]\s?|\s[-–—]\s|\s?[(\[]")
_CROSS: Final = re.compile(r"\s*×\s*|\s+(?:[xX]|cross)\s+")
_WORD: Final = re.compile(r"[^\W_]+")
_FEWEST_INITIALS: Final = 3
_MOST_INITIALS: Final = 8
_SHORTEST: Final = 4
_MORAE_OF_EACH: Final = 2


def short_names(title: str) -> tuple[str, ...]:
    """The short names that a full title could go by.

    >>> short_names("Kono Kura ni Shukufuku wo!: Toji no Uta")
    ('Kono Kura ni Shukufuku wo!', 'KKnSwTnU', 'KKnSw', 'konokura')
    """
    main = _main_part(title)
    found = dict.fromkeys((main, _without_cross(title), _initials(title), _initials(main), _blend(main)))
    return tuple(name for name in found if name and name != title)


def _main_part(title: str) -> str:
    """The title without its subtitle, if enough is left of it."""
    for cut in _SUBTITLE.finditer(title):
        main = title[: cut.start()].strip()
        if sum(map(str.isalpha, main)) >= (_SHORTEST if not is_foreign(main) else 2):
            return main
    return title


def _without_cross(title: str) -> str:
    """`Kura x Toji` and one without blanks: the sign can be left out."""
    return _CROSS.sub(" ", title).strip()


def _initials(title: str) -> str:
    """`KnU` for Koji no Uta: the letters as the words have them, so particles stay small."""
    words = _WORD.findall(title)
    if is_foreign(title) or not _FEWEST_INITIALS <= len(words) <= _MOST_INITIALS:
        return ""
    return "".join(word if word.isdigit() else word[0] for word in words)


def _blend(title: str) -> str:
    """The first two morae of the first two words, as Japanese abbreviates: KonoSuba."""
    words = [word for word in content_words(title) if LATIN_LETTER.match(word)][:2]
    heads = ["".join(morae(word)[:_MORAE_OF_EACH]) for word in words]
    return "".join(heads) if len(heads) == 2 and all(len(head) > 2 for head in heads) else ""
