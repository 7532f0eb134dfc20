"""What a Torznab indexer says it can do."""

from __future__ import annotations

import re
from typing import Final

from kurabito.feeds.encodings import decoded
from kurabito.feeds.markup import FeedField, Malformed, fields
from kurabito.indexers.errors import IndexerUnreadable
from kurabito.indexers.port import Category, IndexerCaps, SearchKind

_KINDS: Final = {"search": SearchKind.ANY, "tv-search": SearchKind.TV, "movie-search": SearchKind.MOVIE}
_LARGEST_PAGE: Final = 1_000
_MOST_CATEGORIES: Final = 1_000


def read_caps(data: bytes, content_type: str = "") -> IndexerCaps:
    """What the answer to `t=caps` says; raises IndexerUnreadable."""
    found = _element(decoded(data, content_type), "caps")
    if not found:
        raise IndexerUnreadable("the indexer did not say what it can do; check that the URL is that of a Torznab feed")
    try:
        told = fields(found)
        listed = _element(found, "categories")
        categories = fields(listed) if listed else []
    except Malformed as problem:
        raise IndexerUnreadable(f"what the indexer says it can do cannot be read: {problem}") from None
    ways = {one.name: one.attributes for one in told if one.inside == "searching"}
    offered = {kind for name, kind in _KINDS.items() if ways.get(name, {}).get("available", "").lower() == "yes"}
    server = next((one for one in told if one.name == "server"), None)
    return IndexerCaps(
        title=(server.attributes.get("title", "").strip()[:200] or None) if server else None,
        page_size=_page_size(told),
        kinds=frozenset(offered | {SearchKind.ANY}),
        tv_params=frozenset(
            part.strip().lower() for part in ways.get("tv-search", {}).get("supportedparams", "").split(",")
        ),
        categories=tuple(_categories(categories)),
    )


def _element(text: str, name: str) -> str:
    """The first element of this name, from its first tag to the next end of one; nothing where there is none.

    Each end is looked for once: an answer may consist of beginnings alone.
    """
    begin = re.search(rf"<{name}(?:\s[^<>]{{0,2000}})?>", text, re.IGNORECASE)
    end = begin and re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, begin.end())
    return text[begin.start() : end.end()] if begin and end else ""


def _page_size(told: list[FeedField]) -> int:
    limits = next((one.attributes for one in told if one.name == "limits"), {})
    sizes = [int(text) for name in ("max", "default") if (text := limits.get(name, "")).isascii() and text.isdigit()]
    return min(max(1, sizes[0]), _LARGEST_PAGE) if sizes else IndexerCaps().page_size


def _categories(found: list[FeedField]) -> list[Category]:
    known = [
        Category(id=int(number), name=one.attributes.get("name", "")[:100])
        for one in found
        if one.name in ("category", "subcat")
        and (number := one.attributes.get("id", "")).isascii()
        and number.isdigit()
    ]
    return known[:_MOST_CATEGORIES]
