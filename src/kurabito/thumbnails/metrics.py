"""Numbers about the thumbnails."""

from __future__ import annotations

from dataclasses import dataclass

from kurabito.clock import SECOND
from kurabito.db import Connection, Database
from kurabito.protocol.enums import ThumbnailStatus
from kurabito.thumbnails.queries import SQL


@dataclass(frozen=True, slots=True)
class ThumbnailMetrics:
    """Numbers of one moment."""

    depth: int
    """How many wait."""
    capacity: int
    running: int
    ready: int
    failed: int
    retry_backlog: int
    """How many of those that failed may be asked for again."""
    cleanup_waiting: int
    cleanup_lag_seconds: float
    """For how long a removal is due that was not begun."""
    bytes_stored: int


async def measure(database: Database, capacity: int) -> ThumbnailMetrics:
    """The numbers of this moment."""

    def look(conn: Connection) -> ThumbnailMetrics:
        counted = {ThumbnailStatus(status): (count, int(size)) for status, count, size in conn.all(SQL.counts)}
        ((waiting, first_due),) = conn.all(SQL.cleanups_waiting)
        late = 0 if first_due is None else max(0, conn.now() - first_due)
        nothing = (0, 0)
        return ThumbnailMetrics(
            depth=counted.get(ThumbnailStatus.PENDING, nothing)[0],
            capacity=capacity,
            running=counted.get(ThumbnailStatus.RUNNING, nothing)[0],
            ready=counted.get(ThumbnailStatus.READY, nothing)[0],
            failed=counted.get(ThumbnailStatus.FAILED, nothing)[0],
            retry_backlog=conn.value(SQL.may_be_tried_again),
            cleanup_waiting=waiting,
            cleanup_lag_seconds=late / SECOND,
            bytes_stored=counted.get(ThumbnailStatus.READY, nothing)[1],
        )

    return await database.read(look)
