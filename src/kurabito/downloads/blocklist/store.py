"""Blocked releases as they are stored."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.downloads.blocklist.failures import blocked_for, is_its_fault
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.errors import BlockNotFound
from kurabito.downloads.reasons import DownloadReason
from kurabito.reasons import Reason, read_reason
from kurabito.runtime.paging import BIGGEST_ID

_BLOCK: Final = ColumnList("id, release_key, download_id, series_id, title, reason, blocked_until, created_at")
_SQL: Final = Queries("kurabito.downloads.blocklist", "store.sql", block=_BLOCK)
_OF_LATE: Final = timedelta(days=1)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedRelease:
    """A release that failed, why, and until when it is not taken."""

    id: int
    release_key: str
    download_id: int | None
    series_id: int | None
    title: str
    reason: Reason[DownloadReason] | None
    blocked_until: datetime | None
    """None is for good."""
    created_at: datetime


def block_failed(conn: Connection, link_ids: Iterable[int]) -> None:
    """Block the releases of these links, whose downloads failed."""
    rows = []
    for download_id, stored, release_key, series_id, title in conn.all(_SQL.failed, given_ids(link_ids)):
        length = blocked_for(read_reason(DownloadReason, stored))
        rows.append(
            {
                "download_id": download_id,
                "release_key": release_key,
                "series_id": series_id,
                "title": title,
                "reason": stored,
                "length": None if length is None else length // _MICROSECOND,
            }
        )
    if rows:
        conn.run(_SQL.add, {"rows": json.dumps(rows)})


def unnoticed(conn: Connection) -> list[int]:
    """The links whose downloads failed at a downloader, and whose release is to blame and not blocked yet."""
    found = conn.all(_SQL.unnoticed, {"age": _OF_LATE // _MICROSECOND})
    return [link_id for _, link_id, stored in found if is_its_fault(read_reason(DownloadReason, stored))]


def blocked(conn: Connection, release_keys: Collection[str]) -> dict[str, datetime | None]:
    """Those of these releases that are not to be taken now, and until when."""
    rows = json.dumps([{"release_key": key} for key in sorted(set(release_keys))])
    found = conn.all(_SQL.blocked, {"rows": rows}) if release_keys else []
    return {key: optional_datetime(until) for key, _, until in found}


def page(conn: Connection, *, before: int = BIGGEST_ID, limit: int) -> list[BlockedRelease]:
    """Blocked releases, the newest first."""
    return [_block(row) for row in conn.all(_SQL.page, {"before": before, "limit": limit})]


def clear(conn: Connection, block_id: int) -> None:
    """Let a release be taken again; raises BlockNotFound."""
    if conn.value(_SQL.get, {"id": block_id}) is None:
        raise BlockNotFound(f"no blocked release has the id {block_id}")
    conn.run(_SQL.clear, {"id": block_id})


def clear_all(conn: Connection) -> int:
    """Let all of them be taken again; how many there were."""
    return conn.run(_SQL.clear_all)


def _block(row: Row) -> BlockedRelease:
    of = _BLOCK.row(row)
    return BlockedRelease(
        id=of.id,
        release_key=of.release_key,
        download_id=of.download_id,
        series_id=of.series_id,
        title=of.title,
        reason=read_reason(DownloadReason, of.reason),
        blocked_until=optional_datetime(of.blocked_until),
        created_at=to_datetime(of.created_at),
    )
