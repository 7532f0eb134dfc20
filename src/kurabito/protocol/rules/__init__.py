"""The rules of the planes, as data: `rulebook` says how they are written down.

A section is a Markdown file beside this one; `terms_in_words` has what is generated into them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from kurabito.protocol.rulebook import ProtocolRule, RuleBook
from kurabito.protocol.rules.terms_in_words import WORDS
from kurabito.protocol.version import SPOKEN

__all__ = ["PLANES", "SECTIONS", "ProtocolRule", "rules", "section"]

SECTIONS: Final = (
    "words",
    "versions",
    "planes",
    "values",
    "paths",
    "leases",
    "jobs",
    "scan",
    "moves",
    "candidates",
    "hash",
    "delete",
    "trash",
    "thumbnails",
    "cleanup",
    "checkpoints",
    "inspections",
    "placements",
    "control",
)
"""The files, in the order in which they are read."""

PLANES: Final = RuleBook("protocol", str(SPOKEN), __package__, SECTIONS, WORDS)


@cache
def section(name: str) -> str:
    """A section as Markdown, with the values of the code in it."""
    return PLANES.section(name)


def rules() -> Mapping[str, ProtocolRule]:
    """Every rule by its number, in the order of the page."""
    return PLANES.rules
