"""What one item of a feed says: RSS, Atom and Torznab in the words that sites really use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urljoin, urlsplit

from kurabito.feeds.dates import CHINA, moment
from kurabito.feeds.markup import FeedField, Malformed, fields, magnet_in
from kurabito.feeds.results import FeedItem
from kurabito.feeds.sizes import size_of, size_said_in

_TITLES: Final = ("title",)
_DESCRIPTIONS: Final = ("description", "encoded", "summary", "content")
_DATES: Final = ("pubdate", "published", "date", "updated")
_SIZES: Final = ("contentlength", "size")
_HASHES: Final = ("infohash", "info_hash")
_IDS: Final = ("guid", "id")
_SCHEMES: Final = ("http", "https", "magnet")
_TORRENT: Final = "application/x-bittorrent"
_PICTURE: Final = ("image/", "text/html")
_HASH: Final = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}|[A-Za-z2-7]{32}")
_IN_MAGNET: Final = re.compile(r"urn:btih:([0-9a-fA-F]{40}|[A-Za-z2-7]{32})(?![0-9a-zA-Z])")
_MIKAN: Final = "mikan"
_LONGEST_TITLE: Final = 2_000
_LONGEST_DESCRIPTION: Final = 10_000
_LONGEST_URL: Final = 8_000


def read_item(piece: str, base: str) -> FeedItem:
    """The item; raises Malformed with what is wrong with it."""
    return item_of(fields(piece), piece, base)


def item_of(found: list[FeedField], piece: str, base: str) -> FeedItem:
    """The item that has these fields; raises Malformed."""
    title = " ".join(_first(found, _TITLES).split())[:_LONGEST_TITLE]
    if not title:
        raise Malformed("it has no title")
    description = _first(found, _DESCRIPTIONS)[:_LONGEST_DESCRIPTION]
    guid = " ".join(_first(found, _IDS).split())[:_LONGEST_URL]
    url = _download_url(found, piece, base)
    return FeedItem(
        title=title,
        download_url=url,
        description=description or None,
        pub_date=_pub_date(found),
        size_bytes=_size(found) or size_said_in(description),
        info_hash=_info_hash(found) or _hash_beside(url, piece),
        # Where the title is its own id, a second release with that title would pass for the first.
        guid=None if guid in ("", title) else guid,
    )


def _download_url(found: list[FeedField], piece: str, base: str) -> str:
    """The best way to the release itself: what was enclosed, then magnets, then what is merely linked."""
    refused = None
    for candidate in _candidates(found, piece):
        try:
            url = urljoin(base, candidate)
            parts = urlsplit(url)
        except ValueError:
            refused = candidate
            continue
        if parts.scheme in _SCHEMES and (parts.netloc or parts.scheme == "magnet") and len(url) <= _LONGEST_URL:
            # A scheme in capitals means the same, and later code knows it in lower case only.
            return parts.scheme + url[len(parts.scheme) :]
        refused = candidate
    if refused is None:
        raise Malformed("it links to nothing that could be downloaded")
    raise Malformed(f"it links to {refused[:200]!r}, which is neither http, https nor a magnet link")


def _candidates(found: list[FeedField], piece: str) -> Iterator[str]:
    enclosed = [one for one in found if one.name == "enclosure" or one.attributes.get("rel") == "enclosure"]
    # A podcast's picture or a page may be enclosed too.
    enclosed.sort(key=lambda one: _rank(one.attributes.get("type", "")))
    links = [*_links(found)]
    magnets = [link for link in links if link[:7].lower() == "magnet:"]
    inside = magnet_in(piece)
    every = [
        *(one.attributes.get("url") or one.attributes.get("href") or "" for one in enclosed),
        *magnets,
        attribute(found, "magneturl"),
        *(link for link in links if _path(link).lower().endswith(".torrent")),
        inside or "",
        *links,
        *(one.text for one in found if one.name == "guid" and one.attributes.get("ispermalink") == "true"),
    ]
    return (url.strip() for url in every if url.strip())


def _links(found: Iterable[FeedField]) -> Iterator[str]:
    for one in found:
        if one.name == "link" and one.inside is None and one.attributes.get("rel", "alternate") == "alternate":
            yield one.text or one.attributes.get("href", "")


def _path(url: str) -> str:
    return url.partition("?")[0].partition("#")[0]


def _rank(media_type: str) -> int:
    return 0 if media_type == _TORRENT else 2 if media_type.startswith(_PICTURE) else 1


def _pub_date(found: list[FeedField]) -> datetime | None:
    for name in _DATES:
        for one in found:
            if one.name == name and (date := moment(one.text, CHINA if _is_of_mikan(one, found) else UTC)):
                return date
    return None


def _is_of_mikan(date: FeedField, found: list[FeedField]) -> bool:
    """Whether a date is in Mikan's own element, whose dates have no zone and mean China's."""
    return date.inside == "torrent" and any(
        one.name == "torrent" and _MIKAN in one.attributes.get("xmlns", "") for one in found
    )


def _size(found: list[FeedField]) -> int | None:
    written = [
        attribute(found, "size"),
        *(one.text for one in found if one.name in _SIZES),
        *(one.attributes.get("length", "") for one in found if one.name == "enclosure"),
    ]
    return next((size for text in written if (size := size_of(text))), None)


def _info_hash(found: list[FeedField]) -> str | None:
    written = (attribute(found, "infohash"), *(one.text for one in found if one.name in _HASHES))
    return next((text for text in written if _HASH.fullmatch(text)), None)


def _hash_beside(url: str, piece: str) -> str | None:
    """The hash of the magnet link that stands beside a torrent file, so that both are one release."""
    magnet = None if url.startswith("magnet:") else magnet_in(piece)
    named = _IN_MAGNET.search(magnet) if magnet else None
    return named[1] if named else None


def attribute(found: Iterable[FeedField], name: str) -> str:
    """The value of an attribute in the way of Newznab and Torznab: <torznab:attr name="size" value="…"/>."""
    for one in found:
        if one.name == "attr" and one.attributes.get("name", "").lower() == name:
            return one.attributes.get("value", "").strip()
    return ""


def _first(found: Iterable[FeedField], names: tuple[str, ...]) -> str:
    """The first text that says something, of the elements with these names in their order."""
    mine = [one for one in found if one.inside is None and one.name in names]
    mine.sort(key=lambda one: names.index(one.name))
    return next((one.text for one in mine if one.text), "")
