"""Brings the descriptions of libraries up to date: compares what lies beside the media with what is known, and writes the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from kurabito.db import Connection, Database
from kurabito.logs import get_logger
from kurabito.placements.descriptions import store
from kurabito.placements.descriptions.files import DescriptionFile, nfo_files, poster_file
from kurabito.placements.descriptions.store import DueSeries
from kurabito.placements.descriptions.stories import DescribedGroup, read_group

_BIGGEST_PICTURE: Final = 8 * 1024 * 1024
"""It travels through the database."""

_log = get_logger(__name__)


class DescriptionRounds:
    """Describes the series of libraries that are to have NFO files or posters.

    `picture` has the content of a poster by the name under which it is kept; None when it is not there.
    """

    def __init__(self, database: Database, picture: Callable[[str], bytes | None], *, reserve: int) -> None:
        self._database = database
        self._picture = picture
        self._reserve = reserve

    async def step(self) -> bool:
        """Compare some series with their files; whether there was anything to do."""
        is_left = await self._leave_foreign()
        due = await self._database.read(store.due)
        done: set[tuple[int, int]] = set()
        for one in due:
            if (one.library_id, one.series_id) not in done:
                members = await self._describe(one)
                done |= {(one.library_id, member) for member in members}
        return is_left or bool(due)

    async def _leave_foreign(self) -> bool:
        if not await self._database.read(store.foreign):
            return False
        await self._database.write(store.leave_foreign)
        return True

    async def _describe(self, due: DueSeries) -> Sequence[int]:
        group = await self._database.read(lambda conn: read_group(conn, due.library_id, due.series_id))
        files = [*(nfo_files(group.series, group.folder) if due.wants_nfo and group.series else ())]
        if due.wants_poster and (poster := await self._poster(group)) is not None:
            files.append(poster)

        def write(conn: Connection) -> int:
            written = store.write(conn, due.library_id, files, reserve=self._reserve)
            store.note_described(conn, due.library_id, group.members)
            if written:
                conn.notify()
            return written

        if written := await self._database.write(write):
            _log.info("descriptions to write", library=due.library_id, series=due.series_id, files=written)
        return group.members

    async def _poster(self, group: DescribedGroup) -> DescriptionFile | None:
        name = next((series.poster for series in group.series if series.poster is not None), None)
        picture = None if name is None else await asyncio.to_thread(self._picture, name)
        if not picture or len(picture) > _BIGGEST_PICTURE:
            return None
        return poster_file(group.series, group.folder, picture)
