"""Posters that no record shows any more are removed, by a task like any other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from kurabito.db import Connection, Database, Queries, Query
from kurabito.metadata.pending import POSTER_URL_PREFIX
from kurabito.metadata.posters.service import PosterService
from kurabito.runtime import Registry

SWEEP: Final = "metadata.sweep"
_EVERY: Final = 24 * 3600.0
_IDLE_FOR: Final = 3600.0
"""A poster that was just fetched is not written down yet."""
_AT_ONCE: Final = 5_000
_SQL: Final = Queries("kurabito.metadata.posters", "cleanup.sql")


@dataclass(frozen=True, slots=True)
class PostersRemoved:
    """What a sweep came to."""

    posters: int
    removed: int


class PosterCleanup:
    """Compares the folder of posters with what the records show."""

    def __init__(self, database: Database, posters: PosterService, *, idle_for: float = _IDLE_FOR) -> None:
        self._database = database
        self._posters = posters
        self._idle_for = idle_for

    def join(self, registry: Registry) -> None:
        """Have it done once a day."""
        registry.task(SWEEP, concurrency=1)(self.sweep)
        registry.every(_EVERY, SWEEP, unique_key=SWEEP)

    async def sweep(self) -> PostersRemoved:
        """Do it now."""
        # What is here first: a poster that comes later is not looked at.
        orphans = set(await asyncio.to_thread(self._posters.names))
        count = len(orphans)
        for query in (_SQL.shown, _SQL.backdrops):
            after = 0
            while orphans and (shown := await self._database.read(partial(_shown, query=query, after=after))):
                after = shown[-1][0]
                orphans.difference_update(url.removeprefix(POSTER_URL_PREFIX) for _, url in shown)
        return PostersRemoved(count, await asyncio.to_thread(self._drop, orphans))

    def _drop(self, names: Iterable[str]) -> int:
        return sum(self._posters.drop(name, idle_for=self._idle_for) for name in names)


def _shown(conn: Connection, query: Query, after: int) -> list[tuple[int, str]]:
    rows = conn.all(query, {"after": after, "limit": _AT_ONCE})
    return [(metadata_id, url) for metadata_id, url in rows]
