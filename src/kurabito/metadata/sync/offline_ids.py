"""Ids that the imported index knows: given to all records that lack them, in bulk and without a request."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from kurabito.db import Connection, Database
from kurabito.metadata import pending
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import Metadata
from kurabito.metadata.sources import offline
from kurabito.metadata.sync.progress import SyncProgress

_AT_ONCE: Final = 500
_NAMES: Final = tuple(field.name for field in fields(Ids))


async def give_offline_ids(database: Database, progress: SyncProgress) -> None:
    """Give every record that needs an id at TMDB what the index knows of it."""
    after = 0
    while chunk := await database.read(
        lambda conn, after=after: pending.to_look_up(conn, after, _AT_ONCE)  # type: ignore[misc]
    ):
        after = chunk[-1].id
        known = await database.read(lambda conn, chunk=chunk: _known(conn, chunk))  # type: ignore[misc]
        if known:
            await database.write(lambda conn, known=known: pending.keep_ids(conn, known))  # type: ignore[misc]
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
