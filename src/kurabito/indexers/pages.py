"""One page after the other of what a query finds, until there is no more or it is enough."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from kurabito.feeds.parser import Feed
from kurabito.indexers.errors import IndexerResting
from kurabito.indexers.port import MOST_RESULTS, IndexerItem, IndexerReply

T = TypeVar("T")


async def ask_each(search: Callable[[T], Awaitable[IndexerReply]], queries: Iterable[T]) -> IndexerReply:
    """What an indexer has for any of these queries, each result once; as many of them as its limit allows."""
    items: dict[str, IndexerItem] = {}
    is_whole = True
    for number, query in enumerate(queries):
        try:
            reply = await search(query)
        except IndexerResting:
            if not number:
                raise
            is_whole = False
            break
        items = {item.key: item for item in reply.items} | items
        is_whole = is_whole and reply.is_whole
    return IndexerReply(tuple(items.values()), is_whole)


async def collect(page_of: Callable[[int], Awaitable[Feed]], page_size: int, most_pages: int) -> IndexerReply:
    """The results of the pages, each once; `page_of` is given the number of a page, from 0.

    Where the indexer may not be asked for another page, what the others had is the answer.
    """
    found: dict[str, IndexerItem] = {}
    is_whole = True
    for number in range(most_pages):
        try:
            feed = await page_of(number)
        except IndexerResting:
            if not number:
                raise
            is_whole = False
            break
        before = len(found)
        for item in feed.items:
            if isinstance(item, IndexerItem):
                found.setdefault(item.key, item)
        is_whole = is_whole and feed.is_whole
        # An indexer that knows no paging sends its first page again.
        if len(feed.items) < page_size or len(found) == before:
            break
        # Where there is only one page, there is no more to ask for.
        is_whole = is_whole and (number + 1 < most_pages or most_pages == 1)
        if len(found) > MOST_RESULTS:
            break
    items = tuple(found.values())
    return IndexerReply(items[:MOST_RESULTS], is_whole and len(items) <= MOST_RESULTS)
