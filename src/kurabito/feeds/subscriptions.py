"""Subscriptions: the feeds that are followed, how each is followed, and how reading it goes. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from kurabito.feeds.preferences import NO_PREFERENCES, Policy, Preferences
from kurabito.http import Validators

DEFAULT_INTERVAL: Final = timedelta(minutes=15)


class NewSeries(StrEnum):
    """What happens when a feed of many series has a new one."""

    ADD = "add"
    ASK = "ask"


class StartWith(StrEnum):
    """Which of the items that are in the feed already a subscription takes."""

    NOW = "now"
    MISSING = "missing"
    CHOSEN = "chosen"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionSettings:
    """How a feed is followed: what its keeper may change."""

    name: str
    url: str
    module_id: int | None = None
    """The fetcher that reads it; None for the built-in one."""
    series_id: int | None = None
    """The one series that it is about; None for many."""
    new_series: NewSeries = NewSeries.ASK
    fetch_interval: timedelta = DEFAULT_INTERVAL
    is_enabled: bool = True
    allows_private: bool = False
    """The host may be inside the keeper's own network."""
    conflict_policy: Policy = Policy.BEST
    """What decides between several releases of one episode."""
    upgrade: bool = False
    """A better release replaces one that is there already."""
    wait_minutes: int = 0
    """How long the best one waits for a better one to come."""
    preferences: Preferences = NO_PREFERENCES


@dataclass(frozen=True, slots=True)
class Health:
    """How the readings of a feed went."""

    next_fetch_at: datetime | None
    last_fetched_at: datetime | None
    last_success_at: datetime | None
    failures: int
    """In a row."""
    error_code: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class Subscription:
    """A feed that is followed."""

    id: int
    settings: SubscriptionSettings
    start_with: StartWith
    chosen: frozenset[str]
    """The items that its keeper picked among those that were in the feed already: by their keys."""
    validators: Validators
    health: Health
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None
    """Since when it is not read because its show is over and complete."""

    def skips(self, pub_date: datetime | None, *, is_chosen: bool) -> bool:
        """Whether an item of this date is from before the subscription began, and was not picked."""
        was_read = self.health.last_success_at is not None
        if was_read or is_chosen or self.start_with is StartWith.MISSING:
            return False
        # An item that was published between subscribing and the first reading is new, if the feed gives its date.
        return self.start_with is StartWith.CHOSEN or pub_date is None or pub_date < self.created_at
