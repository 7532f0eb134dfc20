"""What a keeper pastes into the search: a magnet link, a torrent file, a feed, or a page that has one of them."""

from __future__ import annotations

import asyncio
import html
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, quote, urljoin, urlsplit

from kurabito.catalog.release_key import identify
from kurabito.downloads.clients.sources import STORED
from kurabito.downloads.clients.torrent_files import TorrentFile, read_torrent
from kurabito.downloads.errors import NothingPasted
from kurabito.errors import InvalidInput
from kurabito.feeds.encodings import decoded
from kurabito.feeds.errors import FeedUnreadable
from kurabito.feeds.parser import parse_feed
from kurabito.http import Limits, Outbound, Reply
from kurabito.http.errors import LeadsToMagnet
from kurabito.indexers.port import IndexerItem
from kurabito.modules.download_types import DownloadType

LONGEST: Final = 8_000
_MAGNET: Final = "magnet:?"
_SCHEMES: Final = (_MAGNET, STORED, "http://", "https://")
_LIMITS: Final = Limits(attempts=2, patience=5.0)
_MOST: Final = 50
_TAG: Final = re.compile(r"<(?:link|a)\s([^<>]{1,4000})>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"""(?<![a-zA-Z-])([a-zA-Z-]{1,30})\s*=\s*(?:"([^"]{0,3000})"|'([^']{0,3000})')""")
_TITLE: Final = re.compile(r"<title[^<>]{0,200}>(.{1,500}?)</title>", re.DOTALL | re.IGNORECASE)
_HEAD: Final = 64 * 1024
"""Characters in which the title of a page is looked for: behind them it would be that of a page made to keep us busy."""
_FEEDS: Final = ("application/rss+xml", "application/atom+xml")


@dataclass(frozen=True, slots=True)
class Pasted:
    """What a text leads to: a feed to follow, or releases to grab."""

    feed_url: str | None = None
    items: tuple[IndexerItem, ...] = ()


def is_pasted(text: str) -> bool:
    """Whether a text is something to open, and no name to look for."""
    return text[:10].lower().startswith(_SCHEMES) and " " not in text and len(text) <= LONGEST


class PastedLinks:
    """Opens what was pasted. Foreign URLs are guarded as those of feeds are."""

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound

    async def open(self, text: str) -> Pasted:
        """What it leads to; raises NothingPasted or OutboundError."""
        if text[: len(_MAGNET)].lower() == _MAGNET:
            return Pasted(items=(_of_magnet(text),))
        try:
            reply = await self._outbound.get(text, limits=_LIMITS)
        except LeadsToMagnet as found:
            return Pasted(items=(_of_magnet(found.magnet),))
        return await asyncio.to_thread(_read, text, reply)


def _read(url: str, reply: Reply) -> Pasted:
    if reply.content[:1] == b"d":
        return Pasted(items=(item_of(url, torrent_of(reply.content)),))
    content_type = reply.headers.get("content-type", "")
    try:
        parse_feed(reply.content, reply.url, content_type)
    except FeedUnreadable:
        return _of_page(reply.url, decoded(reply.content, content_type))
    return Pasted(feed_url=url)


def torrent_of(content: bytes) -> TorrentFile:
    """A torrent file that was uploaded, or that a link leads to; raises NothingPasted."""
    try:
        return read_torrent(content)
    except InvalidInput as error:
        raise NothingPasted(f"this is no torrent file that can be used: {error}") from None


def magnet_of(torrent: TorrentFile) -> str:
    """A torrent file as a magnet link, with its name and trackers."""
    named = [("dn", torrent.name), *(("tr", tracker) for tracker in torrent.trackers)]
    link = f"{_MAGNET}xt=urn:btih:{torrent.hash}"
    for name, value in named:
        # What would make it too long is left out: its peers are found without all trackers.
        longer = f"{link}&{name}={quote(value, safe='')}"
        link = longer if value and len(longer) <= LONGEST else link
    return link


def item_of(url: str, torrent: TorrentFile) -> IndexerItem:
    """A torrent file as a result of a search."""
    return IndexerItem(
        title=torrent.name,
        download_url=url,
        download_type=DownloadType.TORRENT,
        info_hash=torrent.hash,
        size_bytes=torrent.size,
    )


def _of_magnet(url: str, title: str | None = None) -> IndexerItem:
    identity = identify(url, DownloadType.MAGNET, None)
    if identity.hash is None:
        raise NothingPasted("this magnet link has no hash; copy it again")
    named = parse_qs(urlsplit(url).query).get("dn", [""])[0].strip()
    return IndexerItem(
        title=named or title or identity.hash,
        download_url=url,
        download_type=DownloadType.MAGNET,
        info_hash=identity.hash,
    )


def _of_page(url: str, text: str) -> Pasted:
    """The releases that a page links to; without any, the feed that it names."""
    found = _TITLE.search(text, 0, _HEAD)
    title = " ".join(html.unescape(found[1]).split()) if found else None
    feed_url = None
    items: dict[str, IndexerItem] = {}
    for attributes in (_attributes(tag[1]) for tag in _TAG.finditer(text)):
        try:
            link = urljoin(url, attributes.get("href", ""))
        except ValueError:
            # It leads nowhere.
            continue
        if attributes.get("type", "").lower() in _FEEDS:
            feed_url = feed_url or link
        elif (item := _linked(link, title)) is not None and len(items) < _MOST:
            items.setdefault(link, item)
    if not items and feed_url is None:
        raise NothingPasted("this page has no magnet link, no torrent file and no feed; paste the link itself")
    magnets = [item for item in items.values() if item.download_type is DownloadType.MAGNET]
    # A page has both links of one release.
    return Pasted(None if items else feed_url, tuple(magnets or items.values()))


def _linked(link: str, title: str | None) -> IndexerItem | None:
    if link[: len(_MAGNET)].lower() == _MAGNET:
        try:
            return _of_magnet(link, title)
        except NothingPasted:
            return None
    if link.startswith(("http://", "https://")) and urlsplit(link).path.lower().endswith(".torrent"):
        name = urlsplit(link).path.rpartition("/")[2].removesuffix(".torrent")
        return IndexerItem(title=title or name, download_url=link, download_type=DownloadType.TORRENT)
    return None


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): html.unescape(one or other) for name, one, other in _ATTRIBUTE.findall(text)}
