"""The built-in fetcher: asks for a feed, and only for what is new."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from kurabito.feeds.errors import FeedUnreadable
from kurabito.feeds.parser import Feed, parse_feed
from kurabito.http import Limits, Outbound, Reply, Validators

PACE: Final = 1.0
"""Seconds from one request to a host to the next: many feeds of one site become due together."""
_ACCEPT: Final = "application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5"
# A feed that does not come now is asked for again when it is due, so the task does not wait long here.
_LIMITS: Final = Limits(attempts=2, patience=5.0)


@dataclass(frozen=True, slots=True)
class FeedReading:
    """What came of asking for a feed."""

    feed: Feed | None
    """None when nothing changed."""
    validators: Validators
    """What to ask with the next time."""


class FeedReader:
    """Reads feeds. Each request is guarded; where the feed moved to is followed, and its URL stays what the user gave."""

    def __init__(self, outbound: Outbound, *, pace: float = PACE) -> None:
        self._outbound = outbound
        self._pace = pace

    async def read(
        self, url: str, *, validators: Validators | None = None, allows_private: bool = False
    ) -> FeedReading:
        """The feed, unless it is the one that the validators came with; raises OutboundError or FeedUnreadable.

        `allows_private` says that the user allowed the host of this URL to be inside his own network.
        """
        host = _host(url)
        self._outbound.pace(host, self._pace)
        reply = await self._outbound.get(
            url,
            headers={"Accept": _ACCEPT},
            validators=validators,
            trusted=[host] if allows_private else (),
            limits=_LIMITS,
            may_break=True,
        )
        if reply.not_modified:
            return FeedReading(None, validators or Validators())
        # A large one takes a second, in which others want to be answered.
        feed = await asyncio.to_thread(_parsed, reply)
        # What breaks off has to be sent again, also if it does not change.
        return FeedReading(feed, reply.validators if feed.is_whole else Validators())


def _parsed(reply: Reply) -> Feed:
    """The feed, as far as it came; raises what broke the connection if no item was whole by then."""
    try:
        feed = parse_feed(reply.content, reply.url, reply.headers.get("content-type", ""))
    except FeedUnreadable:
        if reply.broke is not None:
            raise reply.broke from None
        raise
    if reply.broke is not None and not feed.items:
        raise reply.broke
    return feed


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        # Whatever it is, the guard says so.
        return ""
