"""What the buttons of *Home* do themselves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from kurabito.app.product import Product
from kurabito.attention import ActionId
from kurabito.clock import Clock, SystemClock
from kurabito.downloads.tasks import POLL
from kurabito.library.scans.queue import TaskPriority
from kurabito.modules.identities import RESERVED
from kurabito.modules.services import ServiceType, named
from kurabito.web.home.remedies import Fix

_BUILT_IN_EVERY: Final = 1.0
_OTHERS_EVERY: Final = 5.0


def open_fixes(product: Product) -> Mapping[ActionId, Fix]:
    """What helps without another page, by the action that names it."""
    metadata, subscriptions = product.metadata, product.feeds.subscriptions

    async def allow_host(feed: int) -> None:
        await subscriptions.change(feed, {"allows_private": True})
        await subscriptions.fetch_now(feed)

    return {
        ActionId.ASK_DOWNLOADERS: lambda _: product.queue.enqueue(POLL, unique_key=POLL),
        ActionId.FETCH_FEED: _with_id(subscriptions.fetch_now),
        ActionId.ALLOW_HOST: _with_id(allow_host),
        ActionId.RETRY_DOWNLOADS: lambda _: product.downloads.downloads.retry_failed(),
        ActionId.RETRY_FILING: lambda _: product.placements.retry_failed(),
        ActionId.SCAN_LIBRARY: _with_id(lambda library: product.library.scans.submit_task(library, TaskPriority.HIGH)),
        ActionId.TEST_INDEXER: _with_id(product.feeds.indexers.test),
        ActionId.SYNC_METADATA: lambda _: metadata.actor.handle.trigger_sync(),
        ActionId.FETCH_INDEX: lambda _: metadata.index.begin_update(),
        ActionId.TEST_DESTINATION: _with_id(product.notifications.test),
    }


class PollOnSight:
    """Asks downloaders while a page of downloads is open: the built-in one every second, the others every five."""

    def __init__(self, product: Product, clock: Clock | None = None) -> None:
        self._product = product
        self._clock = clock or SystemClock()
        self._polled = {_BUILT_IN_EVERY: -_BUILT_IN_EVERY, _OTHERS_EVERY: -_OTHERS_EVERY}

    async def look(self) -> None:
        """Ask, unless that was done a moment ago."""
        if self._is_due(_OTHERS_EVERY):
            await self._product.queue.enqueue(POLL, unique_key=POLL)
        if self._is_due(_BUILT_IN_EVERY):
            found = await self._product.database.read(lambda conn: named(conn, ServiceType.DOWNLOADER, RESERVED))
            if found is not None and found.is_enabled:
                await self._product.downloads.scheduler.poll_one(found)

    def _is_due(self, interval: float) -> bool:
        now = self._clock.monotonic()
        if now - self._polled[interval] < interval:
            return False
        self._polled[interval] = now
        return True


def _with_id(act: Callable[[int], Awaitable[object]]) -> Fix:
    async def run(target: int | str | None) -> object:
        return await act(int(target or 0))

    return run
