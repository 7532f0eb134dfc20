"""The offline index as a whole: imported from a file or fetched, refused when it lost too much, refreshed once a week."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList
from kurabito.http import Limits, Outbound
from kurabito.metadata.errors import IndexRefused
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import LARGEST_INDEX, IndexFile, read_index

UPDATE: Final = "metadata.update_index"
KEEP: Final = "metadata.keep_index"
_LOOKED_AT_EVERY: Final = 3600.0
_OLD: Final = timedelta(days=7)
_LIMITS: Final = Limits(seconds=300.0, max_bytes=LARGEST_INDEX)
_MOST_LOST: Final = 0.2
_IMPORT: Final = ColumnList("imported_at, entries, unknown_kinds, bad_rows, origin")
_SQL: Final = Queries("kurabito.metadata.sources", "index.sql", **{"import": _IMPORT})


class IndexOrigin(StrEnum):
    """Where an import came from."""

    FILE = "file"
    FETCHED = "fetched"


@dataclass(frozen=True, slots=True)
class IndexImport:
    """An import of the index, and what of its file could not be taken."""

    imported_at: datetime
    entries: int
    unknown_kinds: int
    bad_rows: int
    origin: IndexOrigin


def import_index(conn: Connection, file: IndexFile, origin: IndexOrigin, *, force: bool = False) -> IndexImport:
    """Replace the index by what a file says; raises IndexRefused when it is empty, or a fifth of the entries are gone."""
    known, new = int(conn.value(_SQL.count)), len(file.entries)
    if not force and (not new or new < known * (1 - _MOST_LOST)):
        raise IndexRefused(
            f"the file has {new:,} entries, and {known:,} are known; nothing was changed. If that is right, import it with "
            "--force"
        )
    offline.replace_entries(conn, file.entries)
    counts = {"entries": new, "unknown_kinds": file.unknown_kinds, "bad_rows": file.bad_rows, "origin": origin}
    conn.run(_SQL.note_import, counts)
    imported = last_import(conn)
    assert imported is not None
    return imported


def last_import(conn: Connection) -> IndexImport | None:
    """The import that the index is from; None when there was none."""
    row = conn.one(_SQL.last_import)
    if row is None:
        return None
    found = _IMPORT.row(row)
    return IndexImport(
        to_datetime(found.imported_at), found.entries, found.unknown_kinds, found.bad_rows, IndexOrigin(found.origin)
    )


async def fetch_index(outbound: Outbound, url: str) -> IndexFile:
    """The file at a URL: a data.json, or the package that has it; raises OutboundError or InvalidInput."""
    reply = await outbound.get(url, trusted=[urlsplit(url).hostname or ""], limits=_LIMITS)
    return await asyncio.to_thread(read_index, reply.content)
