"""Torznab: the interface of Prowlarr, Jackett and some sites."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from kurabito.feeds.errors import ErrorDocument, FeedUnreadable
from kurabito.feeds.parser import Feed, parse_feed
from kurabito.http import Limits, Outbound, Reply
from kurabito.http.errors import BadStatus
from kurabito.indexers.addresses import host_of
from kurabito.indexers.capabilities import read_caps
from kurabito.indexers.errors import IndexerKeyRefused, IndexerLimited, IndexerRefused, IndexerUnreadable
from kurabito.indexers.pages import ask_each, collect
from kurabito.indexers.port import (
    MOST_PAGES,
    Admit,
    IndexerCaps,
    IndexerItem,
    IndexerReply,
    SearchKind,
    SearchQuery,
    admit_all,
)
from kurabito.indexers.results import read_result
from kurabito.indexers.secrets import hidden, public_magnet, without_key
from kurabito.logs import mask_text
from kurabito.modules.download_types import DownloadType

DEFAULT_CATEGORIES: Final = (2000, 5000)
"""Films and shows, with what is below them."""
# Prowlarr and Jackett are one host with many indexers: one that wants to rest holds no other up.
_LIMITS: Final = Limits(seconds=60.0, attempts=1, patience=0.0, refusal_bytes=64 * 1024)
_FUNCTIONS: Final = {SearchKind.ANY: "search", SearchKind.TV: "tvsearch", SearchKind.MOVIE: "movie"}
_TOO_MANY: Final = 429
_UNKNOWN: Final = 900
_KEY_ERRORS: Final = range(100, 200)
_LIMIT_ERRORS: Final = (500, 501)


@dataclass(frozen=True, slots=True, kw_only=True)
class TorznabSettings:
    """Where an indexer is, and how it is asked."""

    url: str
    api_key: str | None = None
    categories: tuple[int, ...] = DEFAULT_CATEGORIES
    allows_private: bool = False
    """Its host may be inside the keeper's own network."""


class Torznab:
    """One Torznab indexer."""

    def __init__(self, outbound: Outbound, settings: TorznabSettings, admit: Admit = admit_all) -> None:
        self._outbound = outbound
        self._settings = settings
        self._admit = admit
        self._caps: IndexerCaps | None = None

    async def caps(self) -> IndexerCaps:
        """What it can do; asked for once."""
        if self._caps is None:
            reply = await self._ask({"t": "caps"})
            try:
                self._caps = await asyncio.to_thread(read_caps, reply.content, reply.headers.get("content-type", ""))
            except IndexerUnreadable:
                # An error document comes in the place of what was asked for.
                self._read(reply)
                raise
        return self._caps

    async def search(self, query: SearchQuery) -> IndexerReply:
        """What it has; as many pages as it takes, up to a limit."""
        caps = await self.caps()

        async def ask(params: dict[str, str]) -> IndexerReply:
            async def page_of(number: int) -> Feed:
                offset = {"offset": str(number * caps.page_size)} if number else {}
                return await asyncio.to_thread(self._read, await self._ask(params | offset))

            return await collect(page_of, caps.page_size, MOST_PAGES)

        reply = await ask_each(ask, self._forms(query, caps))
        return replace(reply, items=tuple(self._cleared(item) for item in reply.items))

    def _cleared(self, item: IndexerItem) -> IndexerItem:
        key = self._settings.api_key
        cleared = without_key(item, key)
        if cleared.download_type is DownloadType.MAGNET and cleared.download_url:
            return replace(cleared, download_url=public_magnet(cleared.download_url, key))
        return cleared

    def _forms(self, query: SearchQuery, caps: IndexerCaps) -> list[dict[str, str]]:
        """What is asked for: an episode by its number in a title; and by season and episode, as titles with S01E05 are found."""
        kind = query.kind if query.kind in caps.kinds else SearchKind.ANY
        categories = ",".join(map(str, self._settings.categories))
        common = {
            "t": _FUNCTIONS[kind],
            **({"cat": categories} if categories else {}),
            "limit": str(caps.page_size),
            "extended": "1",
        }
        forms = [{**common, "q": query.text if query.episode is None else f"{query.text} {query.episode:02g}"}]
        if kind is SearchKind.TV and query.season is not None and {"season", "ep"} <= caps.tv_params:
            episode = {} if query.in_season is None else {"ep": f"{query.in_season:g}"}
            forms.append({**common, "q": query.text, "season": str(query.season), **episode})
        return forms

    async def _ask(self, params: Mapping[str, str]) -> Reply:
        settings = self._settings
        key = {"apikey": settings.api_key} if settings.api_key else {}
        trusted = [host_of(settings.url)] if settings.allows_private else ()
        await self._admit()
        try:
            return await self._outbound.get(
                settings.url, params={**params, **key}, trusted=trusted, limits=_LIMITS, may_break=True
            )
        except BadStatus as error:
            raise self._refusal(error) or error from None

    def _refusal(self, error: BadStatus) -> IndexerRefused | None:
        """What the indexer says beside a status of failure."""
        try:
            parse_feed(error.content, self._settings.url)
        except ErrorDocument as said:
            return self._refused(said, error)
        except FeedUnreadable:
            pass
        if error.answered == _TOO_MANY:
            return IndexerLimited("the indexer was asked too often; it rests for a while", _UNKNOWN, error.retry_after)
        return IndexerKeyRefused("the indexer does not take the API key", 100) if error.answered in (401, 403) else None

    def _read(self, reply: Reply) -> Feed:
        try:
            return parse_feed(reply.content, reply.url, reply.headers.get("content-type", ""), read=read_result)
        except ErrorDocument as error:
            raise self._refused(error) from None
        except FeedUnreadable as error:
            raise IndexerUnreadable(f"the indexer's answer cannot be read: {self._masked(str(error))}") from None

    def _refused(self, said: ErrorDocument, status: BadStatus | None = None) -> IndexerRefused:
        number = int(said.number) if said.number.isascii() and said.number.isdigit() else _UNKNOWN
        message = f"the indexer answers with error {number}: {self._masked(said.description)}"
        if number in _LIMIT_ERRORS or (status is not None and status.answered == _TOO_MANY):
            return IndexerLimited(message, number, status.retry_after if status else None)
        return (IndexerKeyRefused if number in _KEY_ERRORS else IndexerRefused)(message, number)

    def _masked(self, text: str) -> str:
        return mask_text(hidden(text, self._settings.api_key))
