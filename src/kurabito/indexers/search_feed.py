"""A site whose search is a feed, as an indexer."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Final

from kurabito.feeds.errors import FeedUnreadable
from kurabito.feeds.parser import Feed, parse_feed
from kurabito.http import Limits, Outbound, Reply
from kurabito.http.errors import BadStatus
from kurabito.indexers.addresses import host_of
from kurabito.indexers.definitions import SiteDefinition
from kurabito.indexers.errors import IndexerLimited, IndexerUnreadable
from kurabito.indexers.pages import ask_each, collect
from kurabito.indexers.port import MOST_PAGES, Admit, IndexerCaps, IndexerReply, SearchQuery, admit_all
from kurabito.indexers.results import read_result

# A site that wants to rest is not waited for here: its indexer rests.
_LIMITS: Final = Limits(attempts=1, patience=0.0)
# One site answers a search that finds nothing with the end of a feed that never began.
_NOTHING: Final = re.compile(rb"\s*(?:</channel>\s*)?</rss>\s*")
_TOO_MANY: Final = 429


class SearchFeed:
    """Asks one site, at its own address or at a mirror."""

    def __init__(
        self,
        outbound: Outbound,
        site: SiteDefinition,
        admit: Admit = admit_all,
        *,
        mirror: str | None = None,
        allows_private: bool = False,
    ) -> None:
        self._outbound = outbound
        self._site = site
        self._admit = admit
        self._mirror = mirror
        self._allows_private = allows_private

    async def caps(self) -> IndexerCaps:
        """What its description says; the site is not asked."""
        return IndexerCaps(title=self._site.name, page_size=self._site.page_size)

    async def search(self, query: SearchQuery) -> IndexerReply:
        """What it has, in every form in which the site's titles name an episode."""
        site = self._site

        async def ask(text: str) -> IndexerReply:
            async def page_of(number: int) -> Feed:
                url = site.address(text, number, self._mirror)
                return Feed(None, ()) if url is None else await self._page(url)

            return await collect(page_of, site.page_size, MOST_PAGES if site.has_pages else 1)

        return await ask_each(ask, site.texts(query))

    async def _page(self, url: str) -> Feed:
        host = host_of(url)
        self._outbound.pace(host, self._site.interval)
        trusted = [host] if self._allows_private else ()
        await self._admit()
        try:
            reply = await self._outbound.get(url, trusted=trusted, limits=_LIMITS, may_break=True)
        except BadStatus as error:
            if error.answered == _TOO_MANY:
                message = f"{self._site.name} was asked too often; it rests for a while"
                raise IndexerLimited(message, _TOO_MANY, error.retry_after) from None
            raise
        return await asyncio.to_thread(self._read, reply)

    def _read(self, reply: Reply) -> Feed:
        if _NOTHING.fullmatch(reply.content):
            return Feed(None, ())
        read = partial(read_result, places=self._site.places)
        try:
            return parse_feed(reply.content, reply.url, reply.headers.get("content-type", ""), read=read)
        except FeedUnreadable as error:
            raise IndexerUnreadable(f"the answer of {self._site.name} cannot be read: {error}") from None
