"""Takes in what fetchers bring: items are stored, their titles read, and links made of them.

A batch is one transaction, so a crash loses it whole, and the sender's next try finds nothing half done. Titles are read before
it begins: what takes long does not keep the one writer busy.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from kurabito import logs
from kurabito.catalog import rules
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linking import NewLinks, link, lock_catalog
from kurabito.catalog.releases import Release, read_release
from kurabito.catalog.series_match import SeriesCandidate
from kurabito.db import Connection, Database
from kurabito.feeds import raw_items, subscription_state
from kurabito.feeds.raw_items import CleanItem, RawItem, RawReason, RawStatus
from kurabito.feeds.results import FetcherResults, Receipt
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.titles import TitleRule

log = logs.get_logger(__name__)

_AT_ONCE: Final = 500

_Understanding = Mapping[str, Release | RawReason]


class CatalogIntake:
    """The one way from a feed into the catalog."""

    def __init__(self, database: Database, dispatch: LinkSink | None = None) -> None:
        self._database = database
        self._dispatch = dispatch

    async def receive(self, results: FetcherResults) -> Receipt:
        """Store what a fetcher brought; see the port `Intake`."""
        return await self.receive_raw_fetcher_results(results)

    async def receive_raw_fetcher_results(self, results: FetcherResults) -> Receipt:
        """Store the items, read their titles, make links with their download type, and hand the new ones to dispatch."""
        cleaned = await asyncio.to_thread(lambda: [raw_items.clean(item) for item in results.items])
        items = list({item.identity: item for item in reversed(cleaned)}.values())[::-1]

        def look(conn: Connection) -> tuple[dict[str, RawStatus], list[TitleRule]]:
            subscription_state.followed(conn, results.subscription_id)
            return raw_items.known(conn, results.subscription_id, items), rules.followed(conn)

        known, title_rules = await self._database.read(look)
        new = [item for item in items if item.identity not in known]
        read = await asyncio.to_thread(_read_items, new, title_rules)
        statuses, made, added = await self._database.write(lambda conn: self._store(conn, results, items, new, read))
        counts = Counter(statuses[item.identity] for item in cleaned)
        log.info(
            "results taken in",
            subscription=results.subscription_id,
            items=len(cleaned),
            new=added,
            failed=counts[RawStatus.FAILED],
            links=made.made,
        )
        return Receipt(
            items_received=len(cleaned),
            items_parsed=counts[RawStatus.PARSED],
            items_failed=counts[RawStatus.FAILED],
            items_skipped=counts[RawStatus.SKIPPED],
            items_new=added,
            links_new=made.made,
        )

    async def read_again(self) -> int:
        """Read the items that could not be read once more, by the rules there are now; how many it helped."""
        understood, before = 0, BIGGEST_ID
        while True:
            page, title_rules = await self._database.read(partial(_failed_before, before=before))
            if not page:
                return understood
            before = page[-1].id
            read = await asyncio.to_thread(_read_failed, page, title_rules)
            if read:
                understood += await self._database.write(partial(self._understand, read=read))

    def _store(
        self,
        conn: Connection,
        results: FetcherResults,
        items: Sequence[CleanItem],
        new: Sequence[CleanItem],
        read: _Understanding,
    ) -> tuple[dict[str, RawStatus], NewLinks, int]:
        lock_catalog(conn)
        followed = subscription_state.followed(conn, results.subscription_id)
        rows = [_row(item, read[item.identity], passed_over=followed.passes_over(item)) for item in new]
        source = raw_items.clean_text(results.fetcher_source) or None
        added = raw_items.add(conn, followed.id, source, rows) if rows else {}
        made = self._link(
            conn,
            [
                SeriesCandidate(added[row["identity"]], followed, release)
                for row in rows
                if row["status"] is RawStatus.PARSED
                and row["identity"] in added
                # The type checker cannot see that a parsed row has a release.
                and isinstance(release := read[row["identity"]], Release)
            ],
        )
        subscription_state.note(conn, results)
        return raw_items.known(conn, followed.id, items), made, len(added)

    def _understand(self, conn: Connection, read: Sequence[tuple[RawItem, Release]]) -> int:
        lock_catalog(conn)
        subscriptions = {item.subscription_id for item, _ in read}
        followed = {one: subscription_state.followed(conn, one) for one in subscriptions}
        candidates = [
            SeriesCandidate(item.id, followed[item.subscription_id], release)
            for item, release in read
            if raw_items.understand(conn, item.id, release.identity.release_key)
        ]
        self._link(conn, candidates)
        return len(candidates)

    def _link(self, conn: Connection, candidates: Sequence[SeriesCandidate]) -> NewLinks:
        made = link(conn, candidates)
        if self._dispatch is not None and made.free:
            self._dispatch.take(conn, made.free)
        return made


def _read_items(items: Sequence[CleanItem], title_rules: Sequence[TitleRule]) -> _Understanding:
    return {item.identity: _read_item(item, title_rules) for item in items}


def _read_item(item: CleanItem, title_rules: Sequence[TitleRule]) -> Release | RawReason:
    if item.problem is not None:
        return item.problem
    assert item.download_url is not None
    return _read(item, item.download_url, title_rules)


def _row(item: CleanItem, read: Release | RawReason, *, passed_over: bool) -> dict[str, Any]:
    row = {
        "identity": item.identity,
        "title": item.title,
        "description": item.description,
        "download_url": item.download_url,
        "pub_date": item.pub_date,
        "size_bytes": item.size_bytes,
        "info_hash": item.info_hash,
        "status": RawStatus.PARSED,
        "reason": None,
        "release_key": None,
    }
    if passed_over:
        return {**row, "status": RawStatus.SKIPPED, "reason": RawReason.BEFORE_START}
    if isinstance(read, RawReason):
        return {**row, "status": RawStatus.FAILED, "reason": read}
    return {**row, "release_key": read.identity.release_key}


def _failed_before(conn: Connection, before: int) -> tuple[list[RawItem], list[TitleRule]]:
    page = raw_items.page(conn, before=before, limit=_AT_ONCE, status=RawStatus.FAILED)
    return page, rules.followed(conn)


def _read_failed(page: Sequence[RawItem], title_rules: Sequence[TitleRule]) -> list[tuple[RawItem, Release]]:
    read = []
    for item in page:
        if item.reason is RawReason.NO_TITLE and item.download_url is not None:
            release = _read(item, item.download_url, title_rules)
            if isinstance(release, Release):
                read.append((item, release))
    return read


def _read(item: CleanItem | RawItem, url: str, title_rules: Sequence[TitleRule]) -> Release | RawReason:
    return read_release(item.title, url, info_hash=item.info_hash, size_bytes=item.size_bytes, rules=title_rules)
