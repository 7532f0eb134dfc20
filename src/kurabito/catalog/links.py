"""Links: what can be downloaded, and why something is not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kurabito.catalog.download_types import DownloadType
from kurabito.catalog.states import FilterReason, HeldReason
from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.reasons import Reason, read_reason
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.titles import ReleaseKind

_FILTERS: Final = {
    (False, False): "",
    (True, False): "AND link.series_id = :series_id",
    (False, True): "AND link.held_reason IS NOT NULL",
    (True, True): "AND link.series_id = :series_id AND link.held_reason IS NOT NULL",
}
_SQL: Final = {chosen: Queries("kurabito.catalog", "links.sql", filter=text) for chosen, text in _FILTERS.items()}


@dataclass(frozen=True, slots=True)
class Link:
    """One downloadable release of one episode."""

    id: int
    release_key: str
    raw_item_id: int | None
    series_id: int
    episode_id: int | None
    episode_kind: ReleaseKind | None
    episode_number: float | None
    group: str | None
    title: str
    url: str
    hash: str | None
    download_type: DownloadType | None
    resolution: int | None
    source: str | None
    languages: tuple[str, ...]
    version: int | None
    size_bytes: int | None
    is_batch: bool
    held_reason: HeldReason | None
    is_filtered: bool
    filter_reason: Reason[FilterReason] | None
    created_at: datetime


def page(
    conn: Connection, *, before: int = BIGGEST_ID, limit: int, series_id: int | None = None, held: bool = False
) -> list[Link]:
    """Links, the newest first: of one series, or only those that are held back."""
    queries = _SQL[series_id is not None, held]
    return [_link(row) for row in conn.all(queries.page, {"before": before, "limit": limit, "series_id": series_id})]


def _link(row: Row) -> Link:
    (
        link_id, key, raw_item_id, series_id, episode_id, kind, number, group, title, url, hash_, download_type, resolution,
        source, languages, version, size, is_batch, held, is_filtered, filter_reason, created,
    ) = row  # fmt: skip
    return Link(
        id=link_id,
        release_key=key,
        raw_item_id=raw_item_id,
        series_id=series_id,
        episode_id=episode_id,
        episode_kind=None if kind is None else ReleaseKind(kind),
        episode_number=number,
        group=group,
        title=title,
        url=url,
        hash=hash_,
        download_type=None if download_type is None else DownloadType(download_type),
        resolution=resolution,
        source=source,
        languages=tuple(json.loads(languages)),
        version=version,
        size_bytes=size,
        is_batch=bool(is_batch),
        held_reason=None if held is None else HeldReason(held),
        is_filtered=bool(is_filtered),
        filter_reason=read_reason(FilterReason, filter_reason),
        created_at=to_datetime(created),
    )
