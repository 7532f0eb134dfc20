"""Subscriptions: feeds that are followed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Self
from uuid import UUID

from fastapi import Path
from pydantic import BaseModel, Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody
from kurabito.api.following.preferences import PreferencesBody
from kurabito.api.following.previews import ALLOWS_PRIVATE, FeedUrl
from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.api.tasks.task_models import TaskAnswer
from kurabito.contact import site_of
from kurabito.feeds.health import FeedHealth, feed_health
from kurabito.feeds.preferences import Policy
from kurabito.feeds.service import LONGEST_INTERVAL, MOST_CHOSEN, SHORTEST_INTERVAL, Subscriptions
from kurabito.feeds.subscriptions import DEFAULT_INTERVAL, NewSeries, StartWith, Subscription, SubscriptionSettings
from kurabito.modules.services import BIGGEST_MODULE_ID
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

SubscriptionId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the subscription's id")]
Interval = Annotated[
    float,
    Field(
        ge=SHORTEST_INTERVAL.total_seconds(),
        le=LONGEST_INTERVAL.total_seconds(),
        allow_inf_nan=False,
        description="seconds between two readings",
    ),
]
ModuleId = Annotated[int, Field(ge=1, le=BIGGEST_MODULE_ID, description="the fetcher; null for the built-in one")]
SeriesId = Annotated[int, Field(ge=1, le=BIGGEST_ID, description="the one series it is about; null for many")]
Series = Annotated[NewSeries, Field(strict=False, description="what happens with a series that is new: add it, or ask")]
Start = Annotated[
    StartWith,
    Field(
        strict=False,
        description="of what is in the feed already: nothing (now), everything (missing), or what is chosen",
    ),
]
Choosing = Annotated[
    Policy,
    Field(
        strict=False, description="of several releases of one episode: the best by your preferences, the first, or ask"
    ),
]
WaitMinutes = Annotated[
    int, Field(ge=0, le=43_200, description="how long `best` waits for a better one to come"), WHOLE
]
Key = Annotated[str, Field(min_length=1, max_length=8_000)]
_UPGRADE: Final = "whether a better release replaces one that is there already"


class SubscriptionOrder(StrictBody):
    """A feed to follow."""

    url: FeedUrl
    name: ShortText | None = Field(None, description="the name of the site if it is left out")
    series_id: SeriesId | None = None
    new_series: Series = NewSeries.ASK
    start_with: Start = StartWith.NOW
    chosen: list[Key] = Field(
        default_factory=list,
        max_length=MOST_CHOSEN,
        description="with start_with `chosen`: the keys of a preview's items",
    )
    fetch_interval: Interval = DEFAULT_INTERVAL.total_seconds()
    module_id: ModuleId | None = None
    is_enabled: bool = True
    allows_private: bool = Field(False, description=ALLOWS_PRIVATE)
    conflict_policy: Choosing = Policy.BEST
    upgrade: bool = Field(False, description=_UPGRADE)
    wait_minutes: WaitMinutes = 0
    preferences: PreferencesBody = Field(default_factory=PreferencesBody)


class SubscriptionChange(StrictBody):
    """What is to change; what is not named stays."""

    # Made, not given: the documentation must not name values for what is left out.
    url: FeedUrl = Field(default_factory=str)
    name: ShortText = Field(default_factory=str)
    series_id: SeriesId | None = None
    new_series: Series = Field(default_factory=lambda: NewSeries.ASK)
    fetch_interval: Interval = Field(default_factory=DEFAULT_INTERVAL.total_seconds)
    module_id: ModuleId | None = None
    is_enabled: bool = Field(default_factory=bool, description="false pauses it")
    allows_private: bool = Field(default_factory=bool, description=ALLOWS_PRIVATE)
    conflict_policy: Choosing = Field(default_factory=lambda: Policy.BEST)
    upgrade: bool = Field(default_factory=bool, description=_UPGRADE)
    wait_minutes: WaitMinutes = Field(default_factory=int)
    preferences: PreferencesBody = Field(default_factory=PreferencesBody)


class SubscriptionAnswer(BaseModel):
    """A feed that is followed. Times are UTC."""

    id: int
    name: str
    url: str
    series_id: int | None
    new_series: NewSeries
    start_with: StartWith
    fetch_interval: float = Field(description="seconds between two readings")
    module_id: int | None
    is_enabled: bool
    health: FeedHealth = Field(description="whether the feed is read, in one word")
    allows_private: bool
    conflict_policy: Policy
    upgrade: bool
    wait_minutes: int
    preferences: PreferencesBody
    next_fetch_at: datetime | None
    last_fetched_at: datetime | None
    last_success_at: datetime | None
    failures: int = Field(description="readings in a row that failed")
    error_code: str | None = Field(description="why the last reading failed; null when it did not")
    error_message: str | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, subscription: Subscription) -> Self:
        settings, health = subscription.settings, subscription.health
        return cls(
            id=subscription.id,
            name=settings.name,
            url=settings.url,
            series_id=settings.series_id,
            new_series=settings.new_series,
            start_with=subscription.start_with,
            fetch_interval=settings.fetch_interval.total_seconds(),
            module_id=settings.module_id,
            is_enabled=settings.is_enabled,
            health=feed_health(subscription),
            allows_private=settings.allows_private,
            conflict_policy=settings.conflict_policy,
            upgrade=settings.upgrade,
            wait_minutes=settings.wait_minutes,
            preferences=PreferencesBody.of(settings.preferences),
            next_fetch_at=health.next_fetch_at,
            last_fetched_at=health.last_fetched_at,
            last_success_at=health.last_success_at,
            failures=health.failures,
            error_code=health.error_code,
            error_message=health.error_message,
            created_at=subscription.created_at,
            updated_at=subscription.updated_at,
        )


class FetchAccepted(BaseModel):
    """A reading that was asked for; one that waits or runs already is the answer to a second request."""

    task_id: UUID
    task: TaskAnswer


def router(subscriptions: Subscriptions) -> Router:
    """The routes of the subscriptions."""
    routes = Router(prefix="/api/v1/subscriptions", tags=["following"])

    @routes.post("", status_code=201, responses=documented(409, *WITH_BODY))
    async def create_subscription(order: SubscriptionOrder) -> SubscriptionAnswer:
        """Follow a feed. It is read at once, by a task."""
        settings = _named_settings(order, exclude={"start_with", "chosen"})
        settings["name"] = order.name or site_of(order.url)
        return SubscriptionAnswer.of(
            await subscriptions.create(SubscriptionSettings(**settings), order.start_with, order.chosen)
        )

    @routes.get("", responses=documented(422))
    async def list_subscriptions(limit: Limit = 50, cursor: IdCursor = None) -> PageAnswer[SubscriptionAnswer]:
        """Subscriptions, a page at a time."""
        page = await subscriptions.page(limit=limit, cursor=cursor)
        return PageAnswer[SubscriptionAnswer].of(page, SubscriptionAnswer.of)

    @routes.get("/{subscription_id}", responses=documented(404, 422))
    async def get_subscription(subscription_id: SubscriptionId) -> SubscriptionAnswer:
        """One subscription."""
        return SubscriptionAnswer.of(await subscriptions.get(subscription_id))

    @routes.patch("/{subscription_id}", responses=documented(404, 409, *WITH_BODY))
    async def change_subscription(subscription_id: SubscriptionId, change: SubscriptionChange) -> SubscriptionAnswer:
        """Change how a feed is followed, or pause it."""
        return SubscriptionAnswer.of(await subscriptions.change(subscription_id, _named_settings(change)))

    @routes.delete("/{subscription_id}", status_code=204, responses=documented(404, 422))
    async def delete_subscription(subscription_id: SubscriptionId) -> None:
        """Follow a feed no longer. Its items are forgotten; the links that it brought stay."""
        await subscriptions.remove(subscription_id)

    @routes.post("/{subscription_id}/fetch", status_code=202, responses=documented(404, 422))
    async def fetch_subscription(subscription_id: SubscriptionId) -> FetchAccepted:
        """Read the feed now, also if it is paused."""
        task = await subscriptions.fetch_now(subscription_id)
        return FetchAccepted(task_id=task.id, task=TaskAnswer.of(task))

    return routes


def _named_settings(body: SubscriptionOrder | SubscriptionChange, exclude: set[str] | None = None) -> dict[str, Any]:
    """The fields of `SubscriptionSettings` that a body names."""
    named = body.model_dump(exclude=exclude, exclude_unset=True)
    if "fetch_interval" in named:
        named["fetch_interval"] = timedelta(seconds=named["fetch_interval"])
    if "preferences" in named:
        named["preferences"] = body.preferences.preferences()
    return named
