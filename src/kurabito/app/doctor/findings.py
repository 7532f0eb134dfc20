"""What a check may say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from kurabito.settings import Settings


class Verdict(StrEnum):
    """How it stands."""

    OK = "ok"
    WARNING = "warning"
    """It works, and may not always."""
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found, and what to do about it."""

    verdict: Verdict
    says: str
    fix: str = ""


Check = Callable[[Settings], Finding | None]
"""None says that the check is about something that is not here, such as a server where there is a file."""


def ok(says: str) -> Finding:
    """All is well."""
    return Finding(Verdict.OK, says)


def warning(says: str, fix: str) -> Finding:
    """It works, and may not always."""
    return Finding(Verdict.WARNING, says, fix)


def broken(says: str, fix: str = "") -> Finding:
    """It does not work. Our own errors say in themselves what to do."""
    return Finding(Verdict.BROKEN, says, fix)
