"""Feed health: whether a feed is read, in one word."""

from __future__ import annotations

from enum import StrEnum

from kurabito.feeds.subscriptions import Subscription


class FeedHealth(StrEnum):
    """The gravest first."""

    PAUSED = "paused"
    FINISHED = "finished"
    """Its show is over and complete, so it is not read."""
    FAILING = "failing"
    NEW = "new"
    """The first reading has not ended yet."""
    INCOMPLETE = "incomplete"
    """The last reading brought items, and met an error all the same."""
    HEALTHY = "healthy"


def feed_health(subscription: Subscription) -> FeedHealth:
    """The health of a feed, as its last readings left it."""
    health = subscription.health
    if not subscription.settings.is_enabled:
        return FeedHealth.PAUSED if subscription.finished_at is None else FeedHealth.FINISHED
    # What a user asked for is not counted among the failures, and shows all the same.
    failed_by_hand = health.error_code is not None and health.last_fetched_at != health.last_success_at
    if health.failures or failed_by_hand:
        return FeedHealth.FAILING
    if health.last_success_at is None:
        return FeedHealth.NEW
    return FeedHealth.INCOMPLETE if health.error_code else FeedHealth.HEALTHY
