"""The trash: removed files can be restored until they expire."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from kurabito.clock import SECOND, to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.port import Row
from kurabito.db.queries import Query
from kurabito.library.deletion.delete_jobs import order_delete_job
from kurabito.library.duplicates.groups import GroupKey
from kurabito.library.errors import TrashConflict, TrashNotFound
from kurabito.protocol.deletion import JOB_MAY_RUN
from kurabito.protocol.enums import HashAlgorithm
from kurabito.runtime import Registry
from kurabito.runtime.model import Page
from kurabito.runtime.paging import BIGGEST_ID, not_a_cursor

PURGE: Final = "library.purge_trash"
_DAY: Final = 86_400
_EVERY: Final = 3600.0
_AT_ONCE: Final = 1000
_ID: Final = re.compile("[0-9a-f]{32}")
_CURSOR: Final = re.compile("([0-9]{1,18})-([0-9a-f]{32})")
_NEWEST: Final = (BIGGEST_ID, "")
_NOTHING: Final = '{"restore": []}'
_SQL: Final = Queries("kurabito.library.deletion", "trash.sql", may_run=JOB_MAY_RUN)


@dataclass(frozen=True, slots=True)
class RestoreRefused:
    """Why the last restore of a file was refused."""

    error_code: str
    error_message: str


@dataclass(frozen=True, slots=True)
class TrashEntry:
    """A file in the trash."""

    id: str
    library_id: int
    relative_path: str
    """Where it was, and where it goes when it is put back."""
    size_bytes: int
    group_key: GroupKey
    trashed_at: datetime
    expires_at: datetime
    """From then on it may be purged."""
    is_leaving: bool
    """A restore was requested, and a data plane is about to do it."""
    refused: RestoreRefused | None
    """What became of the last attempt to put it back."""


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge ordered."""

    entries: int
    job_id: str | None


@dataclass(frozen=True, slots=True)
class Restoring:
    """What was ordered to be put back."""

    entries: int
    job_ids: tuple[str, ...]


class Trash:
    """The trash of all libraries, kept for so many days; unless it `may_purge`, for ever."""

    def __init__(self, database: Database, *, days: float, may_purge: bool) -> None:
        self._database = database
        self.days = days
        self.may_purge = may_purge

    def join(self, registry: Registry) -> None:
        """Purge expired files every hour."""
        registry.task(PURGE)(self.purge)
        registry.every(_EVERY, PURGE, unique_key=PURGE)

    async def entries(self, *, limit: int = 50, cursor: str | None = None) -> Page[TrashEntry]:
        """A page of files that can be restored."""
        moment, entry_id = _NEWEST if cursor is None else _place(cursor)
        values = {"trashed_at": moment, "id": entry_id, "limit": limit + 1}

        def look(conn: Connection) -> Page[TrashEntry]:
            page = Page.cut(conn.all(_SQL.entries, values), limit, lambda last: f"{last[-1]}-{last[0]}")
            leaving = _wanted_back(conn)
            return Page(tuple(self._entry_of(conn, row, leaving) for row in page), page.next_cursor)

        return await self._database.read(look)

    async def restore(self, entry_id: str) -> str:
        """Order a restore to the original place; returns the id of the job. Raises TrashNotFound and TrashConflict."""
        if not _ID.fullmatch(entry_id):
            raise TrashNotFound(f"no entry of the trash has the id {entry_id!r}")
        return await self._database.write(lambda conn: _restore(conn, entry_id))

    async def restore_all(self) -> Restoring:
        """Order a restore of everything that is in the trash; what is on its way out already is left alone."""
        return await self._database.write(lambda conn: _restore_some(conn, _SQL.all_entries, {}))

    async def undo_plan(self, plan_id: int) -> Restoring:
        """Order a restore of what a plan moved to the trash and is still there."""
        return await self._database.write(lambda conn: _restore_some(conn, _SQL.entries_of_plan, {"plan_id": plan_id}))

    async def count_of_plan(self, plan_id: int) -> int:
        """How many files that a plan moved are in the trash."""
        rows = await self._database.read(lambda conn: conn.all(_SQL.entries_of_plan, {"plan_id": plan_id}))
        return len(rows)

    async def purge(self) -> Purged:
        """Have a data plane remove what was kept long enough; each only if another copy of it is still there.

        Also undoes what a finished job left half done.
        """
        return await self._database.write(self._purge)

    def _purge(self, conn: Connection) -> Purged:
        if conn.all(_SQL.active_orders, {"ordered": '{"purge"%'}) or conn.all(
            _SQL.active_orders, {"ordered": _NOTHING}
        ):
            return Purged(0, None)
        expired = self._expired(conn) if self.may_purge else []
        if expired:
            return Purged(len(expired), order_delete_job(conn, {"purge": expired}, dry_run=False, total=len(expired)))
        if conn.one(_SQL.abandoned) is None:
            return Purged(0, None)
        # Every delete job first sees to what others left half done, and one that restores nothing does only that. It may
        # run while nothing may be removed.
        return Purged(0, order_delete_job(conn, json.loads(_NOTHING), dry_run=False, total=0))

    def _expired(self, conn: Connection) -> list[str]:
        retention = round(self.days * _DAY * SECOND)
        return [entry_id for (entry_id,) in conn.all(_SQL.expired, {"retention": retention, "limit": _AT_ONCE})]

    def _entry_of(self, conn: Connection, row: Row, leaving: frozenset[str]) -> TrashEntry:
        entry_id, library_id, relative_path, size_bytes, algorithm, digest, trashed_at = row
        moment = to_datetime(trashed_at)
        return TrashEntry(
            entry_id,
            library_id,
            relative_path,
            size_bytes,
            GroupKey(HashAlgorithm(algorithm), bytes(digest)),
            moment,
            moment + timedelta(days=self.days),
            entry_id in leaving,
            _last_refusal(conn, entry_id, library_id, relative_path, trashed_at),
        )


def _restore(conn: Connection, entry_id: str) -> str:
    row = conn.one(_SQL.entry, {"id": entry_id})
    if row is None:
        raise TrashNotFound(f"no entry of the trash has the id {entry_id!r}")
    *_, left_as = row
    if left_as is not None:
        raise TrashConflict(f"{entry_id} is not in the trash any more: it was {left_as}")
    if conn.all(_SQL.active_orders, {"ordered": f'%"{entry_id}"%'}):
        raise TrashConflict(f"{entry_id} is on its way out of the trash already")
    return order_delete_job(conn, {"restore": [entry_id]}, dry_run=False, total=1)


def _restore_some(conn: Connection, statement: Query, values: Mapping[str, Any]) -> Restoring:
    """Order restores of entries in parts, each a job of its own, so that one that is refused holds few others up."""
    leaving = _wanted_back(conn)
    found = [entry_id for (entry_id,) in conn.all(statement, values) if entry_id not in leaving]
    parts = [found[start : start + _AT_ONCE] for start in range(0, len(found), _AT_ONCE)]
    jobs = (order_delete_job(conn, {"restore": part}, dry_run=False, total=len(part)) for part in parts)
    return Restoring(len(found), tuple(jobs))


def _wanted_back(conn: Connection) -> frozenset[str]:
    """The entries with a requested restore that is not done yet."""
    orders = conn.all(_SQL.active_orders, {"ordered": '{"restore"%'})
    return frozenset(entry_id for (payload,) in orders for entry_id in json.loads(payload)["restore"])


def _last_refusal(
    conn: Connection, entry_id: str, library_id: int, relative_path: str, trashed_at: int
) -> RestoreRefused | None:
    about = {"library_id": library_id, "relative_path": relative_path, "trashed_at": trashed_at}
    row = conn.one(_SQL.last_restore, {**about, "ordered": f'%"{entry_id}"%'})
    return None if row is None else RestoreRefused(*row)


def _place(cursor: str) -> tuple[int, str]:
    if (found := _CURSOR.fullmatch(cursor)) is None:
        raise not_a_cursor(cursor)
    return int(found[1]), found[2]
