"""Reads the history from what is stored about releases, downloads, placements and the trash."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from kurabito.clock import from_datetime, to_datetime
from kurabito.db import Connection, Queries, Query
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.downloads.history.entry import HistoryEntry, HistoryFilter, HistoryPlace, Source
from kurabito.downloads.reasons import DownloadReason
from kurabito.reasons import read_reason

_ENTRY: Final = ColumnList(
    "at, id, series_id, series, season, episode, episodes, title, download_id, downloader, reason, path, size_bytes"
)
_RELEASE: Final = """link.series_id, series.title AS series, series.season, episode.number AS episode,
    (SELECT count(*) FROM anime_links AS part WHERE part.release_key = link.release_key) AS episodes, link.title"""
_DOWNLOADS: Final = ("downloads AS download", "anime_links AS link")
_PLACEMENTS: Final = ("placements AS placement", "placement_episodes AS of_placement", "episodes AS episode")
_TABLES: Final = {
    Source.SEEN: ("anime_links AS link",),
    Source.SENT: ("dispatch_attempts AS attempt", *_DOWNLOADS),
    Source.PLACED: _PLACEMENTS,
    Source.UPGRADED: _PLACEMENTS,
    Source.TRASHED: (),
}
"""From the one whose time counts to the one that names the show."""
_STATEMENTS: Final = {
    Source.SEEN: "links",
    Source.SENT: "attempts",
    Source.PLACED: "placements",
    Source.UPGRADED: "placements",
    Source.TRASHED: "trash",
}
_MOMENTS: Final = {
    Source.TAKEN: "created_at",
    Source.COMPLETED: "completed_at",
    Source.FAILED: "updated_at",
    Source.CANCELLED: "updated_at",
    Source.REMOVED: "forgotten_at",
}
_STATES: Final = {
    Source.COMPLETED: "download.completed_at IS NOT NULL",
    Source.FAILED: "download.status = 'failed'",
    Source.CANCELLED: "download.status = 'cancelled'",
    Source.REMOVED: "download.forgotten_at IS NOT NULL",
    Source.PLACED: "placement.replaces_path IS NULL",
    Source.UPGRADED: "placement.replaces_path IS NOT NULL",
}
_INDEXES: Final = {
    Source.SEEN: "ix_anime_links_created",
    Source.TAKEN: "ix_downloads_created",
    Source.SENT: "ix_dispatch_attempts_accepted",
    Source.COMPLETED: "ix_downloads_completed",
    Source.FAILED: "ix_downloads_failed",
    Source.CANCELLED: "ix_downloads_cancelled",
    Source.REMOVED: "ix_downloads_forgotten",
    Source.PLACED: "ix_placements_finished",
    Source.UPGRADED: "ix_placements_finished",
}
_OF_SHOW: Final = {
    Source.PLACED: "AND episode.series_id = :series_id",
    Source.UPGRADED: "AND episode.series_id = :series_id",
    Source.TRASHED: "AND trashed.series_id = :series_id",
}


class HistoryScope(StrEnum):
    """Which rows a source is read from."""

    ALL = "all"
    SHOW = "show"
    LINKS = "links"
    """Those of releases that are known already, because few have the text that is looked for."""


def _query(source: Source, scope: HistoryScope) -> Query:
    tables = _TABLES.get(source, _DOWNLOADS)
    narrowed = {
        HistoryScope.ALL: "",
        HistoryScope.SHOW: _OF_SHOW.get(source, "AND link.series_id = :series_id"),
        HistoryScope.LINKS: "AND link.id {among links}",
    }
    if scope is not HistoryScope.ALL:
        tables = tuple(reversed(tables))
    elif tables:
        # Without it SQLite goes by the state, and sorts all of it by time.
        tables = (f"{tables[0]} {{indexed_by {_INDEXES[source]}}}", *tables[1:])
    queries = Queries(
        "kurabito.downloads.history",
        "store.sql",
        release=_RELEASE,
        tables=" CROSS JOIN ".join(tables),
        moment=_MOMENTS.get(source, ""),
        state=_STATES.get(source, "true"),
        same="first.status = download.status" if source in (Source.FAILED, Source.CANCELLED) else "true",
        narrowed=narrowed[scope],
    )
    query: Query = getattr(queries, _STATEMENTS.get(source, "downloads"))
    return query


QUERIES: Final = {
    (source, scope): _query(source, scope)
    for source in Source
    for scope in HistoryScope
    if scope is not HistoryScope.LINKS or source not in _OF_SHOW
}
"""How each source is read. What files are called is compared where they are read, so they have no way by releases."""
_NAMED: Final = Queries("kurabito.downloads.history", "named.sql").named
_FEW: Final = 5_000


def few_links(conn: Connection, wanted: HistoryFilter) -> list[int] | None:
    """The releases that have the text that is looked for, if they are so few that it is quicker to begin with them."""
    if not wanted.text or wanted.series_id is not None:
        return None
    found = [link_id for (link_id,) in conn.all(_NAMED, {"text": wanted.text, "limit": _FEW + 1})]
    return found if len(found) <= _FEW else None


def entries(
    conn: Connection,
    source: Source,
    wanted: HistoryFilter,
    place: HistoryPlace,
    limit: int,
    links: list[int] | None = None,
) -> list[HistoryEntry]:
    """The first entries of a source behind a place, the newest first; `links` are those of `few_links`."""
    values: dict[str, Any] = {
        "at": place.at,
        "id": place.bound(source),
        "since": 0 if wanted.since is None else from_datetime(wanted.since),
        "text": wanted.text,
        "module_id": wanted.module_id,
        "series_id": wanted.series_id,
        "limit": limit,
    }
    scope = HistoryScope.ALL if wanted.series_id is None else HistoryScope.SHOW
    if links is not None and source not in _OF_SHOW:
        scope, values = HistoryScope.LINKS, {**values, "links": links}
    found = conn.all(QUERIES[source, scope], values)
    return [_entry(source, row) for row in found]


def _entry(source: Source, row: Row) -> HistoryEntry:
    of = _ENTRY.row(row)
    return HistoryEntry(
        source=source,
        key=of.id,
        at=to_datetime(of.at),
        series_id=of.series_id,
        series=of.series,
        season=of.season,
        episode=of.episode if of.episodes == 1 else None,
        episodes=of.episodes,
        title=of.title,
        download_id=of.download_id,
        downloader=of.downloader,
        reason=read_reason(DownloadReason, of.reason),
        path=of.path,
        size_bytes=of.size_bytes,
    )
