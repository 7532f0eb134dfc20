"""From the bytes of a feed to its items: RSS, Atom and Torznab."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final
from urllib.parse import urljoin

from kurabito.feeds.encodings import decoded
from kurabito.feeds.errors import ErrorDocument, FeedUnreadable
from kurabito.feeds.items import read_item
from kurabito.feeds.markup import Malformed, Piece, pieces, split_asides
from kurabito.feeds.results import FeedItem

MOST_ITEMS: Final = 5_000
_HEAD: Final = 20_000
_ROOT: Final = re.compile(r"<(?:[\w.-]{1,40}:)?([\w.-]{1,60})((?:\s[^<>]{0,4000})?)/?>")
_COMMENT: Final = ("<!--", "-->")
_DECLARATION: Final = re.compile(r"<(?:\?[^<>]*|!DOCTYPE[^<>\[]*(?:\[[^\]]*\])?\s*)>", re.IGNORECASE)
_FEEDS: Final = frozenset({"rss", "feed", "rdf", "channel"})
_END: Final = re.compile(r"</(?:[\w.-]{1,40}:)?(?:rss|feed|rdf|channel)\s*>", re.IGNORECASE)
_ITEM: Final = re.compile(r"<(?:[\w.-]{1,40}:)?(?:item|entry)[\s>]", re.IGNORECASE)
_NAME: Final = re.compile(r"<title(?:\s[^<>]{0,200})?>(.{0,2000}?)</title>", re.DOTALL)
_BASE: Final = re.compile(r"""\bxml:base\s*=\s*["']([^"'<>]{1,2000})""")
_ATTRIBUTE: Final = re.compile(r"""([\w:.-]{1,40})\s*=\s*(?:"([^"]*)"|'([^']*)')""")


@dataclass(frozen=True, slots=True)
class FeedRefused:
    """An item that cannot be taken, and why. The number is its place in the feed, from 1."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Feed:
    """What a feed gave."""

    title: str | None
    items: tuple[FeedItem, ...]
    refused: tuple[FeedRefused, ...] = ()
    is_whole: bool = True
    """False when it breaks off: there is more to come, so it must be asked for again."""


def parse_feed(
    data: bytes, url: str, content_type: str = "", *, read: Callable[[str, str], FeedItem] = read_item
) -> Feed:
    """Read a feed that came from `url`; raises FeedUnreadable, saying what came instead.

    `read` makes an item of its text and the URL that its links are relative to; it raises Malformed.
    """
    text = decoded(data, content_type).lstrip("\ufeff \t\r\n")
    head = _DECLARATION.sub("", "".join(split_asides(text[:_HEAD], *_COMMENT)[::2])).lstrip()
    _check_root(head)
    found = [*islice(pieces(text), MOST_ITEMS)]
    base = _BASE.search(head)
    base_url = _joined(url, html.unescape(base[1])) if base else url
    is_whole = _END.search(text, max(0, len(text) - _HEAD)) is not None
    if not is_whole and found and not found[-1].is_whole:
        # The one that was on its way says nothing about the feed itself.
        found.pop()
    items, refused = _read_all(found, base_url, read)
    return Feed(_title(_ITEM.split(head, maxsplit=1)[0]), tuple(items), tuple(refused), is_whole)


def _joined(url: str, base: str) -> str:
    """Where the links of a feed begin: where it says, or where it came from if that is no address."""
    try:
        return urljoin(url, base)
    except ValueError:
        return url


def _read_all(
    found: list[Piece], base_url: str, read: Callable[[str, str], FeedItem]
) -> tuple[list[FeedItem], list[FeedRefused]]:
    items: dict[tuple[str, str | None], FeedItem] = {}
    refused = []
    for number, piece in enumerate(found, 1):
        try:
            if not piece.is_whole:
                raise Malformed("it has no end")
            item = read(piece.text, base_url)
        except Malformed as problem:
            refused.append(FeedRefused(number, str(problem)))
        else:
            items.setdefault((item.title, item.download_url), item)
    shared = {guid for guid, times in Counter(item.guid for item in items.values()).items() if times > 1}
    # An id that several releases have tells none of them apart.
    return [replace(item, guid=None) if item.guid in shared else item for item in items.values()], refused


def _check_root(head: str) -> None:
    if not head:
        raise FeedUnreadable("the answer is empty; check the URL in a browser")
    root = _ROOT.match(head)
    name = root[1].lower() if root else ""
    if root and name == "error":
        attributes = {
            key.lower(): html.unescape(double or single) for key, double, single in _ATTRIBUTE.findall(root[2])
        }
        raise ErrorDocument(attributes.get("code", "?")[:20], attributes.get("description", "no reason")[:500])
    if name in ("html", "head", "body") or head[:15].lower().startswith(("<!doctype html", "<html")):
        raise FeedUnreadable("this is a web page and not a feed; look for its RSS link and follow that")
    if name not in _FEEDS:
        began = " ".join(head[:80].split())
        raise FeedUnreadable(f"this is neither RSS nor Atom: it begins with {began!r}; check the URL in a browser")


def _title(head: str) -> str | None:
    name = _NAME.search(head)
    if name is None:
        return None
    plain = name[1].strip().removeprefix("<![CDATA[").removesuffix("]]>")
    return " ".join(html.unescape(plain).split())[:200] or None
