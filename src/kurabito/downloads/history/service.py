"""What a program asks of the history."""

from __future__ import annotations

from collections.abc import AsyncIterator
from heapq import merge
from itertools import islice
from typing import Final

from kurabito.db import Connection, Database
from kurabito.downloads.history import store
from kurabito.downloads.history.entry import HistoryEntry, HistoryFilter, HistoryPlace
from kurabito.runtime.model import Page
from kurabito.runtime.paging import check_limit

_AT_ONCE: Final = 500
EVERYTHING: Final = HistoryFilter()


class History:
    """What happened, of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, wanted: HistoryFilter = EVERYTHING, *, limit: int = 50, cursor: str | None = None
    ) -> Page[HistoryEntry]:
        """Entries, the newest first. Raises InvalidInput."""
        check_limit(limit)
        place = HistoryPlace.behind(cursor, wanted.until)
        found = await self._database.read(lambda conn: _newest(conn, wanted, place, limit + 1))
        return Page.cut(found, limit, lambda last: last.cursor)

    async def everything(self, wanted: HistoryFilter = EVERYTHING) -> AsyncIterator[HistoryEntry]:
        """All entries, page by page, so that no long one is in memory or holds up a database."""
        cursor: str | None = None
        while True:
            page = await self.page(wanted, limit=_AT_ONCE, cursor=cursor)
            for entry in page:
                yield entry
            if (cursor := page.next_cursor) is None:
                return


def _newest(conn: Connection, wanted: HistoryFilter, place: HistoryPlace, limit: int) -> list[HistoryEntry]:
    links = store.few_links(conn, wanted)
    sources = [store.entries(conn, source, wanted, place, limit, links) for source in wanted.sources()]
    ordered = merge(*sources, key=lambda one: (one.at, one.source.rank), reverse=True)
    return list(islice(ordered, limit))
