"""The tasks that read feeds.

    every minute ─► feeds.check ─► one feeds.fetch for each feed that is due ─► Intake

A check schedules a feed's next fetch and enqueues this one in one transaction, so none is lost or enqueued twice. Items are
stored before the version of the feed that they came from: after a crash in between the feed is read again, and storing its
items again changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kurabito.feeds import subscription_store
from kurabito.feeds.errors import FeedError, FeedUnreadable, FetcherRefused, SubscriptionNotFound
from kurabito.feeds.fetcher import FeedReader
from kurabito.feeds.parser import Feed
from kurabito.feeds.results import FetcherResults, Intake
from kurabito.feeds.subscriptions import StartWith, Subscription
from kurabito.http.errors import BadStatus, OutboundError
from kurabito.modules import services
from kurabito.modules.service_client import ServiceCalls
from kurabito.runtime import Priority, Registry
from kurabito.runtime.delegation import DelegatedTasks, TaskTransaction
from kurabito.runtime.errors import PermanentError
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
class FetchTask:
    """Which feed to read."""

    subscription_id: int
    by_hand: bool = False
    """A user asked for it: its failure says nothing about how often to ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """What came of a task."""

    changed: bool = True
    items: int = 0
    new: int = 0
    refused: int = 0
    handed_to: str | None = None
    """The fetcher that reads it and will send what it finds."""


def fetch_of(subscription_id: int, priority: Priority = Priority.NORMAL, *, by_hand: bool = False) -> PreparedTask:
    """The task that reads one feed."""
    task = FetchTask(subscription_id, by_hand)
    return prepare(FETCH, task, priority=priority, unique_key=fetch_key(subscription_id))


def fetch_key(subscription_id: int) -> str:
    """What two requests to read the same feed have in common."""
    return f"{FETCH}:{subscription_id}"


class FeedTasks:
    """Runs them. `callback_url` is where a fetcher that is a service of its own sends what it found."""

    def __init__(
        self, queue: DelegatedTasks, reader: FeedReader, calls: ServiceCalls, intake: Intake, *, callback_url: str
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
        if not await self._database.read(subscription_store.is_due):
            return 0

        def ask(tasks: TaskTransaction) -> int:
            due = subscription_store.claim_due(tasks.conn)
            for subscription_id in due:
                tasks.enqueue(fetch_of(subscription_id))
            return len(due)

        return await self._queue.delegate_write(ask)

    async def fetch(self, task: FetchTask) -> FetchResult:
        """Read one feed. What goes wrong is written on the subscription, whose next fetch is the next attempt."""
        try:
            subscription = await self._database.read(lambda conn: subscription_store.find(conn, task.subscription_id))
            if subscription.settings.module_id is None:
                return await self._read(subscription)
            return await self._hand_over(subscription, subscription.settings.module_id)
        except SubscriptionNotFound as gone:
            raise PermanentError(str(gone)) from None
        except (OutboundError, FeedError) as error:
            await self._note(task, error)
            raise PermanentError(f"{error.code}: {error}") from None

    async def _read(self, subscription: Subscription) -> FetchResult:
        settings, subscription_id = subscription.settings, subscription.id
        reading = await self._reader.read(
            settings.url, validators=subscription.validators, allows_private=settings.allows_private
        )
        feed, outcome = reading.feed, FetchResult(changed=False)
        if feed is not None:
            _check_beginning(subscription, feed)
            receipt = await self._intake.receive(
                FetcherResults(
                    subscription_id=subscription_id,
                    items=feed.items,
                    fetcher_source=BUILT_IN,
                    chosen=subscription.chosen,
                )
            )
            outcome = FetchResult(items=len(feed.items), new=receipt.items_new, refused=len(feed.refused))
        problem = _problem(feed) if feed is not None else None
        await self._database.write(
            lambda conn: subscription_store.record_reading(conn, subscription, reading.validators, problem)
        )
        return outcome

    async def _hand_over(self, subscription: Subscription, module_id: int) -> FetchResult:
        fetcher = await self._database.read(lambda conn: services.find(conn, module_id))
        name = fetcher.registration.service_name
        if not fetcher.is_enabled:
            raise FetcherRefused(f"the fetcher {name!r} is switched off; switch it on, or choose another")
        answer = await self._calls.post(
            fetcher,
            fetcher.registration.capabilities.fetch_endpoint or _FETCH_PATH,
            {
                "subscription_id": subscription.id,
                "rss_url": subscription.settings.url,
                "callback_url": self._callback_url,
            },
        )
        if not isinstance(answer, dict) or answer.get("accepted") is not True:
            reason = answer.get("message") if isinstance(answer, dict) else None
            raise FetcherRefused(
                f"the fetcher {name!r} did not take the feed: {str(reason or 'no reason given')[:500]}"
            )
        return FetchResult(changed=False, handed_to=name)

    async def _note(self, task: FetchTask, error: OutboundError | FeedError) -> None:
        await self._intake.receive(
            FetcherResults(
                subscription_id=task.subscription_id,
                items=(),
                fetcher_source=BUILT_IN,
                success=False,
                error_message=str(error),
                error_code=error.code,
                by_hand=task.by_hand,
            )
        )
        asked = (error.retry_after or 0.0) if isinstance(error, BadStatus) else 0.0
        schedule = subscription_store.postpone if task.by_hand else subscription_store.schedule_next
        await self._database.write(lambda conn: schedule(conn, task.subscription_id, asked))


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
