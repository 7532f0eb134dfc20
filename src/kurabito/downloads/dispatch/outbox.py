"""Downloads on their way to a downloader: what is to be sent, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kurabito.catalog.download_types import DownloadType
from kurabito.db import Connection, Queries
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.reasons import DownloadReason
from kurabito.downloads.states import Status
from kurabito.downloads.store import restate_episodes
from kurabito.reasons import Reason

_SQL: Final = Queries("kurabito.downloads.dispatch", "outbox.sql")


class DownloadRequest(NamedTuple):
    """A download on its way to a downloader."""

    id: int
    link_id: int
    url: str
    download_type: DownloadType | None
    hash: str | None
    series: str
    series_id: int
    avoids: int | None
    """The downloader that it was taken away from."""
    size_bytes: int | None
    has_stalled: bool
    """It stalled there."""
    tries: int
    """How often it was not taken for a reason that may pass."""
    seed_ratio: float | None = None
    """What the indexer wants that it was found at, as is what follows."""
    seed_minutes: int | None = None


class Ending(NamedTuple):
    """A download that no downloader took, and why."""

    id: int
    status: Status
    reason: Reason[DownloadReason]
    retry_in: int | None = None
    """After how many microseconds it is tried again; None is when a downloader can take it."""


def requests(conn: Connection, download_ids: Iterable[int]) -> list[DownloadRequest]:
    """Those of these downloads that are on their way, in the order of their links."""
    found = conn.all(_SQL.requests, given_ids(download_ids))
    return [
        DownloadRequest(one, link_id, url, None if kind is None else DownloadType(kind), *rest)
        for one, link_id, url, kind, *rest in found
    ]


def promised(conn: Connection) -> int:
    """How many bytes are still to come of what is under way, as far as that is known."""
    return int(conn.value(_SQL.promised))


def held(conn: Connection, hashes: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What downloaders have already of these contents."""
    rows = json.dumps([{"hash": one} for one in sorted(set(hashes))])
    names = ("hash", "module_id", "status", "save_path", "progress", "size_bytes", "downloaded_bytes", "owner")
    found = conn.all(_SQL.held_elsewhere, {"rows": rows})
    contents = (dict(zip(names, row, strict=True)) for row in found)
    return {content["hash"]: content for content in contents}


def join_held(conn: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Give downloads the content that a downloader has already."""
    conn.run(_SQL.join_held, {"rows": json.dumps(rows)})
    restate_episodes(conn, [row["id"] for row in rows])


def accept(conn: Connection, rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """A downloader took these (`id`, `module_id`, `hash`, `save_path`, `owner`); those that were still wanted."""
    taken = {one for (one,) in conn.all(_SQL.accept, {"rows": json.dumps(rows)})}
    restate_episodes(conn, sorted(taken))
    return taken


def conclude(conn: Connection, endings: Sequence[Ending]) -> None:
    """No downloader took these."""
    rows = [{**one._asdict(), "reason": one.reason.stored()} for one in endings]
    conn.run(_SQL.conclude, {"rows": json.dumps(rows)})
    restate_episodes(conn, [one.id for one in endings])


def touch(conn: Connection, download_ids: Iterable[int]) -> None:
    """Say that a task is working on these."""
    conn.run(_SQL.touch, given_ids(download_ids))
