"""Downloads as they are stored. Every change names the states it may come from, so what is finished stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from kurabito.catalog.download_types import DownloadType
from kurabito.clock import to_datetime
from kurabito.db import Connection, Dialect, Queries
from kurabito.db.port import Row
from kurabito.db.rows import JSON_ROWS
from kurabito.downloads.dispatch import attempts
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.errors import DownloadNotFound
from kurabito.downloads.items import Owner
from kurabito.downloads.reasons import DownloadReason
from kurabito.downloads.states import MOVES, CleanupKind, Status, before
from kurabito.feeds.raw_items import LARGEST
from kurabito.reasons import Reason, read_reason

_DOWNLOAD: Final = (
    "download.id, download.link_id, download.module_id, module.service_name, download.status, download.hash, "
    "download.save_path, download.progress, download.size_bytes, download.downloaded_bytes, download.rate, download.peers, "
    "download.detail, download.reason, download.progressed_at, download.completed_at, download.created_at, "
    "download.updated_at, link.title, link.series_id, link.episode_id, download.owner, download.retry_at"
)
_JOINS: Final = (
    "JOIN anime_links AS link ON link.id = download.link_id "
    "LEFT JOIN service_modules AS module ON module.module_id = download.module_id"
)
_TYPES: Final = {Dialect.SQLITE: "text", Dialect.POSTGRES: "download_type"}
_NOT_REFUSED: Final = """AND NOT EXISTS (
    SELECT 1 FROM dispatch_attempts AS attempt
    WHERE attempt.download_id = downloads.id AND attempt.module_id = :module_id AND attempt.outcome = 'rejected'
        AND attempt.sent_at >= downloads.queued_at)"""
_FILTERS: Final = {
    (False, False): "",
    (True, False): "AND download.status = :status",
    (False, True): "AND download.module_id = :module_id",
    (True, True): "AND download.status = :status AND download.module_id = :module_id",
}


def _queries(dialect: Dialect, given: str, *, refused: str = "", narrowed: str = "") -> Queries:
    return Queries(
        "kurabito.downloads",
        "store.sql",
        given=given,
        download_type=_TYPES[dialect],
        refused=refused,
        cancellable=before(Status.CANCELLED),
        leaving="'downloading', 'downloader_error'",
        download=_DOWNLOAD,
        joins=_JOINS,
        filter=narrowed,
    )


_SQL: Final = {dialect: _queries(dialect, given) for dialect, given in JSON_ROWS.items()}
_NOT_REFUSED_SQL: Final = {
    dialect: _queries(dialect, given, refused=_NOT_REFUSED) for dialect, given in JSON_ROWS.items()
}
_PAGES: Final = {chosen: _queries(Dialect.SQLITE, "", narrowed=text).page for chosen, text in _FILTERS.items()}


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
    """The downloader's own word for what it does with it."""
    reason: Reason[DownloadReason] | None
    progressed_at: datetime | None
    """When it last came further."""
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


class DownloadRequest(NamedTuple):
    """A download on its way to a downloader."""

    id: int
    link_id: int
    url: str
    download_type: DownloadType | None
    hash: str | None
    release_key: str
    series: str
    series_id: int
    avoids: int | None
    """The downloader that it was taken away from."""
    size_bytes: int | None
    has_stalled: bool
    """It stood still there."""
    tries: int
    """How often something that may pass kept it from being taken."""


class Ending(NamedTuple):
    """A download that nobody took, and why."""

    id: int
    status: Status
    reason: Reason[DownloadReason]
    retry_in: int | None = None
    """After how many microseconds it is tried again; None is when a downloader can take it."""


def add(conn: Connection, link_ids: Iterable[int]) -> list[int]:
    """Make the downloads of some links, and take up those that nobody could take; the ids. One that is under way stays."""
    given = given_ids(link_ids)
    again = conn.all(_SQL[conn.dialect].requeue_links, given)
    made = conn.all(_SQL[conn.dialect].add, given)
    return _restated(conn, sorted(found for (found,) in [*again, *made]))


def requeue(conn: Connection, types: Sequence[DownloadType], *, not_refused_by: int | None = None) -> list[int]:
    """Take up those of these types that nobody could take; with a downloader, only what it did not refuse."""
    queries = (_SQL if not_refused_by is None else _NOT_REFUSED_SQL)[conn.dialect]
    rows = json.dumps([{"type": one.value} for one in types])
    found = conn.all(queries.requeue, {"rows": rows, "module_id": not_refused_by})
    return _restated(conn, sorted(one for (one,) in found))


def requests(conn: Connection, download_ids: Iterable[int]) -> list[DownloadRequest]:
    """Those of these downloads that are on their way, in the order of their links."""
    found = conn.all(_SQL[conn.dialect].requests, given_ids(download_ids))
    return [
        DownloadRequest(one, link_id, url, None if kind is None else DownloadType(kind), *rest)
        for one, link_id, url, kind, *rest in found
    ]


def promised(conn: Connection) -> int:
    """How many bytes are still to come of what is under way, as far as that is known."""
    row = conn.one(_SQL[conn.dialect].promised)
    assert row is not None
    return int(row[0])


def held(conn: Connection, hashes: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What downloaders have already of these contents."""
    rows = json.dumps([{"hash": one} for one in sorted(set(hashes))])
    names = ("hash", "module_id", "status", "save_path", "progress", "size_bytes", "downloaded_bytes", "owner")
    found = conn.all(_SQL[conn.dialect].held_elsewhere, {"rows": rows})
    return {row[0]: dict(zip(names, row, strict=True)) for row in found}


def join_held(conn: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Have downloads stand for content that a downloader has already."""
    conn.run(_SQL[conn.dialect].join_held, {"rows": json.dumps(rows)})
    _restated(conn, [row["id"] for row in rows])


def accept(conn: Connection, rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """A downloader took these (`id`, `module_id`, `hash`, `save_path`, `owner`); those that were still wanted."""
    taken = {one for (one,) in conn.all(_SQL[conn.dialect].accept, {"rows": json.dumps(rows)})}
    _restated(conn, sorted(taken))
    return taken


def conclude(conn: Connection, endings: Sequence[Ending]) -> None:
    """Nobody took these."""
    rows = [{**one._asdict(), "reason": one.reason.stored()} for one in endings]
    conn.run(_SQL[conn.dialect].conclude, {"rows": json.dumps(rows)})
    _restated(conn, [one.id for one in endings])


def touch(conn: Connection, download_ids: Iterable[int]) -> None:
    """Say that somebody is working on these."""
    conn.run(_SQL[conn.dialect].touch, given_ids(download_ids))


def cancel(
    conn: Connection,
    download_ids: Iterable[int],
    reason: Reason[DownloadReason],
    owed: CleanupKind = CleanupKind.CANCEL,
) -> set[int]:
    """Cancel all of these that are not completed; the downloaders at which something has to be cleared up."""
    given = {**given_ids(download_ids), "reason": reason.stored()}
    cancelled = [one for (one,) in conn.all(_SQL[conn.dialect].cancel, given)]
    _restated(conn, cancelled)
    return attempts.owe(conn, cancelled, owed)


def of_links(conn: Connection, link_ids: Iterable[int]) -> dict[int, tuple[int, Status]]:
    """The last download of each of these links."""
    return {
        link_id: (found, Status(status))
        for found, link_id, status in conn.all(_SQL[conn.dialect].of_links, given_ids(link_ids))
    }


def cancellable(conn: Connection, link_ids: Iterable[int]) -> dict[int, int]:
    """The last download of each of these links, if it can be cancelled: what is complete stays so, also when it was given back."""
    found = {link: (one, status) for one, link, status in conn.all(_SQL[conn.dialect].of_links, given_ids(link_ids))}
    return {link: one for link, (one, status) in found.items() if Status.CANCELLED in MOVES[Status(status)]}


def send_elsewhere(
    conn: Connection, download_ids: Iterable[int], reason: Reason[DownloadReason], *, has_stalled: bool = False
) -> list[int]:
    """Take downloads away from their downloader, which is looked at when it answers again; those that were there."""
    given = {**given_ids(download_ids), "reason": reason.stored(), "has_stalled": int(has_stalled)}
    left = sorted(one for (one,) in conn.all(_SQL[conn.dialect].elsewhere, given))
    attempts.owe(conn, left, CleanupKind.LOOK)
    return left


def sharing(conn: Connection, download_id: int) -> list[int]:
    """The downloads that stand for the same content at the same downloader, this one among them."""
    return [one for (one,) in conn.all(_SQL[conn.dialect].sharing, {"id": download_id})] or [download_id]


def note_detail(conn: Connection, download: Download, detail: str | None) -> None:
    """Say what the downloader does with it now."""
    given = {"hash": download.hash, "module_id": download.module_id, "detail": detail}
    conn.run(_SQL[conn.dialect].note_detail, given)


def forget(conn: Connection, download_id: int) -> None:
    """Show a download no longer."""
    conn.run(_SQL[conn.dialect].forget, {"id": download_id})


def find(conn: Connection, download_id: int) -> Download:
    """The download; raises DownloadNotFound."""
    row = conn.one(_SQL[conn.dialect].get, {"id": download_id})
    if row is None:
        raise DownloadNotFound(f"no download has the id {download_id}")
    return _download(row)


def page(
    conn: Connection,
    *,
    before_id: int = LARGEST,
    limit: int,
    status: Status | None = None,
    module_id: int | None = None,
) -> list[Download]:
    """Downloads, the newest first."""
    given = {"before": before_id, "limit": limit, "status": status, "module_id": module_id}
    return [_download(row) for row in conn.all(_PAGES[status is not None, module_id is not None], given)]


def restate_episodes(conn: Connection, download_ids: Iterable[int]) -> None:
    """Have the episodes of these downloads say how far they are."""
    conn.run(_SQL[conn.dialect].restate, given_ids(download_ids))


def _restated(conn: Connection, download_ids: list[int]) -> list[int]:
    if download_ids:
        restate_episodes(conn, download_ids)
    return download_ids


def _download(row: Row) -> Download:
    (
        found_id, link_id, module_id, name, status, hash_, save_path, progress, size, downloaded, rate, peers, detail, reason,
        progressed, completed, created, updated, title, series_id, episode_id, owner, retry,
    ) = row  # fmt: skip
    return Download(
        id=found_id,
        link_id=link_id,
        module_id=module_id,
        downloader=name,
        status=Status(status),
        hash=hash_,
        save_path=save_path,
        progress=progress,
        size_bytes=size,
        downloaded_bytes=downloaded,
        rate=rate,
        peers=peers,
        detail=detail,
        reason=read_reason(DownloadReason, reason),
        progressed_at=None if progressed is None else to_datetime(progressed),
        completed_at=None if completed is None else to_datetime(completed),
        created_at=to_datetime(created),
        updated_at=to_datetime(updated),
        title=title,
        series_id=series_id,
        episode_id=episode_id,
        owner=None if owner is None else Owner(owner),
        retry_at=None if retry is None else to_datetime(retry),
    )
