"""Names that may be two with nothing between them: which of their pieces are names."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from kurabito.catalog.identity.index.names import IndexNames
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.spellings import romaji_of


def without_pieces(index: IndexNames, reading: Reading) -> Reading:
    """A reading without the pieces of a name that is a name as a whole: `夜之蔵人 Morning Edition` is no `夜之蔵人`."""
    pieces = {
        half
        for whole, halves in reading.guessed().items()
        if index.is_known(whole) and not index.are_one(halves, reading.kind)
        for half in halves
    }
    if not pieces:
        return reading
    return replace(reading, names=tuple(name for name in reading.names if name.folded not in pieces))


def doubtful_halves(index: IndexNames, own: Set[str], reading: Reading) -> frozenset[str]:
    """The names of a release, folded, that may be pieces of one beside those that its series has: `夜之蔵人 Morning Edition` is perhaps no `夜之蔵人`.

    Two names they are where the piece in Latin letters is among its own, or romaji, or the index has both.
    """
    romaji = {name.folded for name in reading.names if romaji_of(name.shown) is not None}
    return frozenset().union(
        *(
            halves - own
            for halves in reading.guessed().values()
            if not any(half.isascii() and half in own | romaji for half in halves)
            and not index.are_one(halves, reading.kind)
        )
    )
