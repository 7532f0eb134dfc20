"""What a feed would give, before it is followed: each item as it would be understood, and why it would not be taken."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from kurabito.catalog import rules, series
from kurabito.catalog.identity.resolution import foresee
from kurabito.catalog.linker import held_by
from kurabito.catalog.releases import Release, read_release
from kurabito.catalog.series import Series
from kurabito.catalog.states import HeldReason, SeriesState
from kurabito.db import Connection, Database
from kurabito.feeds.fetcher import FeedReader
from kurabito.feeds.parser import Feed
from kurabito.feeds.raw_items import RawReason, clean
from kurabito.feeds.results import FeedItem
from kurabito.titles import TitleRule


@dataclass(frozen=True, slots=True)
class PreviewedItem:
    """An item of a feed, and what would be decided about it."""

    item: FeedItem
    release: Release | None
    """The release that it is; None where its title cannot be read."""
    reason: RawReason | HeldReason | None
    """Why it would not be downloaded automatically."""
    series: Series | None = None
    """The series that it would go to; None for a new one, and where no database was asked."""

    @property
    def key(self) -> str:
        """What a keeper picks it by."""
        return self.item.key


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
            return feed, await asyncio.to_thread(_previewed, feed, ())
        title_rules = await self._database.read(rules.enabled)
        found = await asyncio.to_thread(_previewed, feed, title_rules)
        return feed, await self._database.read(lambda conn: _matched(conn, found))


def _previewed(feed: Feed, title_rules: Sequence[TitleRule]) -> list[PreviewedItem]:
    """The items of a feed as they would be read."""
    return [_preview(item, title_rules) for item in feed.items]


def _preview(item: FeedItem, title_rules: Sequence[TitleRule]) -> PreviewedItem:
    read = read_release(clean(item), title_rules)
    if isinstance(read, RawReason):
        return PreviewedItem(item, None, read)
    return PreviewedItem(item, read, held_by(read, SeriesState.FOLLOWED))


def _matched(conn: Connection, found: Sequence[PreviewedItem]) -> list[PreviewedItem]:
    """The items with the series that they would go to, and the reason why that one holds them back."""
    likely = iter(foresee(conn, [one.release for one in found if one.release is not None]))
    known = cache(partial(series.find, conn))

    def matched(one: PreviewedItem) -> PreviewedItem:
        if one.release is None:
            return one
        own = next(likely)
        reason = HeldReason.IN_DOUBT if own.is_in_doubt else one.reason
        if own.series_id is None or own.state is None:
            return replace(one, reason=reason)
        held = reason if own.is_in_doubt else held_by(own.read(one.release), own.state)
        return replace(one, series=known(own.series_id), reason=held)

    return [matched(one) for one in found]
