"""The items of feeds as they came, each kept once, whatever became of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from kurabito.clock import from_datetime, optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.feeds.results import FeedItem
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.titles import LONGEST_TITLE
from kurabito.titles.text import storable

_LONGEST_URL: Final = 8_192
_LONGEST_DESCRIPTION: Final = 2_000
_LONGEST_IDENTITY: Final = 300
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}:[^\x00-\x1f\x7f]+")
_FILTERS: Final = {
    (False, False): "",
    (True, False): "AND status = :status",
    (False, True): "AND subscription_id = :subscription_id",
    (True, True): "AND status = :status AND subscription_id = :subscription_id",
}
_ITEM: Final = ColumnList(
    "id, subscription_id, identity, title, description, download_url, pub_date, size_bytes, info_hash, fetcher_source, status, "
    "reason, release_key, created_at"
)
_SQL: Final = {
    chosen: Queries("kurabito.feeds", "raw_items.sql", item=_ITEM, filter=text) for chosen, text in _FILTERS.items()
}


class RawStatus(StrEnum):
    """What became of an item."""

    PARSED = "parsed"
    FAILED = "failed"
    SKIPPED = "skipped"


class RawReason(StrEnum):
    """Why an item is not a link."""

    NO_TITLE = "no_title"
    """No series could be read from its title; a rule can help."""
    NO_URL = "no_url"
    BAD_URL = "bad_url"
    BEFORE_START = "before_start"
    """It was there before the subscription began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawItem(FeedItem):
    """An item as it is kept, and what became of it."""

    id: int
    subscription_id: int
    fetcher_source: str | None
    status: RawStatus
    reason: RawReason | None
    release_key: str | None
    created_at: datetime


def clean(item: FeedItem) -> FeedItem:
    """The item as any database can hold it: no half characters and nothing endless. What cannot be used is left out."""
    size, date = item.size_bytes, item.pub_date
    return FeedItem(
        title=clean_text(item.title[:LONGEST_TITLE]).strip(),
        download_url=clean_text(item.download_url).strip() or None,
        description=clean_text(item.description)[:_LONGEST_DESCRIPTION] or None,
        pub_date=date if date is None or date.tzinfo else date.replace(tzinfo=UTC),
        guid=clean_text(item.guid).strip() or None,
        size_bytes=size if size is not None and 0 <= size <= BIGGEST_ID else None,
        info_hash=clean_text(item.info_hash).strip()[:100] or None,
        download_type=item.download_type,
    )


def identity_of(item: FeedItem) -> str:
    """What a clean item is known by among those of its feed. It is short: indexes hold no long texts."""
    identity = item.guid or item.download_url or f"title:{item.title}"
    return identity if len(identity) <= _LONGEST_IDENTITY else f"sha256:{hashlib.sha256(identity.encode()).hexdigest()}"


def problem_of(item: FeedItem) -> RawReason | None:
    """Why nothing can be downloaded from the URL of a clean item; None when it can."""
    url = item.download_url
    if url is None:
        return RawReason.NO_URL
    return None if len(url) <= _LONGEST_URL and _SCHEME.fullmatch(url) else RawReason.BAD_URL


def clean_text(text: str | None) -> str:
    """The text without what no database holds: NUL and lone halves of surrogate pairs."""
    return storable(text or "")


def known(conn: Connection, subscription_id: int, identities: Iterable[str]) -> dict[str, RawStatus]:
    """What became of those items that were received before, by their identity."""
    rows = json.dumps([{"identity": identity} for identity in identities])
    found = conn.all(_sql(conn).known, {"subscription_id": subscription_id, "rows": rows})
    return {identity: RawStatus(status) for identity, status in found}


def new_row(item: FeedItem, status: RawStatus, reason: RawReason | None, release_key: str | None) -> dict[str, Any]:
    """A clean item as `add` keeps it."""
    return {
        "identity": identity_of(item),
        "title": item.title,
        "description": item.description,
        "download_url": item.download_url and item.download_url[:_LONGEST_URL],
        "pub_date": None if item.pub_date is None else from_datetime(item.pub_date),
        "size_bytes": item.size_bytes,
        "info_hash": item.info_hash,
        "status": status,
        "reason": reason,
        "release_key": release_key,
    }


def add(
    conn: Connection, subscription_id: int, fetcher_source: str | None, rows: Sequence[Mapping[str, Any]]
) -> dict[str, int]:
    """Keep items that are new; their ids by their identity. Those that are known already stay as they are."""
    source = clean_text(fetcher_source) or None
    values = {"subscription_id": subscription_id, "fetcher_source": source, "rows": json.dumps(rows)}
    return {identity: item_id for item_id, identity in conn.all(_sql(conn).add, values)}


def mark_parsed(conn: Connection, item_id: int, release_key: str) -> bool:
    """Say that a failed item could be read after all; false when it was no longer failed."""
    return conn.run(_sql(conn).mark_parsed, {"id": item_id, "release_key": release_key}) == 1


def page(
    conn: Connection,
    *,
    before: int = BIGGEST_ID,
    limit: int,
    status: RawStatus | None = None,
    subscription_id: int | None = None,
) -> list[RawItem]:
    """Items, the newest first."""
    queries = _SQL[status is not None, subscription_id is not None]
    values = {"before": before, "limit": limit, "status": status, "subscription_id": subscription_id}
    return [_raw_item(row) for row in conn.all(queries.page, values)]


def _sql(conn: Connection) -> Queries:
    return _SQL[False, False]


def _raw_item(row: Row) -> RawItem:
    of = _ITEM.row(row)
    return RawItem(
        id=of.id,
        subscription_id=of.subscription_id,
        guid=of.identity,
        title=of.title,
        description=of.description,
        download_url=of.download_url,
        pub_date=optional_datetime(of.pub_date),
        size_bytes=of.size_bytes,
        info_hash=of.info_hash,
        fetcher_source=of.fetcher_source,
        status=RawStatus(of.status),
        reason=None if of.reason is None else RawReason(of.reason),
        release_key=of.release_key,
        created_at=to_datetime(of.created_at),
    )
