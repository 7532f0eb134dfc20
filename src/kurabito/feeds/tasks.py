"""The tasks that read feeds.

    every minute ─► feeds.check ─► one feeds.fetch for each feed that is due ─► Intake

A check plans a feed's next turn and asks for its fetch in one transaction, so none is lost or asked for twice. Items are
stored before it is noted which version of the feed they came from: whatever dies in between, they are asked for again, and
storing them again changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from kurabito.feeds import subscriptions
from kurabito.feeds.errors import FeedError, FeedUnreadable, FetcherRefused, SubscriptionNotFound
from kurabito.feeds.fetching import FeedReader
from kurabito.feeds.parsing import Feed
from kurabito.feeds.results import FetchedItem, FetcherResults, Intake
from kurabito.feeds.subscription_state import StartWith
from kurabito.feeds.subscriptions import Subscription
from kurabito.http.errors import BadStatus, OutboundError
from kurabito.modules import services
from kurabito.modules.calling import ServiceCalls
from kurabito.runtime import Priority, Registry
from kurabito.runtime.errors import PermanentError
from kurabito.runtime.sql.delegation import TaskTransaction
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.runtime.tasks.intake import PreparedTask, prepare

FETCH: Final = "feeds.fetch"
CHECK: Final = "feeds.check"
BUILT_IN: Final = "built-in"
_EVERY: Final = 60.0
_AT_ONCE: Final = 8
_FETCH_PATH: Final = "/fetch"
_PATIENCE: Final = 2
_BREAKS_OFF: Final = "the feed breaks off after {} items"


@dataclass(frozen=True, slots=True)
class FetchOrder:
    """Which feed to read."""

    subscription_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What one reading gave."""

    changed: bool = True
    items: int = 0
    new: int = 0
    refused: int = 0
    handed_to: str | None = None
    """The fetcher that reads it and will send what it finds."""


def fetch_of(subscription_id: int, priority: Priority = Priority.NORMAL) -> PreparedTask:
    """A reading of one feed."""
    order = FetchOrder(subscription_id)
    return prepare(FETCH, order, priority=priority, unique_key=fetch_key(subscription_id))


def fetch_key(subscription_id: int) -> str:
    """What two requests to read the same feed have in common."""
    return f"{FETCH}:{subscription_id}"


def key_of(item: FetchedItem) -> str:
    """What an item of a preview is chosen by."""
    return item.guid or item.download_url or item.title


class FeedTasks:
    """Runs them. `callback_url` is where a fetcher that is a service of its own sends what it found."""

    def __init__(
        self, queue: SqlQueue, reader: FeedReader, calls: ServiceCalls, intake: Intake, *, callback_url: str
    ) -> None:
        self._queue = queue
        self._database = queue.database
        self._reader = reader
        self._calls = calls
        self._intake = intake
        self._callback_url = callback_url

    def join(self, registry: Registry) -> None:
        """Have feeds read when they are due."""
        registry.task(FETCH, concurrency=_AT_ONCE)(self.fetch)
        registry.task(CHECK)(self.check)
        # Where one still waits, another would find the same.
        registry.every(_EVERY, CHECK, unique_key=CHECK)

    async def check(self) -> int:
        """Ask for every feed that is due; how many were."""
        if not await self._database.read(subscriptions.is_due):
            return 0

        def ask(tasks: TaskTransaction) -> int:
            due = subscriptions.take_due(tasks.conn)
            for subscription_id in due:
                tasks.enqueue(fetch_of(subscription_id))
            return len(due)

        return await self._queue.delegate_write(ask)

    async def fetch(self, order: FetchOrder) -> Fetched:
        """Read one feed. What goes wrong is written on the subscription, whose next turn is the next attempt."""
        try:
            subscription = await self._database.read(lambda conn: subscriptions.find(conn, order.subscription_id))
            if subscription.wishes.module_id is None:
                return await self._read(subscription)
            return await self._hand_over(subscription, subscription.wishes.module_id)
        except SubscriptionNotFound as gone:
            raise PermanentError(str(gone)) from None
        except (OutboundError, FeedError) as error:
            await self._note(order.subscription_id, error)
            raise PermanentError(f"{error.code}: {error}") from None

    async def _read(self, subscription: Subscription) -> Fetched:
        wishes, subscription_id = subscription.wishes, subscription.id
        reading = await self._reader.read(
            wishes.url, validators=subscription.validators, allows_private=wishes.allows_private
        )
        feed, outcome = reading.feed, Fetched(changed=False)
        if feed is not None:
            _check_beginning(subscription, feed)
            receipt = await self._intake.receive(
                FetcherResults(
                    subscription_id=subscription_id,
                    items=tuple(_marked(item, subscription.chosen) for item in feed.items),
                    fetcher_source=BUILT_IN,
                )
            )
            outcome = Fetched(items=len(feed.items), new=receipt.items_new, refused=len(feed.refused))
        problem = _problem(feed) if feed is not None else None
        await self._database.write(
            lambda conn: subscriptions.note_reading(conn, subscription, reading.validators, problem)
        )
        return outcome

    async def _hand_over(self, subscription: Subscription, module_id: int) -> Fetched:
        fetcher = await self._database.read(lambda conn: services.find(conn, module_id))
        name = fetcher.registration.service_name
        if not fetcher.is_enabled:
            raise FetcherRefused(f"the fetcher {name!r} is switched off; switch it on, or choose another")
        answer = await self._calls.post(
            fetcher,
            fetcher.registration.capabilities.fetch_endpoint or _FETCH_PATH,
            {
                "subscription_id": subscription.id,
                "rss_url": subscription.wishes.url,
                "callback_url": self._callback_url,
            },
        )
        if not isinstance(answer, dict) or answer.get("accepted") is not True:
            said = answer.get("message") if isinstance(answer, dict) else None
            raise FetcherRefused(f"the fetcher {name!r} did not take the feed: {str(said or 'no reason given')[:500]}")
        return Fetched(changed=False, handed_to=name)

    async def _note(self, subscription_id: int, error: OutboundError | FeedError) -> None:
        await self._intake.receive(
            FetcherResults(
                subscription_id=subscription_id,
                items=(),
                fetcher_source=BUILT_IN,
                success=False,
                error_message=str(error),
                error_code=error.code,
            )
        )
        asked = (error.retry_after or 0.0) if isinstance(error, BadStatus) else 0.0
        await self._database.write(lambda conn: subscriptions.plan_next(conn, subscription_id, asked))


def _marked(item: FetchedItem, chosen: frozenset[str]) -> FetchedItem:
    return replace(item, is_chosen=True) if key_of(item) in chosen else item


def _check_beginning(subscription: Subscription, feed: Feed) -> None:
    """Refuse a first reading that breaks off: what is cut off now would pass for new the next time.

    A feed that always breaks off is taken as it is in the end.
    """
    health, takes_all = subscription.health, subscription.start_with is StartWith.MISSING
    if not (feed.is_whole or takes_all or health.last_success_at) and health.failures < _PATIENCE:
        raise FeedUnreadable(_BREAKS_OFF.format(len(feed.items)) + "; it is asked for again before anything is taken")


def _problem(feed: Feed) -> tuple[str, str] | None:
    """What is wrong with a feed that could be read."""
    if feed.is_whole:
        return None
    return "feed_incomplete", _BREAKS_OFF.format(len(feed.items)) + "; those were taken"
