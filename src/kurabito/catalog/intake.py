"""Takes in what fetchers bring: items are stored, their titles read, and links made of them.

A batch is one transaction, so a crash loses it whole, and the sender's next try finds nothing half done. Titles are read before
it begins: what takes long does not keep the one writer busy.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from kurabito import logs
from kurabito.catalog import rules
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linker import NewLinks, link, lock_catalog
from kurabito.catalog.releases import Release, read_release
from kurabito.db import Connection, Database
from kurabito.feeds import raw_items, subscription_store
from kurabito.feeds.raw_items import RawItem, RawReason, RawStatus
from kurabito.feeds.results import FeedItem, FetcherResults, Receipt
from kurabito.feeds.subscriptions import Subscription
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.titles import TitleRule

log = logs.get_logger(__name__)

_AT_ONCE: Final = 500


class CatalogIntake:
    """The one way from a feed into the catalog."""

    def __init__(self, database: Database, sink: LinkSink | None = None) -> None:
        self._database = database
        self._sink = sink

    async def receive(self, results: FetcherResults) -> Receipt:
        """Store what a fetcher brought; see the port `Intake`."""
        return await self.receive_raw_fetcher_results(results)

    async def receive_raw_fetcher_results(self, results: FetcherResults) -> Receipt:
        """Store the items, read their titles, make links with their download type, and hand the new ones to dispatch."""
        items = await asyncio.to_thread(_CleanItems, results)

        def known(conn: Connection) -> tuple[dict[str, RawStatus], list[TitleRule]]:
            subscription_store.find(conn, results.subscription_id)
            return raw_items.known(conn, results.subscription_id, items.by_identity), rules.enabled(conn)

        before, title_rules = await self._database.read(known)
        new = {identity: item for identity, item in items.by_identity.items() if identity not in before}
        read = await asyncio.to_thread(_read_items, new, title_rules)
        statuses, made, added = await self._database.write(lambda conn: self._store(conn, results, items, read))
        counts = Counter(statuses[identity] for identity in items.identities)
        log.info(
            "results taken in",
            subscription=results.subscription_id,
            items=len(results.items),
            new=added,
            failed=counts[RawStatus.FAILED],
            links=made.made,
        )
        return Receipt(
            items_received=len(results.items),
            items_parsed=counts[RawStatus.PARSED],
            items_failed=counts[RawStatus.FAILED],
            items_skipped=counts[RawStatus.SKIPPED],
            items_new=added,
            links_new=made.made,
        )

    async def read_again(self) -> int:
        """Read the items that could not be read again, by the rules that are on now; how many it helped."""
        helped, before = 0, BIGGEST_ID
        while True:
            page, title_rules = await self._database.read(partial(_failed_before, before=before))
            if not page:
                return helped
            before = page[-1].id
            read = await asyncio.to_thread(_read_failed, page, title_rules)
            if read:
                helped += await self._database.write(partial(self._store_read_again, read=read))

    def _store(
        self, conn: Connection, results: FetcherResults, items: _CleanItems, read: Mapping[str, Release | RawReason]
    ) -> tuple[dict[str, RawStatus], NewLinks, int]:
        lock_catalog(conn)
        subscription = subscription_store.find(conn, results.subscription_id)
        rows, releases = [], {}
        for identity, found in read.items():
            item = items.by_identity[identity]
            if subscription.skips(item.pub_date, is_chosen=identity in items.chosen):
                rows.append(raw_items.new_row(item, RawStatus.SKIPPED, RawReason.BEFORE_START, None))
            elif isinstance(found, RawReason):
                rows.append(raw_items.new_row(item, RawStatus.FAILED, found, None))
            else:
                rows.append(raw_items.new_row(item, RawStatus.PARSED, None, found.identity.release_key))
                releases[identity] = found
        added = raw_items.add(conn, subscription.id, results.fetcher_source, rows) if rows else {}
        # Two fetchers may bring the same item at once: only the one that added it makes its links.
        own = {added[identity]: release for identity, release in releases.items() if identity in added}
        made = self._link(conn, own, dict.fromkeys(own, subscription))
        subscription_store.record_results(conn, results)
        return raw_items.known(conn, subscription.id, items.by_identity), made, len(added)

    def _store_read_again(self, conn: Connection, read: Mapping[RawItem, Release]) -> int:
        lock_catalog(conn)
        subscriptions = {one: subscription_store.find(conn, one) for one in {item.subscription_id for item in read}}
        parsed = {
            item: release
            for item, release in read.items()
            if raw_items.mark_parsed(conn, item.id, release.identity.release_key)
        }
        origins = {item.id: subscriptions[item.subscription_id] for item in parsed}
        self._link(conn, {item.id: release for item, release in parsed.items()}, origins)
        return len(parsed)

    def _link(self, conn: Connection, releases: Mapping[int, Release], origins: Mapping[int, Subscription]) -> NewLinks:
        made = link(conn, releases, origins)
        if self._sink is not None and made.free:
            self._sink.accept(conn, made.free)
        return made


class _CleanItems:
    """The items of some results, cleaned, each identity once."""

    def __init__(self, results: FetcherResults) -> None:
        cleaned = [raw_items.clean(item) for item in results.items]
        self.identities = [raw_items.identity_of(item) for item in cleaned]
        """Of every item, in their order."""
        self.by_identity: dict[str, FeedItem] = {}
        for identity, item in zip(self.identities, cleaned, strict=True):
            self.by_identity.setdefault(identity, item)
        self.chosen: set[str] = set()
        if results.chosen:
            pairs = zip(self.identities, results.items, strict=True)
            self.chosen = {identity for identity, item in pairs if item.key in results.chosen}


def _read_items(items: Mapping[str, FeedItem], title_rules: Sequence[TitleRule]) -> dict[str, Release | RawReason]:
    return {identity: read_release(item, title_rules) for identity, item in items.items()}


def _failed_before(conn: Connection, before: int) -> tuple[list[RawItem], list[TitleRule]]:
    page = raw_items.page(conn, before=before, limit=_AT_ONCE, status=RawStatus.FAILED)
    return page, rules.enabled(conn)


def _read_failed(page: Sequence[RawItem], title_rules: Sequence[TitleRule]) -> dict[RawItem, Release]:
    read = {item: read_release(item, title_rules) for item in page if item.reason is RawReason.NO_TITLE}
    return {item: release for item, release in read.items() if isinstance(release, Release)}
