"""Following feeds: for whoever must not wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from kurabito.errors import InvalidInput
from kurabito.feeds import subscriptions
from kurabito.feeds.subscription_state import StartWith
from kurabito.feeds.subscriptions import Subscription, SubscriptionSettings
from kurabito.feeds.tasks import fetch_key, fetch_of
from kurabito.runtime import Priority, TaskRecord
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_after
from kurabito.runtime.sql.delegation import TaskTransaction
from kurabito.runtime.sql.queue import SqlQueue

SHORTEST_INTERVAL: Final = timedelta(minutes=5)
LONGEST_INTERVAL: Final = timedelta(days=30)
LONGEST_URL: Final = 4_000
MOST_CHOSEN: Final = 5_000


class Subscriptions:
    """The subscriptions of one database. A feed that is followed, or comes to life again, is read at once, by a task."""

    def __init__(self, queue: SqlQueue) -> None:
        self._queue = queue
        self._database = queue.database

    async def create(
        self, wishes: SubscriptionSettings, start_with: StartWith = StartWith.NOW, chosen: Iterable[str] = ()
    ) -> Subscription:
        """Follow a feed; raises InvalidInput or SubscriptionConflict, naming the field.

        `chosen` are items of a preview, by their keys. Nothing else that is in the feed already is taken, unless
        everything that is missing is wanted.
        """
        _check(wishes)
        wanted = frozenset(chosen)
        if wanted and start_with is not StartWith.CHOSEN:
            raise InvalidInput("chosen", f"is for start_with 'chosen', not for {start_with.value!r}")
        if wanted and wishes.module_id is not None:
            raise InvalidInput(
                "chosen", "items can be chosen of feeds that the built-in fetcher reads; leave out module_id"
            )
        if len(wanted) > MOST_CHOSEN:
            raise InvalidInput("chosen", f"must be at most {MOST_CHOSEN} items")

        def work(tasks: TaskTransaction) -> Subscription:
            subscription = subscriptions.add(tasks.conn, wishes, start_with, wanted)
            _ask_for(tasks, subscription)
            return subscription

        return await self._queue.delegate_write(work)

    async def get(self, subscription_id: int) -> Subscription:
        """The subscription; raises SubscriptionNotFound."""
        return await self._database.read(lambda conn: subscriptions.find(conn, subscription_id))

    async def page(self, *, limit: int = 50, cursor: str | None = None) -> Page[Subscription]:
        """Subscriptions in the order in which they were made."""
        after = id_after(cursor)
        found = await self._database.read(lambda conn: subscriptions.page(conn, after, limit + 1))
        return Page.cut(found, limit, lambda last: str(last.id))

    async def change(self, subscription_id: int, changes: Mapping[str, Any]) -> Subscription:
        """Change how a feed is followed; fields of `SubscriptionSettings`, and what is not named stays."""

        def work(tasks: TaskTransaction) -> Subscription:
            old = subscriptions.find(tasks.conn, subscription_id)
            new = subscriptions.change(tasks.conn, subscription_id, dict(changes))
            _check(new.wishes)
            if new.wishes != old.wishes and new.health.next_fetch_at != old.health.next_fetch_at:
                _ask_for(tasks, new)
            return new

        return await self._queue.delegate_write(work)

    async def remove(self, subscription_id: int) -> None:
        """Follow a feed no longer. Its items are forgotten; the links that it brought stay."""

        def work(tasks: TaskTransaction) -> None:
            subscriptions.remove(tasks.conn, subscription_id)
            if task := tasks.active(fetch_key(subscription_id)):
                tasks.cancel(task.id)

        await self._queue.delegate_write(work)

    async def fetch_now(self, subscription_id: int) -> TaskRecord:
        """Ask for a reading, before those that come by themselves; also of a feed that is paused."""

        def work(tasks: TaskTransaction) -> TaskRecord:
            subscriptions.find(tasks.conn, subscription_id)
            return tasks.enqueue(fetch_of(subscription_id, Priority.HIGH))

        return await self._queue.delegate_write(work)


def _ask_for(tasks: TaskTransaction, subscription: Subscription) -> None:
    if subscription.wishes.is_enabled:
        tasks.enqueue(fetch_of(subscription.id, Priority.HIGH))


def _check(wishes: SubscriptionSettings) -> None:
    if not wishes.name.strip() or len(wishes.name) > 200 or not wishes.name.isprintable():
        raise InvalidInput("name", "must be a text of 1 to 200 characters that can be seen")
    if not SHORTEST_INTERVAL <= wishes.fetch_interval <= LONGEST_INTERVAL:
        raise InvalidInput("fetch_interval", f"must be from {SHORTEST_INTERVAL} to {LONGEST_INTERVAL}")
    try:
        parts = urlsplit(wishes.url)
        fits = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        fits = False
    if not fits or len(wishes.url) > LONGEST_URL or not wishes.url.isprintable() or " " in wishes.url:
        raise InvalidInput("url", "must be the URL of a feed, like https://example.org/rss")
