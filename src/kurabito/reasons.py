"""Reasons: a code and facts. They are stored as such, and made into words where a reader is, in the reader's language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

Code = TypeVar("Code", bound=StrEnum)

OTHER: Final = "other"
"""The code that each kind of reason has for a text that is not ours, or that this version does not know."""
TEXT: Final = "text"
"""The fact that has such a text."""
LONGEST_TEXT: Final = 2_000


@dataclass(frozen=True, slots=True)
class Reason(Generic[Code]):
    """Why something is as it is."""

    code: Code
    facts: Mapping[str, Any] = field(default_factory=dict)

    def stored(self) -> str:
        """The reason as a column has it."""
        return json.dumps(self.as_facts(), ensure_ascii=False)

    def as_facts(self) -> dict[str, Any]:
        """The reason as plain values, also to be a fact of another one."""
        return {"code": self.code.value, "facts": dict(self.facts)}


def in_other_words(codes: type[Code], text: str) -> Reason[Code]:
    """What others say: a downloader, a user, an earlier version."""
    return Reason(codes(OTHER), {TEXT: text[:LONGEST_TEXT]})


def read_reason(codes: type[Code], stored: str | None) -> Reason[Code] | None:
    """The reason in a column. What is no reason of this version is a text of another."""
    if not stored:
        return None
    try:
        return reason_of(codes, json.loads(stored))
    except ValueError:
        return in_other_words(codes, stored)


def reason_of(codes: type[Code], values: Any) -> Reason[Code]:
    """The reason in plain values; raises ValueError when they are none of these codes'."""
    if not isinstance(values, dict) or not isinstance(values.get("facts"), dict):
        raise ValueError("a reason has a code and facts")
    return Reason(codes(str(values.get("code"))), values["facts"])
