"""The signs that tell a season from another: `Show!!` is perhaps not `Show!`, and `Show♭` is not `Show`."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import asks_inside

_SIGNS: Final = "!?'*°∫♭♯√◎♪\u00d7"
_SIGNS_AT_THE_END: Final = f"{_SIGNS}:"
TELLING_SIGNS: Final = frozenset(_SIGNS_AT_THE_END) - frozenset("!?♪")
"""Those that no group leaves out."""


def differs_in_signs(one: Name, other: Name) -> bool:
    """Whether two names of the same letters may be two seasons: both end in signs, in different ones, or one in a telling sign."""
    mine, theirs = end_signs(one.shown), end_signs(other.shown)
    is_told = bool(mine and theirs) or not TELLING_SIGNS.isdisjoint(mine + theirs)
    return (mine != theirs and is_told) or asks_inside(one.shown) is not asks_inside(other.shown)


def has_more_signs(mine: Iterable[Name], known: Iterable[Name]) -> bool:
    """Whether a name ends in several signs that no name of the series has: groups leave signs out, and do not make them up."""
    most = max((len(end_signs(name.shown)) for name in mine), default=0)
    return most > 1 and all(len(end_signs(name.shown)) < most for name in known)


def has_telling_signs(name: Name) -> bool:
    """Whether a name ends in signs that may tell a season from another."""
    signs = end_signs(name.shown)
    return len(signs) > 1 or not TELLING_SIGNS.isdisjoint(signs)


def end_signs(shown: str) -> str:
    """The signs in which a name ends: `!!` of `Show!!`."""
    bare = unicodedata.normalize("NFKC", shown).rstrip()
    return bare[len(bare.rstrip(_SIGNS_AT_THE_END)) :]


def signs_of(shown: str) -> str:
    """All signs of a name that may tell a season from another, wherever they stand."""
    return "".join(char for char in unicodedata.normalize("NFKC", shown) if char in _SIGNS) + end_signs(shown)[-1:]


def has_other_signs(name: Name, known: Iterable[Name]) -> bool:
    """Whether there is a sign in a name that no group leaves out, and that none of some others has."""
    return bool(TELLING_SIGNS.intersection(signs_of(name.shown)).difference(*(one.shown for one in known)))
