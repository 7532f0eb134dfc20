"""What a program asks of the indexers: add, change, test, remove, and search them all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from kurabito import logs
from kurabito.db import Database
from kurabito.errors import InvalidInput
from kurabito.http import Limits, Outbound
from kurabito.http.errors import LeadsToMagnet, OutboundError
from kurabito.indexers import store
from kurabito.indexers.addresses import host_of, mirror_of, origin_of, pasted, proxy_of, without_login
from kurabito.indexers.definitions import ShowFeed, SiteDefinition, SiteDefinitions, feed_of_show
from kurabito.indexers.errors import IndexerError, IndexerRefused, IndexerResting, SiteInvalid
from kurabito.indexers.model import DEFAULT_PER_HOUR, AskedQuery, IndexerKind, IndexerSettings, StoredIndexer
from kurabito.indexers.pages import ask_each
from kurabito.indexers.port import Indexer, IndexerItem, SearchQuery
from kurabito.indexers.search_feed import SearchFeed
from kurabito.indexers.torznab import Torznab, TorznabSettings
from kurabito.logs import mask_text
from kurabito.reasons import InputReason, refused

log = logs.get_logger(__name__)

LONGEST_TEXT: Final = 200
_LINK_LIMITS: Final = Limits(max_bytes=10 * 1024 * 1024, attempts=2, patience=5.0)
_TEST: Final = ""
"""The text of a test: indexers answer it with what is newest."""
_TEST_OF_SITES: Final = "1080p"
"""Sites need a text, and every one of them has this in some title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexerOutcome:
    """What one indexer said to a query."""

    indexer: StoredIndexer
    items: tuple[IndexerItem, ...] = ()
    is_whole: bool = True
    error: IndexerError | OutboundError | None = None


class Indexers:
    """The indexers of one database, asked through one way out."""

    def __init__(self, database: Database, outbound: Outbound, sites: SiteDefinitions) -> None:
        self._database = database
        self._outbound = outbound
        self._sites = sites
        self._open: dict[int, tuple[IndexerSettings, Indexer]] = {}

    async def everything(self) -> list[StoredIndexer]:
        """Every indexer, the one to be named first at the front."""
        return await self._database.read(store.everything)

    async def get(self, indexer_id: int) -> StoredIndexer:
        """The indexer; raises IndexerNotFound."""
        return await self._database.read(lambda conn: store.find(conn, indexer_id))

    async def sites(self) -> tuple[dict[str, SiteDefinition], dict[str, str]]:
        """The sites that can be switched on, and what is wrong with files that describe none."""
        return await asyncio.to_thread(self._sites.everything)

    async def add(self, settings: IndexerSettings) -> StoredIndexer:
        """Add an indexer; its URL may be pasted with the key in it. Raises InvalidInput or IndexerConflict."""
        checked = await asyncio.to_thread(self._checked, settings)
        return await self._database.write(lambda conn: store.add(conn, checked))

    async def change(self, indexer_id: int, changes: Mapping[str, Any]) -> StoredIndexer:
        """Change how an indexer is asked; fields of `IndexerSettings`, and what is not named stays.

        A key belongs to its host, and so does the permission to be private: another host has to be given both again.
        """
        old = (await self.get(indexer_id)).settings
        new = dict(changes)
        if new.get("proxy"):
            # A proxy is shown without its login; one that comes back as it was shown stays.
            kept = old.proxy is not None and new["proxy"] == without_login(old.proxy)
            new["proxy"] = old.proxy if kept else proxy_of(new["proxy"])
        if "url" in new:
            checked = await asyncio.to_thread(self._checked, replace(old, url=new["url"], api_key=None))
            new["url"] = checked.url
            if checked.api_key:
                new["api_key"] = checked.api_key
            if _place(checked.url) != _place(old.url):
                new = {"api_key": None, "allows_private": False} | new
        return await self._database.write(lambda conn: store.change(conn, indexer_id, new))

    async def remove(self, indexer_id: int) -> None:
        """Forget an indexer; raises IndexerNotFound."""
        await self._database.write(lambda conn: store.remove(conn, indexer_id))
        self._open.pop(indexer_id, None)

    async def queries(self, indexer_id: int) -> list[AskedQuery]:
        """Its last queries, the newest first; raises IndexerNotFound."""
        await self.get(indexer_id)
        return await self._database.read(lambda conn: store.queries(conn, indexer_id))

    async def test(self, indexer_id: int) -> IndexerOutcome:
        """Ask an indexer for anything, also one that rests; raises IndexerNotFound."""
        indexer = await self.get(indexer_id)
        self._open.pop(indexer_id, None)
        text = _TEST if indexer.settings.kind is IndexerKind.TORZNAB else _TEST_OF_SITES
        outcome = await self._ask(indexer, SearchQuery(text=text), by_hand=True)
        return replace(outcome, indexer=await self.get(indexer_id))

    async def search(self, query: SearchQuery) -> AsyncIterator[IndexerOutcome]:
        """Ask every indexer that is on, at once; each outcome as soon as it is there."""
        enabled = [one for one in await self.everything() if one.settings.is_enabled]
        asked = [asyncio.create_task(self._ask(one, query)) for one in enabled]
        try:
            for outcome in asyncio.as_completed(asked):
                yield await outcome
        finally:
            # A reader that leaves needs no answers.
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    async def feed_of(self, indexer_id: int, text: str, mikan_id: int | None) -> ShowFeed | None:
        """The feed that brings what a text finds at a site; None for Torznab, whose feeds have a key in them."""
        settings = (await self.get(indexer_id)).settings
        if settings.kind is not IndexerKind.SITE:
            return None
        site = await asyncio.to_thread(self._sites.find, settings.site or "")
        feed = feed_of_show(site, text, mikan_id, settings.url)
        # A site that its keeper described with a passkey is not written into a subscription, which is shown.
        return feed if feed is not None and mask_text(feed.url) == feed.url else None

    async def fetch_link(self, indexer_id: int | None, url: str) -> str | bytes:
        """What the link of a result leads to: a magnet link, or the bytes of a torrent file; raises OutboundError,
        or IndexerResting at its limit.

        A link on the indexer's own host is trusted as far as that host is. None is for a link that its keeper pasted.
        """
        trusted: tuple[str, ...] = ()
        way = self._outbound
        if indexer_id is not None:
            settings = (await self.get(indexer_id)).settings
            host = host_of(url)
            # Another port of the same machine is another program.
            is_own = settings.url is not None and origin_of(settings.url) == origin_of(url)
            trusted, way = ((host,) if is_own and settings.allows_private else ()), self._way(settings)
            await self._admit(indexer_id)
        try:
            return (await way.get(url, trusted=trusted, limits=_LINK_LIMITS)).content
        except LeadsToMagnet as found:
            return found.magnet

    async def _ask(self, indexer: StoredIndexer, query: SearchQuery, *, by_hand: bool = False) -> IndexerOutcome:
        own = indexer.id
        try:
            adapter = await asyncio.to_thread(self._adapter, indexer)
            query_id = await self._database.write(lambda conn: store.begin(conn, own, query.text, by_hand=by_hand))
        except (IndexerResting, SiteInvalid) as error:
            return IndexerOutcome(indexer=indexer, error=error)
        try:
            reply = await ask_each(adapter.search, query.each())
        except IndexerResting as error:
            code = error.code
            await self._database.write(lambda conn: store.note_limit(conn, query_id, code))
            return IndexerOutcome(indexer=indexer, error=error)
        except (IndexerError, OutboundError) as error:
            code, message = error.code, mask_text(str(error))
            asked_wait = error.retry_after if isinstance(error, IndexerRefused) else None
            log.info("indexer failed", indexer=own, problem=code)
            await self._database.write(lambda conn: store.note_failure(conn, own, query_id, code, message, asked_wait))
            return IndexerOutcome(indexer=indexer, error=error)
        found = len(reply.items)
        await self._database.write(lambda conn: store.note_success(conn, own, query_id, found))
        return IndexerOutcome(indexer=indexer, items=reply.items, is_whole=reply.is_whole)

    def _adapter(self, indexer: StoredIndexer) -> Indexer:
        """The adapter; kept while the settings stay, because it knows what its indexer can do."""
        settings = indexer.settings
        known = self._open.get(indexer.id)
        if known is not None and known[0] == settings:
            return known[1]
        admit = partial(self._admit, indexer.id)
        if settings.kind is IndexerKind.SITE:
            site = self._sites.find(settings.site or "")
            # Its file may change, so it is read for every query.
            return SearchFeed(
                self._way(settings), site, admit, mirror=settings.url, allows_private=settings.allows_private
            )
        adapter = Torznab(
            self._way(settings),
            TorznabSettings(
                url=settings.url or "",
                api_key=settings.api_key,
                categories=settings.categories,
                allows_private=settings.allows_private,
            ),
            admit,
        )
        self._open[indexer.id] = settings, adapter
        return adapter

    async def _admit(self, indexer_id: int) -> None:
        await self._database.write(lambda conn: store.admit(conn, indexer_id))

    def _way(self, settings: IndexerSettings) -> Outbound:
        return self._outbound if settings.proxy is None else self._outbound.through(settings.proxy)

    def _checked(self, settings: IndexerSettings) -> IndexerSettings:
        if settings.proxy:
            settings = replace(settings, proxy=proxy_of(settings.proxy))
        if settings.kind is IndexerKind.SITE:
            try:
                site = self._sites.find(settings.site or "")
            except SiteInvalid as error:
                raise InvalidInput("site", str(error), refused(InputReason.CHOICE)) from None
            per_hour = site.per_hour if settings.per_hour == DEFAULT_PER_HOUR else settings.per_hour
            mirror = mirror_of(settings.url) if settings.url else None
            name = settings.name or site.name
            return replace(settings, name=name, site=site.key, url=mirror, api_key=None, per_hour=per_hour)
        address = pasted(settings.url or "")
        return replace(settings, url=address.url, site=None, api_key=settings.api_key or address.api_key)


def failing(indexers: Sequence[StoredIndexer], least: int = 3) -> list[StoredIndexer]:
    """Those that are on and failed so often in a row that a person should hear of it."""
    return [one for one in indexers if one.settings.is_enabled and one.status.failures >= least]


def _place(url: str | None) -> str | None:
    return None if url is None else url.partition("://")[2].partition("/")[0].lower()
