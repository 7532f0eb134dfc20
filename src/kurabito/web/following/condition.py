"""How a feed is: one word, which the page says and colours."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kurabito.feeds.subscriptions import Subscription


class Condition(StrEnum):
    """The value is the message's key below `condition`."""

    PAUSED = "paused"
    FAILING = "failing"
    NEW = "new"
    """Nothing was read from it yet."""
    INCOMPLETE = "incomplete"
    """It was read, and something was wrong with it all the same."""
    WELL = "well"

    @property
    def tone(self) -> str:
        """The state of a task that looks like it."""
        return _TONES[self]


_TONES: Final = {
    Condition.PAUSED: "cancelled",
    Condition.FAILING: "dead",
    Condition.NEW: "queued",
    Condition.INCOMPLETE: "retry_scheduled",
    Condition.WELL: "succeeded",
}


def condition_of(subscription: Subscription) -> Condition:
    """How a feed is, the gravest first."""
    health = subscription.health
    if not subscription.settings.is_enabled:
        return Condition.PAUSED
    if health.failures:
        return Condition.FAILING
    if health.last_success_at is None:
        return Condition.NEW
    return Condition.INCOMPLETE if health.error_code else Condition.WELL
