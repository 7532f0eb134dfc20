"""What became of each rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class RuleVerdict(StrEnum):
    """What is known of a plane and a rule."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_COVERED = "not covered"


@dataclass(slots=True)
class RuleOutcome:
    """A rule, and what its checks found."""

    rule: str
    checked_in: list[str] = field(default_factory=list)
    """The scenarios in which a check looked, each with its database."""
    evidence: list[str] = field(default_factory=list)
    """What broke it."""
    gaps: list[str] = field(default_factory=list)
    """Why a check could not look."""
    failed_checks: list[str] = field(default_factory=list)
    """The checks that found the evidence, as the documentation names them."""

    @property
    def verdict(self) -> RuleVerdict:
        """Failed when anything broke it; passed when a check looked and found nothing."""
        if self.evidence:
            return RuleVerdict.FAILED
        return RuleVerdict.PASSED if self.checked_in else RuleVerdict.NOT_COVERED
