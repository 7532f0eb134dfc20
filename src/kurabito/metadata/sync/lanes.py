"""The records that one part of a sync works through: read in chunks, worked on five at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

from kurabito.clock import Clock, to_datetime
from kurabito.db import Connection, Database
from kurabito.metadata.pending import get_metadata_to_sync, needs_tmdb_sync
from kurabito.metadata.records import Metadata

T = TypeVar("T")
SYNC_CONCURRENCY: Final = 5


async def in_chunks(database: Database, read: Callable[[Connection, int], list[Metadata]]) -> AsyncIterator[Metadata]:
    """Records from the first to the last; a large collection is never in memory as a whole."""
    after = 0
    while chunk := await database.read(lambda conn, after=after: read(conn, after)):  # type: ignore[misc]
        for record in chunk:
            yield record
        after = chunk[-1].id


async def needing_lookup(database: Database, clock: Clock) -> AsyncIterator[Metadata]:
    """The records whose id at TMDB needs a lookup by their Japanese title."""
    async for record in in_chunks(database, lambda conn, after: get_metadata_to_sync(conn, after=after)):
        if needs_tmdb_sync(record, to_datetime(clock.now())):
            yield record


async def five_at_a_time(wanted: AsyncIterator[T], work: Callable[[T], Awaitable[object]]) -> None:
    """Work on everything that comes, the next as soon as one is done."""
    turn, nothing = asyncio.Lock(), object()

    async def take() -> None:
        while True:
            async with turn:
                one = await anext(wanted, nothing)
            if one is nothing:
                return
            await work(one)  # type: ignore[arg-type]

    async with asyncio.TaskGroup() as group:
        for _ in range(SYNC_CONCURRENCY):
            group.create_task(take())
