"""What a program asks of the subscriptions: follow a feed, change it, read it now, unfollow it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from kurabito.errors import InvalidInput
from kurabito.feeds import subscription_store
from kurabito.feeds.subscriptions import StartWith, Subscription, SubscriptionSettings
from kurabito.feeds.tasks import fetch_key, fetch_of
from kurabito.reasons import InputReason, refused, refused_interval
from kurabito.runtime import Priority, TaskRecord
from kurabito.runtime.delegation import DelegatedTasks, TaskTransaction
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_after

SHORTEST_INTERVAL: Final = timedelta(minutes=5)
LONGEST_INTERVAL: Final = timedelta(days=30)
LONGEST_URL: Final = 4_000
MOST_CHOSEN: Final = 5_000


class Subscriptions:
    """The subscriptions of one database. A task reads a feed as soon as it is followed or switched on."""

    def __init__(self, queue: DelegatedTasks) -> None:
        self._queue = queue
        self._database = queue.database

    async def create(
        self, settings: SubscriptionSettings, start_with: StartWith = StartWith.NOW, chosen: Iterable[str] = ()
    ) -> Subscription:
        """Follow a feed; raises InvalidInput or SubscriptionConflict, naming the field.

        `chosen` are items of a preview, by their keys. Nothing else that is in the feed already is taken, unless
        everything that is missing is wanted.
        """
        _check(settings)
        wanted = frozenset(chosen)
        if wanted and start_with is not StartWith.CHOSEN:
            raise InvalidInput("chosen", f"is for start_with 'chosen', not for {start_with.value!r}")
        if wanted and settings.module_id is not None:
            raise InvalidInput(
                "chosen", "items can be chosen of feeds that the built-in fetcher reads; leave out module_id"
            )
        if len(wanted) > MOST_CHOSEN:
            raise InvalidInput(
                "chosen", f"must be at most {MOST_CHOSEN} items", refused(InputReason.TOO_MANY, most=MOST_CHOSEN)
            )

        def work(tasks: TaskTransaction) -> Subscription:
            subscription = subscription_store.add(tasks.conn, settings, start_with, wanted)
            _enqueue_fetch(tasks, subscription)
            return subscription

        return await self._queue.delegate_write(work)

    async def get(self, subscription_id: int) -> Subscription:
        """The subscription; raises SubscriptionNotFound."""
        return await self._database.read(lambda conn: subscription_store.find(conn, subscription_id))

    async def by_url(self, url: str) -> Subscription | None:
        """The subscription of a feed, if it is followed."""
        return await self._database.read(lambda conn: subscription_store.of_url(conn, url))

    async def page(self, *, limit: int = 50, cursor: str | None = None) -> Page[Subscription]:
        """Subscriptions in the order in which they were made."""
        after = id_after(cursor)
        found = await self._database.read(lambda conn: subscription_store.page(conn, after, limit + 1))
        return Page.cut(found, limit, lambda last: str(last.id))

    async def change(self, subscription_id: int, changes: Mapping[str, Any]) -> Subscription:
        """Change how a feed is followed; fields of `SubscriptionSettings`, and what is not named stays."""

        def work(tasks: TaskTransaction) -> Subscription:
            old = subscription_store.find(tasks.conn, subscription_id)
            new = subscription_store.change(tasks.conn, subscription_id, dict(changes))
            _check(new.settings)
            if new.settings != old.settings and new.health.next_fetch_at != old.health.next_fetch_at:
                _enqueue_fetch(tasks, new)
            return new

        return await self._queue.delegate_write(work)

    async def remove(self, subscription_id: int) -> None:
        """Unfollow a feed. Its items are deleted; the links that it brought stay."""

        def work(tasks: TaskTransaction) -> None:
            subscription_store.remove(tasks.conn, subscription_id)
            if task := tasks.active(fetch_key(subscription_id)):
                tasks.cancel(task.id)

        await self._queue.delegate_write(work)

    async def fetch_now(self, subscription_id: int) -> TaskRecord:
        """Read a feed before those that are due, also one that is paused."""

        def work(tasks: TaskTransaction) -> TaskRecord:
            subscription_store.find(tasks.conn, subscription_id)
            return tasks.enqueue(fetch_of(subscription_id, Priority.HIGH, by_hand=True))

        return await self._queue.delegate_write(work)


def _enqueue_fetch(tasks: TaskTransaction, subscription: Subscription) -> None:
    if subscription.settings.is_enabled:
        tasks.enqueue(fetch_of(subscription.id, Priority.HIGH))


def _check(settings: SubscriptionSettings) -> None:
    try:
        parts = urlsplit(settings.url)
        fits = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        fits = False
    if not fits or len(settings.url) > LONGEST_URL or not settings.url.isprintable() or " " in settings.url:
        problem = "must be the URL of a feed, like https://example.org/rss"
        raise InvalidInput("url", problem, refused(InputReason.FEED_URL))
    if not settings.name.strip() or len(settings.name) > 200 or not settings.name.isprintable():
        problem = "must be a text of 1 to 200 characters that can be seen"
        raise InvalidInput("name", problem, refused(InputReason.TEXT, most=200))
    if not SHORTEST_INTERVAL <= settings.fetch_interval <= LONGEST_INTERVAL:
        raise InvalidInput(
            "fetch_interval",
            f"must be from {SHORTEST_INTERVAL} to {LONGEST_INTERVAL}",
            refused_interval(SHORTEST_INTERVAL, LONGEST_INTERVAL),
        )
