"""When the thumbnails of a group are deleted. A data plane does it, once no thumbnail of the group waits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kurabito.clock import SECOND, optional_datetime, to_datetime
from kurabito.db import Connection, Database
from kurabito.db.port import Row
from kurabito.errors import InvalidInput
from kurabito.protocol.enums import CleanupStatus
from kurabito.thumbnails.queries import CLEANUP, SQL

DELAY: Final = 600.0
"""Seconds in which a page may show the group once more."""
GROUP_PATTERN: Final = "(blake3|sha256):[0-9a-f]{64}|file:[1-9][0-9]{0,18}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCleanup:
    """The removal of a group's pictures."""

    id: int
    group_key: str
    status: CleanupStatus
    execute_after: datetime
    error_code: str | None
    error_message: str | None
    created_at: datetime
    finished_at: datetime | None


class Cleanups:
    """The removals of one database."""

    def __init__(self, database: Database, *, delay: float = DELAY) -> None:
        self._database = database
        self.delay = delay

    async def schedule(self, group_key: str) -> GroupCleanup:
        """Have the pictures of a group removed after a while; a removal that waits or runs already is given instead."""
        if not re.fullmatch(GROUP_PATTERN, group_key):
            raise InvalidInput("group_key", f"must be like blake3:…, sha256:… or file:7, got {group_key!r}")
        return await self._database.write(lambda conn: self.schedule_in(conn, group_key))

    def schedule_in(self, conn: Connection, group_key: str) -> GroupCleanup:
        """The same in an open transaction. A failed cleanup is requested again: nothing else would retry it."""
        values = {"group_key": group_key, "delay": round(self.delay * SECOND)}
        if not conn.run(SQL.take_up_cleanup, values):
            conn.run(SQL.schedule_cleanup, values)
        row = conn.one(SQL.active_cleanup, {"group_key": group_key})
        assert row is not None
        return _cleanup(row)


def _cleanup(row: Row) -> GroupCleanup:
    cleanup = CLEANUP.row(row)
    return GroupCleanup(
        id=cleanup.id,
        group_key=cleanup.group_key,
        status=CleanupStatus(cleanup.status),
        execute_after=to_datetime(cleanup.execute_after),
        error_code=cleanup.error_code,
        error_message=cleanup.error_message,
        created_at=to_datetime(cleanup.created_at),
        finished_at=optional_datetime(cleanup.finished_at),
    )
