"""What a check may say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from kurabito.settings import Settings


class Severity(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    """It works, and may not always."""
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was found, and what to do about it."""

    verdict: Severity
    says: str
    fix: str = ""


Check = Callable[[Settings], CheckResult | None]
"""None says that the check is about something that is not here, such as a server where there is a file."""


def ok(says: str) -> CheckResult:
    """All is well."""
    return CheckResult(Severity.OK, says)


def warning(says: str, fix: str) -> CheckResult:
    """It works, and may not always."""
    return CheckResult(Severity.WARNING, says, fix)


def broken(says: str, fix: str = "") -> CheckResult:
    """It does not work. Our own errors say in themselves what to do."""
    return CheckResult(Severity.BROKEN, says, fix)
