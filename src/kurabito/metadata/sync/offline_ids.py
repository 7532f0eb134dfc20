"""Ids that the imported index knows: given to all records that lack them, in bulk and without a request."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Final

from kurabito.clock import Clock, to_datetime
from kurabito.db import Connection, Database
from kurabito.metadata.pending import Ids, get_metadata_to_sync, keep_ids, needs_tmdb_sync
from kurabito.metadata.records import Metadata
from kurabito.metadata.sources import offline
from kurabito.metadata.sync.progress import SyncProgress

_AT_ONCE: Final = 500
_NAMES: Final = tuple(field.name for field in fields(Ids))


async def give_offline_ids(database: Database, clock: Clock, progress: SyncProgress) -> None:
    """Give every record that needs an id at TMDB what the index knows of it."""
    after = 0
    while chunk := await database.read(partial(get_metadata_to_sync, after=after, limit=_AT_ONCE)):
        after = chunk[-1].id
        now = to_datetime(clock.now())
        lacking = [record for record in chunk if needs_tmdb_sync(record, now)]
        known = await database.read(partial(_known, chunk=lacking))
        if known:
            await database.write(partial(keep_ids, given=known))
        with_id = {record.id for record, ids in known if ids.tmdb_id is not None}
        progress.touched(with_id)
        progress.synced.ids += len(with_id)
        if with_id:
            progress.answered()


def _known(conn: Connection, chunk: list[Metadata]) -> list[tuple[Metadata, Ids]]:
    """The records that the index has something new for."""
    entries = offline.find_entries(conn, [record.details for record in chunk])
    return [
        (record, entry.ids)
        for record, entry in zip(chunk, entries, strict=True)
        if entry is not None and _adds(record, entry.ids)
    ]


def _adds(record: Metadata, ids: Ids) -> bool:
    return any(getattr(record.details, name) is None and getattr(ids, name) is not None for name in _NAMES)
