"""Downloads as they are stored. Every change names the states it may come from, so what is finished stays as it is."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kurabito.catalog.download_types import DownloadType
from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.downloads.dispatch import attempts
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.errors import DownloadNotFound
from kurabito.downloads.items import Owner, TransferDetail, is_obstacle, read_detail
from kurabito.downloads.reasons import DownloadReason
from kurabito.downloads.states import MOVES, CleanupKind, Status, before
from kurabito.reasons import Reason, read_reason
from kurabito.runtime.paging import BIGGEST_ID

_DOWNLOAD: Final = ColumnList(
    "download.id, download.link_id, download.module_id, module.service_name, download.status, download.hash, "
    "download.save_path, download.progress, download.size_bytes, download.downloaded_bytes, download.rate, download.peers, "
    "download.detail, download.reason, download.progressed_at, download.completed_at, download.created_at, "
    "download.updated_at, link.title, link.series_id, link.episode_id, download.owner, download.retry_at"
)
_JOINS: Final = (
    "JOIN anime_links AS link ON link.id = download.link_id "
    "LEFT JOIN service_modules AS module ON module.module_id = download.module_id"
)
_NOT_REFUSED: Final = """AND NOT EXISTS (
    SELECT 1 FROM dispatch_attempts AS attempt
    WHERE attempt.download_id = downloads.id AND attempt.module_id = :module_id AND attempt.outcome = 'rejected'
        AND attempt.sent_at >= downloads.queued_at)"""
_HAS_A_DOWNLOAD: Final = """WHEN EXISTS (
    SELECT 1 FROM anime_links AS link CROSS JOIN downloads AS download
    WHERE link.episode_id = episodes.id AND download.link_id = link.id AND """
_AS_ITS_DOWNLOADS_ARE: Final = (
    f"{_HAS_A_DOWNLOAD} download.status = 'completed' AND download.given_back_at IS NULL) THEN 'have' "
    f"{_HAS_A_DOWNLOAD} download.status IN ('pending', 'downloading', 'downloader_error')) THEN 'downloading'"
)
"""The first branches of a CASE that gives the state of an episode."""
_FILTERS: Final = {
    (False, False): "",
    (True, False): "AND download.status = :status",
    (False, True): "AND download.module_id = :module_id",
    (True, True): "AND download.status = :status AND download.module_id = :module_id",
}


def _queries(*, refused: str = "", narrowed: str = "") -> Queries:
    return Queries(
        "kurabito.downloads",
        "store.sql",
        refused=refused,
        cancellable=before(Status.CANCELLED),
        leaving="'downloading', 'downloader_error'",
        download=_DOWNLOAD,
        joins=_JOINS,
        as_its_downloads_are=_AS_ITS_DOWNLOADS_ARE,
        filter=narrowed,
    )


_SQL: Final = _queries()
_NOT_REFUSED_SQL: Final = _queries(refused=_NOT_REFUSED)
_PAGES: Final = {chosen: _queries(narrowed=text).page for chosen, text in _FILTERS.items()}


@dataclass(frozen=True, slots=True)
class Download:
    """One dispatch of one link."""

    id: int
    link_id: int
    module_id: int | None
    downloader: str | None
    status: Status
    hash: str | None
    save_path: str | None
    progress: float
    size_bytes: int | None
    downloaded_bytes: int
    rate: int | None
    """Bytes a second."""
    peers: int | None
    detail: str | None
    """What the downloader does with it, as it says so."""
    reason: Reason[DownloadReason] | None
    progressed_at: datetime | None
    """When it last made progress."""
    completed_at: datetime | None
    created_at: datetime
    updated_at: datetime
    title: str
    series_id: int
    episode_id: int | None
    owner: Owner | None = None
    """Who added it to its downloader; None where that does not tell."""
    retry_at: datetime | None = None
    """When it is tried again, where something has to pass first."""

    @property
    def is_yours(self) -> bool:
        """Whether the user added it, so that it is only watched."""
        return self.owner is Owner.USER

    @property
    def brought_programs(self) -> bool:
        """Whether it failed because programs were among its files."""
        codes = (DownloadReason.UNSAFE_FILES, DownloadReason.UNSAFE_REMOVED)
        return self.reason is not None and self.reason.code in codes

    @property
    def doing(self) -> Reason[TransferDetail] | None:
        """What the downloader does with it."""
        return read_detail(self.detail)

    @property
    def obstacle(self) -> Reason[TransferDetail] | None:
        """What keeps it from going on at its downloader, if that says so."""
        return self.doing if self.status is Status.DOWNLOADING and is_obstacle(self.doing) else None


def add(conn: Connection, link_ids: Iterable[int]) -> list[int]:
    """Queue the links: new downloads, and those that no downloader took; the ids. A download that is under way stays."""
    given = given_ids(link_ids)
    again = conn.all(_SQL.requeue_links, given)
    made = conn.all(_SQL.add, given)
    queued = sorted(found for (found,) in [*again, *made])
    restate_episodes(conn, queued)
    return queued


def requeue(conn: Connection, types: Sequence[DownloadType], *, not_refused_by: int | None = None) -> list[int]:
    """Queue those of these types that no downloader took; with a downloader, only what it did not refuse."""
    queries = _SQL if not_refused_by is None else _NOT_REFUSED_SQL
    rows = json.dumps([{"type": one.value} for one in types])
    found = conn.all(queries.requeue, {"rows": rows, "module_id": not_refused_by})
    queued = sorted(one for (one,) in found)
    restate_episodes(conn, queued)
    return queued


def cancel(
    conn: Connection,
    download_ids: Iterable[int],
    reason: Reason[DownloadReason],
    cleanup: CleanupKind = CleanupKind.CANCEL,
) -> set[int]:
    """Cancel all of these that are not completed; the downloaders that have something to clean up."""
    given = {**given_ids(download_ids), "reason": reason.stored()}
    cancelled = [one for (one,) in conn.all(_SQL.cancel, given)]
    restate_episodes(conn, cancelled)
    return attempts.request_cleanup(conn, cancelled, cleanup)


def of_links(conn: Connection, link_ids: Iterable[int]) -> dict[int, tuple[int, Status]]:
    """The last download of each of these links."""
    return {link_id: (found, Status(status)) for found, link_id, status in conn.all(_SQL.of_links, given_ids(link_ids))}


def cancellable(conn: Connection, link_ids: Iterable[int]) -> dict[int, int]:
    """The last download of each of these links, if it can be cancelled: what is complete stays so, also when it was given back."""
    found = {link: (one, status) for one, link, status in conn.all(_SQL.of_links, given_ids(link_ids))}
    return {link: one for link, (one, status) in found.items() if Status.CANCELLED in MOVES[Status(status)]}


def send_elsewhere(
    conn: Connection, download_ids: Iterable[int], reason: Reason[DownloadReason], *, has_stalled: bool = False
) -> list[int]:
    """Take downloads away from their downloader, which is asked what it has when it answers again; those that were there."""
    given = {**given_ids(download_ids), "reason": reason.stored(), "has_stalled": int(has_stalled)}
    left = sorted(one for (one,) in conn.all(_SQL.elsewhere, given))
    attempts.request_cleanup(conn, left, CleanupKind.LOOK)
    return left


def sharing(conn: Connection, download_id: int) -> list[int]:
    """The downloads with the same content at the same downloader, this one among them."""
    return [one for (one,) in conn.all(_SQL.sharing, {"id": download_id})] or [download_id]


def note_detail(conn: Connection, download: Download, detail: str | None) -> None:
    """Say what the downloader does with it now."""
    given = {"hash": download.hash, "module_id": download.module_id, "detail": detail}
    conn.run(_SQL.note_detail, given)


def forget(conn: Connection, download_id: int) -> None:
    """Show a download no longer."""
    conn.run(_SQL.forget, {"id": download_id})


def find(conn: Connection, download_id: int) -> Download:
    """The download; raises DownloadNotFound."""
    row = conn.one(_SQL.get, {"id": download_id})
    if row is None:
        raise DownloadNotFound(f"no download has the id {download_id}")
    return _download(row)


def page(
    conn: Connection,
    *,
    before_id: int = BIGGEST_ID,
    limit: int,
    status: Status | None = None,
    module_id: int | None = None,
) -> list[Download]:
    """Downloads, the newest first."""
    given = {"before": before_id, "limit": limit, "status": status, "module_id": module_id}
    return [_download(row) for row in conn.all(_PAGES[status is not None, module_id is not None], given)]


def restate_episodes(conn: Connection, download_ids: Collection[int]) -> None:
    """Have the episodes of these downloads say how far they are."""
    if download_ids:
        conn.run(_SQL.restate, given_ids(download_ids))


def restate_moved(conn: Connection, episode_ids: Collection[int]) -> None:
    """Have episodes whose links came or went say how far they are, by the downloads of the links that they have now."""
    if episode_ids:
        conn.run(_SQL.restate_moved, given_ids(episode_ids))


def _download(row: Row) -> Download:
    of = _DOWNLOAD.row(row)
    return Download(
        id=of.id,
        link_id=of.link_id,
        module_id=of.module_id,
        downloader=of.service_name,
        status=Status(of.status),
        hash=of.hash,
        save_path=of.save_path,
        progress=of.progress,
        size_bytes=of.size_bytes,
        downloaded_bytes=of.downloaded_bytes,
        rate=of.rate,
        peers=of.peers,
        detail=of.detail,
        reason=read_reason(DownloadReason, of.reason),
        progressed_at=optional_datetime(of.progressed_at),
        completed_at=optional_datetime(of.completed_at),
        created_at=to_datetime(of.created_at),
        updated_at=to_datetime(of.updated_at),
        title=of.title,
        series_id=of.series_id,
        episode_id=of.episode_id,
        owner=None if of.owner is None else Owner(of.owner),
        retry_at=optional_datetime(of.retry_at),
    )


def count_failed(conn: Connection, *, age: int, most: int) -> int:
    """How many failed within so many microseconds and are still wanted, counted up to a number."""
    return int(conn.value(_SQL.failed, {"age": age, "most": most}))


def failed_links(conn: Connection, *, age: int, most: int) -> list[int]:
    """The last download of each link that failed within so many microseconds and is still wanted."""
    return [found for (found,) in conn.all(_SQL.failed_links, {"age": age, "most": most})]
