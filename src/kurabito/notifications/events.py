"""What is told: an episode that arrived, or something of the list of attention. Pure values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from kurabito.attention import AttentionCode, AttentionItem, Fact, Severity


class NotificationKind(StrEnum):
    """What a destination can hear of."""

    ARRIVED = "arrived"
    """An episode or film came into a library."""
    NEEDS_YOU = "needs_you"
    """A question waits for its keeper."""
    FAILED = "failed"
    """Something does not work: a download, a downloader, a feed, a scan."""
    DISK = "disk"
    """A disk is nearly full."""


ARRIVED: Final = "arrived"
TEST: Final = "test"
_QUESTIONS: Final = frozenset(
    {
        AttentionCode.INDEX_MISSING,
        AttentionCode.KEY_MISSING,
        AttentionCode.MATCHES_OPEN,
        AttentionCode.CONFLICTS_OPEN,
        AttentionCode.FILES_UNCLEAR,
        AttentionCode.QUESTIONS_OPEN,
        AttentionCode.RELINKS_WAITING,
        AttentionCode.OFFSETS_MISSING,
        AttentionCode.RELEASES_ASK,
    }
)
# A part that could not say how it is may say so in a moment; a destination that fails would hear of itself.
_UNTOLD: Final = frozenset({AttentionCode.CHECK_FAILED, AttentionCode.NOTIFICATIONS_FAILING})
# What changes while the trouble is the same one.
_CHANGING: Final = frozenset(
    {"count", "free", "failures", "waiting", "has_more", "held_back", "error_code", "failure", "why"}
)


@dataclass(frozen=True, slots=True)
class NotificationEvent:
    """Something to be told. Words are made when the message is, in the language of its destination."""

    kind: NotificationKind
    code: str
    facts: Mapping[str, Fact] = field(default_factory=dict)


def kind_of(code: AttentionCode) -> NotificationKind | None:
    """What something of the list of attention is told as; None if it is not told."""
    if code in _UNTOLD:
        return None
    if code is AttentionCode.DISK_FULL:
        return NotificationKind.DISK
    return NotificationKind.NEEDS_YOU if code in _QUESTIONS else NotificationKind.FAILED


def subject_of(item: AttentionItem) -> str:
    """What stays the same as long as the trouble is the same, whatever it has grown to."""
    facts = {name: fact for name, fact in item.facts.items() if name not in _CHANGING}
    return json.dumps([item.code, item.severity, facts], sort_keys=True, ensure_ascii=False)


def size_of(item: AttentionItem) -> int:
    """How much of it there is: what has grown is told again."""
    count = item.facts.get("count")
    return count if isinstance(count, int) else 1


def as_attention(event: NotificationEvent) -> AttentionItem:
    """What was in the list of attention."""
    return AttentionItem(code=AttentionCode(event.code), severity=Severity.WARNING, facts=event.facts)
