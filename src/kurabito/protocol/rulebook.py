"""A contract as data: numbered sentences that a page shows, and that a check can name.

A section is a Markdown file. A paragraph that begins with a number in bold is a rule:

    **LEASE-3** An owner MUST renew its lease …

A number is never given to another rule: a rule that goes leaves a hole. A word in double braces is a value of the code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Final

_RULE: Final = re.compile(r"^\*\*([A-Z]+-[1-9][0-9]*)\*\* (.+?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_LEVEL: Final = re.compile(r"\b(MUST NOT|MUST|SHOULD NOT|SHOULD|MAY)\b")
_WORD: Final = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class ProtocolRule:
    """One rule."""

    id: str
    """Like `SCAN-3`: it stays as long as the rule does."""
    level: str
    """MUST, MUST NOT, SHOULD, SHOULD NOT or MAY: the first of them that it says."""
    section: str
    text: str
    """As Markdown, on one line."""


@dataclass(frozen=True)
class RuleBook:
    """The rules of one contract."""

    title: str
    """What its version is a version of."""
    version: str
    package: str
    """Where the files are."""
    sections: Sequence[str]
    """The files, in the order in which they are read."""
    words: Mapping[str, str]
    """The values of the code, as the rules write them."""

    def section(self, name: str) -> str:
        """A section as Markdown, with the values of the code in it."""
        text = files(self.package).joinpath(f"{name}.md").read_text(encoding="utf-8")
        return _WORD.sub(lambda found: self.words[found[1]], text).strip()

    @cached_property
    def rules(self) -> Mapping[str, ProtocolRule]:
        """Every rule by its number, in the order of the page; raises ValueError for a number that two have, or no level."""
        found: dict[str, ProtocolRule] = {}
        for name in self.sections:
            for number, text in _RULE.findall(self.section(name)):
                level = _LEVEL.search(text)
                if number in found or level is None:
                    raise ValueError(f"{name}.md: {number} is there twice, or says neither MUST, SHOULD nor MAY")
                found[number] = ProtocolRule(number, level[1], name, " ".join(text.split()))
        return MappingProxyType(found)
