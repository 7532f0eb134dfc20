"""What a program asks of the blocklist."""

from __future__ import annotations

from kurabito.db import Database
from kurabito.downloads.blocklist import store
from kurabito.downloads.blocklist.store import BlockedRelease
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before


class Blocklist:
    """The blocked releases of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, *, limit: int = 50, cursor: str | None = None) -> Page[BlockedRelease]:
        """Those that are not taken now, the newest first."""
        before = id_before(cursor)
        found = await self._database.read(lambda conn: store.page(conn, before=before, limit=limit + 1))
        return Page.cut(found, limit, lambda last: str(last.id))

    async def clear(self, block_id: int) -> None:
        """Let a release be taken again; raises BlockNotFound."""
        await self._database.write(lambda conn: store.clear(conn, block_id))

    async def clear_all(self) -> int:
        """Let all of them be taken again; how many there were."""
        return await self._database.write(store.clear_all)
