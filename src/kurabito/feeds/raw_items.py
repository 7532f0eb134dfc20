"""The items of feeds as they came, each kept once, whatever became of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from kurabito.clock import from_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import JSON_ROWS
from kurabito.feeds.results import FetchedItem
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.titles import LONGEST_TITLE

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
_SQL: Final = {
    (dialect, chosen): Queries("kurabito.feeds", "raw_items.sql", given=given, filter=text)
    for dialect, given in JSON_ROWS.items()
    for chosen, text in _FILTERS.items()
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


@dataclass(frozen=True, slots=True)
class CleanItem:
    """An item that any database can hold: no half characters, nothing endless, and a name to know it by."""

    identity: str
    title: str
    description: str | None
    download_url: str | None
    pub_date: int | None
    size_bytes: int | None
    info_hash: str | None
    is_chosen: bool
    problem: RawReason | None
    """Why its URL cannot be downloaded from."""


@dataclass(frozen=True, slots=True)
class RawItem:
    """An item as it is kept."""

    id: int
    subscription_id: int
    title: str
    description: str | None
    download_url: str | None
    pub_date: datetime | None
    size_bytes: int | None
    info_hash: str | None
    fetcher_source: str | None
    status: RawStatus
    reason: RawReason | None
    release_key: str | None
    created_at: datetime


def clean(item: FetchedItem) -> CleanItem:
    """The item as it can be kept. Nothing makes it fail: what cannot be used is left out, and says so."""
    url = clean_text(item.download_url).strip()
    title = clean_text(item.title[:LONGEST_TITLE]).strip()
    size = item.size_bytes
    return CleanItem(
        identity=_short(clean_text(item.guid).strip() or url or f"title:{title}"),
        title=title,
        description=clean_text(item.description)[:_LONGEST_DESCRIPTION] or None,
        download_url=url[:_LONGEST_URL] or None,
        pub_date=_moment(item.pub_date),
        size_bytes=size if size is not None and 0 <= size <= BIGGEST_ID else None,
        info_hash=clean_text(item.info_hash).strip()[:100] or None,
        is_chosen=item.is_chosen,
        problem=_problem_of(url),
    )


def clean_text(text: str | None) -> str:
    """The text without what no database holds: NUL and lone halves of surrogate pairs."""
    return (text or "").encode("utf-8", "ignore").decode().replace("\x00", "")


def known(conn: Connection, subscription_id: int, items: Iterable[CleanItem]) -> dict[str, RawStatus]:
    """What became of those items that were received before, by their identity."""
    rows = json.dumps([{"identity": item.identity} for item in items])
    found = conn.all(_sql(conn).known, {"subscription_id": subscription_id, "rows": rows})
    return {identity: RawStatus(status) for identity, status in found}


def add(
    conn: Connection, subscription_id: int, fetcher_source: str | None, rows: Iterable[Mapping[str, Any]]
) -> dict[str, int]:
    """Keep items that are new; their ids by their identity. Those that are known already stay as they are."""
    values = {"subscription_id": subscription_id, "fetcher_source": fetcher_source, "rows": json.dumps(list(rows))}
    return {identity: item_id for item_id, identity in conn.all(_sql(conn).add, values)}


def understand(conn: Connection, item_id: int, release_key: str) -> bool:
    """Say that a failed item could be read after all; false when it was no longer failed."""
    return conn.run(_sql(conn).understand, {"id": item_id, "release_key": release_key}) == 1


def page(
    conn: Connection,
    *,
    before: int = BIGGEST_ID,
    limit: int,
    status: RawStatus | None = None,
    subscription_id: int | None = None,
) -> list[RawItem]:
    """Items, the newest first."""
    queries = _SQL[conn.dialect, (status is not None, subscription_id is not None)]
    values = {"before": before, "limit": limit, "status": status, "subscription_id": subscription_id}
    return [_raw_item(row) for row in conn.all(queries.page, values)]


def _sql(conn: Connection) -> Queries:
    return _SQL[conn.dialect, (False, False)]


def _short(identity: str) -> str:
    # Indexes hold no long texts.
    return identity if len(identity) <= _LONGEST_IDENTITY else f"sha256:{hashlib.sha256(identity.encode()).hexdigest()}"


def _problem_of(url: str) -> RawReason | None:
    if not url:
        return RawReason.NO_URL
    return None if len(url) <= _LONGEST_URL and _SCHEME.fullmatch(url) else RawReason.BAD_URL


def _moment(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _raw_item(row: Row) -> RawItem:
    item_id, subscription, title, description, url, date, size, info_hash, source, status, reason, key, created = row
    return RawItem(
        item_id,
        subscription,
        title,
        description,
        url,
        None if date is None else to_datetime(date),
        size,
        info_hash,
        source,
        RawStatus(status),
        None if reason is None else RawReason(reason),
        key,
        to_datetime(created),
    )
