"""Shows that are over and complete: their feeds are not read until there is more of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from kurabito import logs
from kurabito.db import Connection, Database
from kurabito.downloads.wanted import store as wanted
from kurabito.feeds import subscription_store as feeds
from kurabito.runtime import Registry

log = logs.get_logger(__name__)

FINISH: Final = "follow.finish"
_EVERY: Final = 3_600.0
_SILENT: Final = timedelta(days=21)
"""After the last episode: lists of episodes that are still made look complete for a week or two."""


class FinishedShows:
    """Has the feeds of shows rest that are over and complete, and read again when a new episode is announced or wanted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def join(self, registry: Registry) -> None:
        """Look every hour."""
        registry.task(FINISH)(self.look)
        registry.every(_EVERY, FINISH, unique_key=FINISH)

    async def look(self) -> int:
        """Have feeds rest, or read again; how many."""
        return await self._database.write(_look)


def _look(conn: Connection) -> int:
    changed = 0
    for subscription_id, series_id, is_read in feeds.of_shows(conn):
        is_finished = wanted.is_over(conn, series_id, _SILENT) and not wanted.wanted(conn, series_id=series_id, limit=1)
        if is_finished is not is_read:
            continue
        (feeds.finish if is_finished else feeds.resume)(conn, subscription_id)
        log.info("feed of a finished show", subscription=subscription_id, is_read=not is_read)
        changed += 1
    return changed
