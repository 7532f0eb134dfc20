"""Which check is for which rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from kurabito.conformance.recording import Recording
from kurabito.protocol.rules import rules

Look = Callable[[Recording], Iterable[str]]


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """What looks whether a rule was kept."""

    rule: str
    scenarios: frozenset[str]
    """Those in which it looks; all of them when empty."""
    look: Look

    @property
    def name(self) -> str:
        """What it sees to, in words."""
        return self.look.__name__.replace("_", " ")

    def is_about(self, scenario: str) -> bool:
        """Whether it looks at this scenario."""
        return not self.scenarios or scenario in self.scenarios


CHECKS: Final[list[RuleCheck]] = []
"""Every check, in the order in which they were written down."""


def check(rule: str, *scenarios: str) -> Callable[[Look], Look]:
    """Register a check for a rule, in some scenarios or in all."""
    if rule not in rules():
        raise ValueError(f"{rule} is no rule of the protocol")

    def register(look: Look) -> Look:
        CHECKS.append(RuleCheck(rule, frozenset(scenarios), look))
        return look

    return register


def unchecked_rules() -> list[str]:
    """The rules that no check looks at, in the order of the page."""
    checked = {each.rule for each in CHECKS}
    return [rule for rule in rules() if rule not in checked]
