"""The offline index as a whole: imported from a file or fetched, refused when it lost too much, refreshed once a week."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from kurabito.clock import to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.rows import ColumnList
from kurabito.errors import InvalidInput
from kurabito.http import Limits, Outbound
from kurabito.http.errors import OutboundError
from kurabito.metadata.dumps.changes import Report, bring_up_to_date, counted, unheard
from kurabito.metadata.dumps.model import DumpSource, SkippedRows
from kurabito.metadata.dumps.store import is_unjoined, replace_dump
from kurabito.metadata.errors import IndexRefused, MetadataStopped
from kurabito.metadata.health import MetadataSource, SourceReports, last_failure, note_success
from kurabito.metadata.messages import MetadataHandle
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import LARGEST_INDEX, IndexFile, read_index
from kurabito.runtime import Registry, TaskContext
from kurabito.runtime.delegation import DelegatedTasks

UPDATE: Final = "metadata.update_index"
KEEP: Final = "metadata.keep_index"
_LOOKED_AT_EVERY: Final = 3600.0
_OLD: Final = timedelta(days=7)
_REST: Final = timedelta(hours=6)
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


def import_index(
    database: Database,
    file: IndexFile,
    origin: IndexOrigin,
    *,
    force: bool = False,
    on_stored: Report = unheard,
    on_joined: Report = unheard,
) -> IndexImport:
    """Replace the index by what a file says; raises IndexRefused when it is empty, or a fifth of the entries are gone.

    Some rows at a time, so that other writers wait for milliseconds. A kill before all is stored leaves the old index; after that,
    the index is made of the new file by the next start, or the next import.
    """
    known, new = database.read_blocking(lambda conn: int(conn.value(_SQL.count))), len(file.entries)
    if not force and (not new or new < known * (1 - _MOST_LOST)):
        raise IndexRefused(
            f"the file has {new:,} entries, and {known:,} are known; nothing was changed. If that is right, import it with "
            "--force"
        )
    counts = {"entries": new, "unknown_kinds": file.unknown_kinds, "bad_rows": file.bad_rows, "origin": origin}
    replace_dump(
        database,
        DumpSource.BANGUMI_DATA,
        file.entries,
        file_name=origin,
        skipped=SkippedRows(file.unknown_kinds + file.bad_rows),
        report=counted(new, on_stored),
        note=lambda conn: conn.run(_SQL.note_import, counts),
    )
    bring_up_to_date(database, on_joined)
    return database.write_blocking(_finish)


def _finish(conn: Connection) -> IndexImport:
    offline.look_again(conn)
    note_success(conn, MetadataSource.INDEX)
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


class IndexUpdates:
    """Fetches the index when it is asked for, and once a week if its keeper allowed that."""

    def __init__(
        self,
        queue: DelegatedTasks,
        outbound: Outbound,
        url: str,
        *,
        is_allowed: bool,
        reports: SourceReports,
        handle: MetadataHandle,
    ) -> None:
        self._queue = queue
        self._database = queue.database
        self._outbound = outbound
        self.url = url
        self.is_allowed = is_allowed
        self._reports = reports
        self._handle = handle

    def join(self, registry: Registry) -> None:
        """Register what an update is, and have an old index updated."""
        # One attempt: the client tries again at once, and after a rest the schedule does.
        registry.task(UPDATE, concurrency=1, max_attempts=1)(self.update)
        registry.task(KEEP)(self.update_if_old)
        registry.every(_LOOKED_AT_EVERY, KEEP, unique_key=KEEP)

    async def last_import(self) -> IndexImport | None:
        """The import that the index is from; None when there was none."""
        return await self._database.read(last_import)

    async def begin_update(self) -> UUID:
        """Ask for an update; the task, which may be one that waits or runs already."""
        return (await self._queue.enqueue(UPDATE, unique_key=UPDATE)).id

    async def update_if_old(self) -> bool:
        """Ask for an update when that is allowed and the index is a week old, or missing; whether it was asked for.

        After a failure the host has a rest of some hours. An import of a dump that was killed is finished here too.
        """
        if await self._database.read(is_unjoined):
            await asyncio.to_thread(bring_up_to_date, self._database)
        if not self.is_allowed:
            return False
        is_due = await self._database.read(_is_due)
        if is_due:
            await self.begin_update()
        return is_due

    async def update(self, ctx: TaskContext) -> IndexImport:
        """Fetch the index and import it; raises OutboundError, InvalidInput or IndexRefused."""
        try:
            file = await fetch_index(self._outbound, self.url)
            imported = await asyncio.to_thread(self._import, file, ctx)
        except (OutboundError, InvalidInput, IndexRefused) as error:
            await self._reports.failed(MetadataSource.INDEX, error)
            raise
        with suppress(MetadataStopped):
            await self._handle.trigger_sync()
        return imported

    def _import(self, file: IndexFile, ctx: TaskContext) -> IndexImport:
        # Each entry counts twice: what the file says is stored, then the index is brought to it.
        entries = len(file.entries)

        def report(done: int) -> None:
            ctx.raise_if_cancelled()
            _ = ctx.report(done, 2 * entries)

        imported = import_index(
            self._database,
            file,
            IndexOrigin.FETCHED,
            on_stored=lambda done, _: report(done),
            on_joined=lambda done, total: report(entries + entries * done // total),
        )
        report(2 * entries)
        return imported


def _is_due(conn: Connection) -> bool:
    now, failed_at = to_datetime(conn.now()), last_failure(conn, MetadataSource.INDEX)
    if failed_at is not None and now - failed_at < _REST:
        return False
    imported = last_import(conn)
    return imported is None or now - imported.imported_at > _OLD
