"""The health of a feed in one word, the gravest first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kurabito.feeds.health import FeedHealth, feed_health
from kurabito.feeds.subscriptions import Health, StartWith, Subscription, SubscriptionSettings
from kurabito.http import Validators

NOW = datetime(2026, 11, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("is_enabled", "last_success_at", "failures", "error_code", "health"),
    [
        (True, NOW, 0, None, FeedHealth.HEALTHY),
        (True, NOW, 0, "feed_cut_off", FeedHealth.INCOMPLETE),
        (True, None, 0, None, FeedHealth.NEW),
        (True, None, 1, "timed_out", FeedHealth.FAILING),
        (True, NOW, 3, "timed_out", FeedHealth.FAILING),
        (True, NOW - timedelta(hours=1), 0, "timed_out", FeedHealth.FAILING),
        (False, NOW, 0, None, FeedHealth.PAUSED),
        (False, NOW, 3, "timed_out", FeedHealth.PAUSED),
    ],
)
def test_a_feed_has_the_health_that_its_last_readings_left(
    is_enabled: bool, last_success_at: datetime | None, failures: int, error_code: str | None, health: FeedHealth
) -> None:
    readings = Health(NOW, NOW, last_success_at, failures, error_code, None)
    settings = SubscriptionSettings(name="feed", url="https://feeds.example/1", is_enabled=is_enabled)
    subscription = Subscription(1, settings, StartWith.NOW, frozenset(), Validators(), readings, NOW, NOW)
    assert feed_health(subscription) is health
