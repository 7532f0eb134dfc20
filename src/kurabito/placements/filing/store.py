"""Placements as they are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.placements.errors import PlacementNotFound
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.placements import PlacedBy, PlacementMode
from kurabito.protocol.leased.retries import FilingStatus
from kurabito.runtime.paging import BIGGEST_ID

_PLACEMENT: Final = ColumnList(
    "placement.id, placement.download_id, placement.library_id, library.name AS library, placement.mode, placement.fallbacks, "
    "placement.source_root, placement.source_path, placement.size_bytes, placement.target_path, placement.status, "
    "placement.method, placement.error_code, placement.error_facts, placement.retry_after, placement.created_at, "
    "placement.finished_at, placement.replaces_path, placement.is_placed, entry.id IS NOT NULL AS is_in_trash, "
    "placement.placed_inode IS NULL OR EXISTS (SELECT 1 FROM library_files AS file WHERE file.library_id = placement.library_id "
    "AND file.relative_path = placement.target_path AND file.is_missing = 0 AND file.inode = placement.placed_inode) AS is_there"
)
_FILTERS: Final = {
    (False, False): "",
    (True, False): "AND placement.status = :status",
    (False, True): "AND placement.download_id = :download_id",
    (True, True): "AND placement.status = :status AND placement.download_id = :download_id",
}
_QUERIES: Final = {
    chosen: Queries("kurabito.placements.filing", "store.sql", placement=_PLACEMENT, filter=text)
    for chosen, text in _FILTERS.items()
}
_SQL: Final = _QUERIES[False, False]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A file on its way into a library, or there."""

    id: int
    download_id: int | None
    library_id: int
    library: str
    modes: tuple[PlacementMode, ...]
    """How it may come into its place, the best first."""
    source: str | None
    """The whole path of the file that it comes from."""
    size_bytes: int
    target_path: str
    """Below the library's folder."""
    status: FilingStatus
    method: PlacedBy | None
    """How it came into its place; None until then."""
    error_code: ErrorCode | None
    """Why it waits, or failed."""
    error_facts: Mapping[str, Any]
    retry_at: datetime | None
    """When a placement that waits is tried again."""
    created_at: datetime
    finished_at: datetime | None
    replaces_path: str | None = None
    """The file of the library whose place it takes, or took."""
    is_undoable: bool = False
    """That file is in the trash, and can come back."""
    is_gone: bool = False
    """Its file has this name no more: it was renamed, replaced or removed."""
    is_placed: bool = False
    """The library had the file already, and only its name in the folder for downloads goes, or went."""


def page(
    conn: Connection,
    *,
    before: int = BIGGEST_ID,
    limit: int,
    status: FilingStatus | None = None,
    download_id: int | None = None,
) -> list[Placement]:
    """Placements, the newest first."""
    queries = _QUERIES[status is not None, download_id is not None]
    values = {"before": before, "limit": limit, "status": status, "download_id": download_id}
    return [_placement(row) for row in conn.all(queries.page, values)]


def of_download(conn: Connection, download_id: int, limit: int) -> tuple[list[Placement], int, int]:
    """Some placements of a download, those that are not done first; how many there are; how many of its names went."""
    rows = conn.all(_SQL.of_download, {"download_id": download_id, "limit": limit})
    counted = conn.one(_SQL.count_of_download, {"download_id": download_id})
    count, gone = counted or (0, 0)
    return [_placement(row) for row in rows], int(count), int(gone)


def find(conn: Connection, placement_id: int) -> Placement:
    """The placement; raises PlacementNotFound."""
    row = conn.one(_SQL.get, {"id": placement_id})
    if row is None:
        raise PlacementNotFound(f"no placement has the id {placement_id}")
    return _placement(row)


def retry(
    conn: Connection,
    placement_id: int,
    target_path: str | None = None,
    modes: Sequence[PlacementMode] = (),
) -> bool:
    """Have a placement that is not done tried again, now, perhaps elsewhere or otherwise; false when it is under way or done."""
    values = {
        "id": placement_id,
        "target_path": target_path,
        "mode": modes[0].value if modes else None,
        "fallbacks": json.dumps([mode.value for mode in modes[1:]]) if modes else None,
    }
    return conn.run(_SQL.retry, values) == 1


def inspection_of(conn: Connection, placement_id: int) -> tuple[int, int, str] | None:
    """The inspection that found its file, the series that the download is of, and the file's path in it; None where there is none."""
    found = conn.one(_SQL.inspection_of, {"id": placement_id})
    if found is None:
        return None
    inspection_id, series_id, source_path = found
    return int(inspection_id), int(series_id), str(source_path)


def list_again(conn: Connection, placement_id: int | None = None) -> None:
    """Have files listed again whose placement failed because one of them changed or is gone: of one placement, or of all."""
    conn.run(_SQL.list_again, {"id": placement_id})


def replace(conn: Connection, placement: Placement, *, size: int, mtime_ns: int, trash_id: str) -> None:
    """Have a placement take the place of the file that has its name, if that is still of this size and time."""
    values = {"id": placement.id, "size": size, "mtime_ns": mtime_ns, "trash_id": trash_id}
    conn.run(_SQL.replace, values)
    retry(conn, placement.id)


def undo(conn: Connection, placement_id: int, trash_id: str) -> int | None:
    """Make the placement that brings the file back whose place another took; None when that cannot be."""
    made = conn.value(_SQL.undo, {"id": placement_id, "trash_id": trash_id})
    if made is not None:
        conn.run(_SQL.undo_episodes, {"id": placement_id, "made": made})
    return None if made is None else int(made)


def leave(conn: Connection, placement_id: int) -> bool:
    """Give a placement up; false when it is under way or done."""
    return conn.run(_SQL.leave, {"id": placement_id}) == 1


def is_free(conn: Connection, library_id: int, target_path: str) -> bool:
    """Whether no file is known to have this name, or about to get it."""
    return conn.one(_SQL.taken, {"library_id": library_id, "target_path": target_path}) is None


def failed_ids(conn: Connection) -> list[int]:
    """The placements that wait for a person, as many as are tried again at once."""
    return [found for (found,) in conn.all(_SQL.failed_ids)]


def count_failed(conn: Connection, most: int) -> int:
    """How many placements wait for a person, up to so many."""
    return int(conn.value(_SQL.count_failed, {"most": most}))


def count_held_up(conn: Connection, most: int) -> int:
    """How many files and downloads were tried more than once, and are tried again later, up to so many."""
    return int(conn.value(_SQL.count_held_up, {"most": most}))


def keep_free(conn: Connection, reserve: int) -> None:
    """Have everything that waits leave so many bytes of its disk free: as the setting is now, and not as it was."""
    conn.run(_SQL.keep_free, {"reserve": reserve})


def hurry(conn: Connection) -> None:
    """Have everything that is tried again later tried now."""
    conn.run(_SQL.hurry_placements)
    conn.run(_SQL.hurry_inspections)


def count_questions(conn: Connection, most: int) -> int:
    """How many files wait for a person to say what they are, up to so many."""
    return int(conn.value(_SQL.count_questions, {"most": most}))


def _placement(values: Row) -> Placement:
    row = _PLACEMENT.row(values)
    is_done = row.status == FilingStatus.COMPLETED
    return Placement(
        id=row.id,
        download_id=row.download_id,
        library_id=row.library_id,
        library=row.library,
        modes=tuple(PlacementMode(mode) for mode in (row.mode, *json.loads(row.fallbacks))),
        source=None if row.source_path is None else str(PurePosixPath(row.source_root or "") / row.source_path),
        size_bytes=row.size_bytes,
        target_path=row.target_path,
        status=FilingStatus(row.status),
        method=PlacedBy(row.method) if is_done and row.method else None,
        error_code=None if row.error_code is None else ErrorCode(row.error_code),
        error_facts=json.loads(row.error_facts or "{}"),
        retry_at=None if row.retry_after is None else to_datetime(row.retry_after),
        created_at=to_datetime(row.created_at),
        finished_at=None if row.finished_at is None else to_datetime(row.finished_at),
        replaces_path=row.replaces_path,
        is_undoable=is_done and bool(row.is_in_trash),
        is_gone=is_done and not row.is_there,
        is_placed=bool(row.is_placed),
    )
