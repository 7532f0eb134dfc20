"""Links: what can be downloaded, and why something is not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kurabito.catalog.download_types import DownloadType
from kurabito.catalog.errors import LinkNotFound
from kurabito.catalog.identity.evidence import Clue
from kurabito.catalog.states import DoubtReason, FilterReason, HeldReason
from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.reasons import Reason, read_reason
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.titles import ReleaseKind

_LINK: Final = ColumnList(
    "link.id, link.release_key, link.raw_item_id, link.series_id, link.episode_id, episode.kind AS episode_kind, "
    "episode.number AS episode_number, groups.name AS group_name, link.title, link.url, link.hash, link.download_type, link.resolution, link.source, link.languages, link.version, "
    "link.size_bytes, link.is_batch, link.held_reason, link.is_filtered, link.filter_reason, link.created_at, link.held_why, "
    "link.clues, link.question_id"
)
_JOINS: Final = (
    "LEFT JOIN episodes AS episode ON episode.id = link.episode_id LEFT JOIN groups ON groups.id = link.group_id"
)
_FILTERS: Final = {
    (False, False): "",
    (True, False): "AND link.series_id = :series_id",
    (False, True): "AND link.held_reason IS NOT NULL",
    (True, True): "AND link.series_id = :series_id AND link.held_reason IS NOT NULL",
}
_SQL: Final = {
    chosen: Queries("kurabito.catalog", "links.sql", filter=text, link=_LINK, joins=_JOINS)
    for chosen, text in _FILTERS.items()
}


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
    held_why: Reason[DoubtReason] | None = None
    """What is doubtful about its title, where that holds it back."""
    clues: tuple[Clue, ...] = ()
    """What spoke for its series."""
    question_id: int | None = None
    """The question that holds it back."""


def page(
    conn: Connection, *, before: int = BIGGEST_ID, limit: int, series_id: int | None = None, held: bool = False
) -> list[Link]:
    """Links, the newest first: of one series, or only those that are held back."""
    queries = _SQL[series_id is not None, held]
    return [_link(row) for row in conn.all(queries.page, {"before": before, "limit": limit, "series_id": series_id})]


def find(conn: Connection, link_id: int) -> Link:
    """The link; raises LinkNotFound."""
    row = conn.one(_SQL[False, False].get, {"id": link_id})
    if row is None:
        raise LinkNotFound(f"no link has the id {link_id}")
    return _link(row)


def of_question(conn: Connection, question_id: int) -> list[Link]:
    """The links that a question holds back."""
    return [_link(row) for row in conn.all(_SQL[False, False].of_question, {"question_id": question_id})]


def _link(values: Row) -> Link:
    row = _LINK.row(values)
    return Link(
        id=row.id,
        release_key=row.release_key,
        raw_item_id=row.raw_item_id,
        series_id=row.series_id,
        episode_id=row.episode_id,
        episode_kind=None if row.episode_kind is None else ReleaseKind(row.episode_kind),
        episode_number=row.episode_number,
        group=row.group_name,
        title=row.title,
        url=row.url,
        hash=row.hash,
        download_type=None if row.download_type is None else DownloadType(row.download_type),
        resolution=row.resolution,
        source=row.source,
        languages=tuple(json.loads(row.languages)),
        version=row.version,
        size_bytes=row.size_bytes,
        is_batch=bool(row.is_batch),
        held_reason=None if row.held_reason is None else HeldReason(row.held_reason),
        is_filtered=bool(row.is_filtered),
        filter_reason=read_reason(FilterReason, row.filter_reason),
        created_at=to_datetime(row.created_at),
        held_why=read_reason(DoubtReason, row.held_why),
        clues=tuple(Clue(clue) for clue in json.loads(row.clues)),
        question_id=row.question_id,
    )
