"""What a program asks of adoption: which videos of the libraries no episode has, and why."""

from __future__ import annotations

from kurabito.db import Connection, Database
from kurabito.library import libraries
from kurabito.placements.adoption import store
from kurabito.placements.adoption.store import UnadoptedFile
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_after


class Adoptions:
    """The adoptions of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def unadopted(
        self, *, library_id: int | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[UnadoptedFile]:
        """Videos that no episode has, in the order in which they were found; raises LibraryNotFound."""
        after = id_after(cursor)

        def look(conn: Connection) -> list[UnadoptedFile]:
            if library_id is not None:
                libraries.find(conn, library_id)
            return store.unadopted(conn, after=after, limit=limit + 1, library_id=library_id)

        return Page.cut(await self._database.read(look), limit, lambda last: str(last.file_id))

    async def count_unadopted(self, most: int) -> int:
        """How many there are, up to so many."""
        return await self._database.read(lambda conn: store.count_unadopted(conn, most))
