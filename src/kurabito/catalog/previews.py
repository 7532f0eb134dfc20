"""What a feed would give, before it is followed: each item as it would be understood, and why it would not be taken."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from kurabito.catalog import rules, series
from kurabito.catalog.linking import held_by
from kurabito.catalog.releases import Release, read_release
from kurabito.catalog.series import Series
from kurabito.catalog.series_match import match
from kurabito.catalog.states import HeldReason, SeriesState
from kurabito.db import Connection, Database
from kurabito.feeds.fetching import FeedReader
from kurabito.feeds.parsing import Feed
from kurabito.feeds.raw_items import RawReason, clean
from kurabito.feeds.results import FetchedItem
from kurabito.feeds.tasks import key_of
from kurabito.titles import TitleRule


@dataclass(frozen=True, slots=True)
class PreviewedItem:
    """An item of a feed that nobody asked for yet."""

    key: str
    """What to choose it by."""
    item: FetchedItem
    release: Release | None
    """What it says it is; None when that cannot be told."""
    reason: RawReason | HeldReason | None
    """Why it would not be downloaded by itself."""
    series: Series | None = None
    """The series that it would go to; None when it would be a new one, or when nobody looked."""


class Previews:
    """Looks into feeds, and stores nothing. Without a database no rule and no series is known."""

    def __init__(self, reader: FeedReader, database: Database | None = None) -> None:
        self._reader = reader
        self._database = database

    async def look(self, url: str, *, allows_private: bool = False) -> tuple[Feed, list[PreviewedItem]]:
        """What the feed gives now, by the user's own title rules and series; raises OutboundError or FeedUnreadable."""
        feed = (await self._reader.read(url, allows_private=allows_private)).feed
        assert feed is not None, "it was not asked whether it changed"
        if self._database is None:
            return feed, await asyncio.to_thread(_offers, feed, ())
        title_rules = await self._database.read(rules.followed)
        found = await asyncio.to_thread(_offers, feed, title_rules)
        return feed, await self._database.read(lambda conn: _matched(conn, found))


def _offers(feed: Feed, title_rules: Sequence[TitleRule]) -> list[PreviewedItem]:
    """The items of a feed, as they would be understood."""
    return [_offer(item, title_rules) for item in feed.items]


def _offer(item: FetchedItem, title_rules: Sequence[TitleRule]) -> PreviewedItem:
    cleaned = clean(item)
    if cleaned.problem is not None or cleaned.download_url is None:
        return PreviewedItem(key_of(item), item, None, cleaned.problem)
    read = read_release(
        cleaned.title,
        cleaned.download_url,
        info_hash=cleaned.info_hash,
        size_bytes=cleaned.size_bytes,
        rules=title_rules,
    )
    if isinstance(read, RawReason):
        return PreviewedItem(key_of(item), item, None, read)
    return PreviewedItem(key_of(item), item, read, held_by(read, SeriesState.FOLLOWED))


def _matched(conn: Connection, found: Sequence[PreviewedItem]) -> list[PreviewedItem]:
    """The offers with the series that they would go to, and what holds those back."""
    homes = iter(match(conn, [offer.release for offer in found if offer.release is not None]))
    known = cache(partial(series.find, conn))

    def placed(offer: PreviewedItem) -> PreviewedItem:
        if offer.release is None or (home := next(homes)) is None:
            return offer
        return replace(offer, series=known(home.series_id), reason=held_by(offer.release, home.state))

    return [placed(offer) for offer in found]
