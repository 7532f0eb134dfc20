"""Indexers and their last queries as they are stored. No other module writes their tables."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from kurabito.clock import SECOND, optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.errors import UniqueConflict
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.indexers.errors import IndexerConflict, IndexerNotFound, IndexerResting
from kurabito.indexers.model import AskedQuery, IndexerKind, IndexerSettings, IndexerStatus, StoredIndexer, check
from kurabito.reasons import InputReason, refused

_INDEXER: Final = ColumnList(
    "id, kind, name, site, url, api_key, categories, min_seeders, priority, per_hour, is_enabled, allows_private, proxy, seed_ratio, "
    "seed_minutes, failures, "
    "error_code, error_message, rests_until, last_success_at, last_failure_at, created_at, updated_at"
)
_QUERY: Final = ColumnList("query, asked_at, results, error_code")
_SQL: Final = Queries("kurabito.indexers", "store.sql", indexer=_INDEXER, query=_QUERY)
_HOUR: Final = 3_600 * SECOND
_KEPT: Final = 50
_LONGEST_QUERY: Final = 300
_LONGEST_MESSAGE: Final = 1_000
_FIRST_REST: Final = 60.0
_LONGEST_REST: Final = 6 * 3_600.0


def add(conn: Connection, settings: IndexerSettings) -> StoredIndexer:
    """Store an indexer; raises InvalidInput or IndexerConflict."""
    check(settings)
    _check_name(conn, settings.name)
    try:
        return find(conn, conn.value(_SQL.add, _stored(settings)))
    except UniqueConflict:
        raise _taken() from None


def find(conn: Connection, indexer_id: int) -> StoredIndexer:
    """The indexer; raises IndexerNotFound."""
    row = conn.one(_SQL.get, {"id": indexer_id})
    if row is None:
        raise IndexerNotFound(f"no indexer has the id {indexer_id}")
    return _indexer(row)


def everything(conn: Connection) -> list[StoredIndexer]:
    """Every indexer, the one to be named first at the front."""
    return [_indexer(row) for row in conn.all(_SQL.everything)]


def change(conn: Connection, indexer_id: int, changes: dict[str, Any]) -> StoredIndexer:
    """Change how an indexer is asked; what is not named stays."""
    old = find(conn, indexer_id).settings
    new = replace(old, **changes)
    check(new)
    _check_name(conn, new.name, indexer_id)
    own = {"id": indexer_id}
    conn.run(_SQL.change, own | _stored(new))
    if _way(new) != _way(old):
        conn.run(_SQL.restart, own)
    return find(conn, indexer_id)


def remove(conn: Connection, indexer_id: int) -> None:
    """Forget an indexer; raises IndexerNotFound."""
    find(conn, indexer_id)
    conn.run(_SQL.remove, {"id": indexer_id})


def begin(conn: Connection, indexer_id: int, text: str, *, by_hand: bool = False) -> int:
    """Note a query before it is asked; its id. Raises IndexerResting at the limit, and while the indexer rests.

    A test `by_hand` asks one that rests: its keeper may have mended it. The limit of an hour holds for all.
    """
    indexer = _within_limit(conn, indexer_id)
    name, rests_until = indexer.settings.name, indexer.status.rests_until
    if rests_until is not None and rests_until > to_datetime(conn.now()) and not by_hand:
        raise IndexerResting(f"{name} failed and rests until {rests_until:%H:%M} UTC; test it to ask it before that")
    query_id: int = conn.value(_SQL.add_query, {"id": indexer_id, "query": text[:_LONGEST_QUERY]})
    conn.run(_SQL.forget_queries, {"id": indexer_id, "kept": _KEPT})
    return query_id


def admit(conn: Connection, indexer_id: int) -> None:
    """Note a request before it is sent; raises IndexerResting at the limit of an hour."""
    _within_limit(conn, indexer_id)
    values = {"id": indexer_id, "window": _HOUR}
    conn.run(_SQL.forget_requests, values)
    conn.run(_SQL.add_request, values)


def note_success(conn: Connection, indexer_id: int, query_id: int, results: int) -> None:
    """Write down that a query was answered."""
    conn.run(_SQL.answer_query, {"query_id": query_id, "results": results, "error_code": None})
    conn.run(_SQL.note_success, {"id": indexer_id})


def note_failure(
    conn: Connection, indexer_id: int, query_id: int, code: str, message: str, retry_after: float | None = None
) -> None:
    """Write down that a query failed. The indexer rests twice as long after each failure, and as long as it asked for."""
    conn.run(_SQL.answer_query, {"query_id": query_id, "results": None, "error_code": code})
    row = conn.one(_SQL.get, {"id": indexer_id})
    if row is None:
        return
    failures = _indexer(row).status.failures
    rest = max(min(_FIRST_REST * 2 ** min(failures, 20), _LONGEST_REST), retry_after or 0.0)
    values = {"id": indexer_id, "error_code": code, "error_message": message[:_LONGEST_MESSAGE]}
    conn.run(_SQL.note_failure, {**values, "rest": round(rest * SECOND)})


def note_limit(conn: Connection, query_id: int, code: str) -> None:
    """Write down that a query was not asked because of the limit, which is no fault of the indexer."""
    conn.run(_SQL.answer_query, {"query_id": query_id, "results": None, "error_code": code})


def queries(conn: Connection, indexer_id: int, limit: int = 20) -> list[AskedQuery]:
    """The last queries, the newest first."""
    rows = (_QUERY.row(row) for row in conn.all(_SQL.queries, {"id": indexer_id, "limit": limit}))
    return [
        AskedQuery(text=of.query, asked_at=to_datetime(of.asked_at), results=of.results, error_code=of.error_code)
        for of in rows
    ]


def _within_limit(conn: Connection, indexer_id: int) -> StoredIndexer:
    conn.run(_SQL.hold, {"id": indexer_id})
    indexer = find(conn, indexer_id)
    most = indexer.settings.per_hour
    if conn.value(_SQL.count_recent, {"id": indexer_id, "window": _HOUR}) >= most:
        raise IndexerResting(
            f"{indexer.settings.name} was asked {most} times in the last hour, which is its limit; try again later"
        )
    return indexer


def _check_name(conn: Connection, name: str, own: int | None = None) -> None:
    if conn.value(_SQL.by_name, {"name": name}) not in (None, own):
        raise _taken()


def _taken() -> IndexerConflict:
    problem = "another indexer has this name already; choose another"
    return IndexerConflict(problem, field="name", reason=refused(InputReason.NAME_TAKEN))


def _way(settings: IndexerSettings) -> tuple[str | None, str | None, bool, str | None]:
    return settings.url, settings.api_key, settings.allows_private, settings.proxy


def _stored(settings: IndexerSettings) -> dict[str, Any]:
    return {
        "kind": settings.kind.value,
        "name": settings.name,
        "site": settings.site,
        "url": settings.url,
        "api_key": settings.api_key,
        "categories": json.dumps(settings.categories),
        "min_seeders": settings.min_seeders,
        "priority": settings.priority,
        "per_hour": settings.per_hour,
        "is_enabled": int(settings.is_enabled),
        "allows_private": int(settings.allows_private),
        "proxy": settings.proxy,
        "seed_ratio": settings.seed_ratio,
        "seed_minutes": settings.seed_minutes,
    }


def _indexer(row: Row) -> StoredIndexer:
    of = _INDEXER.row(row)
    settings = IndexerSettings(
        kind=IndexerKind(of.kind),
        name=of.name,
        site=of.site,
        url=of.url,
        api_key=of.api_key,
        categories=tuple(json.loads(of.categories)),
        min_seeders=of.min_seeders,
        priority=of.priority,
        per_hour=of.per_hour,
        is_enabled=bool(of.is_enabled),
        allows_private=bool(of.allows_private),
        proxy=of.proxy,
        seed_ratio=of.seed_ratio,
        seed_minutes=of.seed_minutes,
    )
    return StoredIndexer(
        id=of.id,
        settings=settings,
        status=IndexerStatus.read(of, rests_until=optional_datetime(of.rests_until)),
        created_at=to_datetime(of.created_at),
        updated_at=to_datetime(of.updated_at),
    )
