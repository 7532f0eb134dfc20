"""The tables of the earlier system.

What a column means follows from ours of the same name, so only what differs is written down here. Its versions lacked now this
and now that column; a table is known by a few that all of them had.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from kurabito.db.adoption.values import moment

Cells = dict[str, Any]
"""A row as ours is written, by the name of the column; None where nothing is known."""

_JOB_STATUS: Final = ("pending", "running", "completed", "failed", "cancelled", "retryable")
_ALGORITHM: Final = ("blake3", "sha256")
_OF_OUR_DELETES: Final = {"plan", "restore", "purge"}
_SUPERSEDED: Final = (
    "worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL, error_code = 'SUPERSEDED', "
    "error_message = coalesce(nullif(trim(error_message), ''), 'another one was under way at the take-over')"
)


@dataclass(frozen=True, slots=True, eq=False)
class EarlierTable:
    """A table of the earlier system, and what becomes of it."""

    name: str
    """The name of ours. The earlier one has it too, or one of `also_called`."""
    made_by: int
    """The product migration that makes ours."""
    marks: frozenset[str]
    """Columns without which it is a table of some other program."""
    also_called: tuple[str, ...] = ()
    key: str = "id"
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The words that a column may hold."""
    renamed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the earlier system called a column of ours."""
    absent: Mapping[str, Callable[[Cells], Any]] = field(default_factory=dict)
    """What stands for a value that is needed and that it did not keep."""
    settle: Callable[[Cells], list[str]] = lambda _: []
    """A last look at a row; says what was changed that cannot be put back from ours."""
    twins: str = ""
    """A column that may be the same in two of theirs and not in two of ours: the second gets its id behind it."""
    is_essential: bool = False
    """Where not one of its rows can be carried over, its keys are not what they are thought to be: nothing is taken over."""
    one_active: str = ""
    """The index that allows one active row. It is made again once all rows are there and `supersede` has run."""
    supersede: str = ""


def leftovers_of(table: str) -> tuple[str, ...]:
    """Under which names a step that rebuilds a table, and was interrupted, leaves its rows lying."""
    return (
        f"{table}__new", f"{table}_new", f"new_{table}", f"_alembic_tmp_{table}",
        f"{table}_before", f"{table}__old", f"{table}_old", f"kurabito_aside_{table}",
    )  # fmt: skip


def _settle_library(cells: Cells) -> list[str]:
    path, found = cells.get("root_path"), []
    if path is not None and not path.startswith("/"):
        # It would be a folder below the one that this process was started in.
        cells["root_path"] = unknown_folder(cells.get("id"))
        found.append(f"its folder is no absolute path: {path!r}")
    if cells.get("ignored") is not None and not isinstance(_from_json(cells["ignored"]), list):
        cells["ignored"] = None
        found.append("its list of ignored names cannot be read")
    return found


def unknown_folder(library_id: Any) -> str:
    """The folder of a library whose own is not known: one that does not exist."""
    return f"/unknown/earlier-library-{library_id}"


def _settle_job(cells: Cells) -> list[str]:
    if cells.get("payload") is None:
        return []
    payload = _from_json(cells["payload"])
    if cells.get("library_id") is None and isinstance(payload, dict) and type(payload.get("library_id")) is int:
        cells["library_id"] = payload["library_id"]
    # The number of an earlier plan will be given to one of ours, and the old job must never be taken for a job of that plan.
    if isinstance(payload, dict) and not (cells.get("kind") == "delete" and payload.keys() & _OF_OUR_DELETES):
        return []
    cells["payload"] = json.dumps({"earlier": cells["payload"] if payload is None else payload}, ensure_ascii=False)
    return ["its payload means nothing to this version"]


def _settle_file(cells: Cells) -> list[str]:
    if cells.get("content_hash") is None or cells.get("hash_algorithm") is None:
        # Half of what is known about a content says nothing: it is hashed again.
        was_hashed = cells.get("content_hash") is not None or cells.get("hash_algorithm") is not None
        cells["needs_hash"] = 1 if was_hashed else cells.get("needs_hash")
    return []


def _settle_thumbnail(cells: Cells) -> list[str]:
    cells["group_key"] = _group_key(cells.get("group_key")) or f"file:{cells.get('file_id')}"
    path, found = cells.get("output_path"), []
    if path is not None:
        # Theirs were below /state/thumbs. One that is not below it names a file that is not ours to serve or to remove.
        path = path.partition("/state/thumbs/")[2] or path
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            path, found = None, [f"its picture lies outside the folder of thumbnails: {path}"]
    cells["output_path"] = path
    return found


def _settle_cleanup(cells: Cells) -> list[str]:
    cells["group_key"] = _group_key(cells.get("group_key"))
    return []


def _settle_rate_limit(cells: Cells) -> list[str]:
    if cells.get("next_available_at_ms") is not None:
        # In another unit it would be centuries ahead, and nothing would be read until then.
        cells["next_available_at_ms"] = moment(cells["next_available_at_ms"]) // 1000
    return []


def _group_key(key: str | None) -> str | None:
    return key.lower() if key is not None and key.lower().startswith(("blake3:", "sha256:")) else key


def _from_json(payload: str) -> Any:
    try:
        return json.loads(payload)
    except ValueError:
        return None


def _library_name(cells: Cells) -> str:
    return PurePosixPath(cells.get("root_path") or "").name or f"library {cells.get('id')}"


LIBRARIES: Final = EarlierTable(
    "library_roots", 10, frozenset(("id", "root_path")),
    also_called=("libraries",),
    words={"algorithm": _ALGORITHM, "hash_policy": ("candidates", "all")},
    renamed={"root_path": ("path", "root")},
    absent={"name": _library_name},
    settle=_settle_library,
    twins="name",
    is_essential=True,
)  # fmt: skip

EARLIER: Final = (
    LIBRARIES,
    EarlierTable(
        "jobs", 10, frozenset(("id", "kind", "status")),
        words={"kind": ("scan", "hash", "delete", "thumbnail"), "status": _JOB_STATUS},
        settle=_settle_job,
        one_active="ix_jobs_single_active_scan_hash",
        # The first one stays: running before pending, then the older, then the smaller id.
        supersede=f"UPDATE jobs SET status = 'retryable', {_SUPERSEDED} WHERE id IN ("
        "SELECT id FROM jobs WHERE status IN ('pending', 'running') AND kind IN ('scan', 'hash') "
        "ORDER BY status = 'pending', created_at, id LIMIT -1 OFFSET 1)",
    ),
    EarlierTable(
        "scan_sessions", 10, frozenset(("id", "status")),
        words={"status": ("running", "succeeded", "failed")},
    ),
    EarlierTable(
        "library_files", 10, frozenset(("id", "library_id", "relative_path")),
        words={"hash_algorithm": _ALGORITHM},
        absent={"size_bytes": lambda _: 0, "mtime_ns": lambda _: 0},
        settle=_settle_file,
        is_essential=True,
    ),
    EarlierTable(
        "thumbnails", 80, frozenset(("id", "file_id", "status")),
        words={
            "status": ("pending", "running", "ready", "failed"),
            "media_type": ("image", "video"),
            "format": ("jpeg", "webp"),
        },
        renamed={"output_path": ("output_relpath",)},
        absent={
            "thumb_key": lambda cells: f"earlier-{cells.get('id')}",
            "media_type": lambda _: "image",
            "format": lambda _: "jpeg",
            "max_dimension": lambda _: 256,
            "source_size_bytes": lambda _: 0,
            "source_mtime_ns": lambda _: 0,
            "output_path": lambda cells: f"earlier/{cells.get('id')}",
        },
        settle=_settle_thumbnail,
    ),
    EarlierTable(
        "thumbnail_cleanup_jobs", 80, frozenset(("id", "group_key", "status")),
        words={"status": ("pending", "running", "completed", "failed")},
        settle=_settle_cleanup,
        one_active="ux_thumbnail_cleanup_jobs_active",
        supersede=f"UPDATE thumbnail_cleanup_jobs SET status = 'failed', {_SUPERSEDED} WHERE id IN ("
        "SELECT id FROM (SELECT id, row_number() OVER "
        "(PARTITION BY group_key ORDER BY status = 'pending', created_at, id) AS place "
        "FROM thumbnail_cleanup_jobs WHERE status IN ('pending', 'running')) WHERE place > 1)",
    ),
    EarlierTable(
        "io_rate_limits", 80, frozenset(("bucket_key",)),
        key="bucket_key",
        absent={"next_available_at_ms": lambda _: 0},
        settle=_settle_rate_limit,
    ),
    EarlierTable(
        "wal_maintenance_jobs", 85, frozenset(("id",)),
        words={
            "requested_mode": ("passive", "restart", "truncate"),
            "status": ("pending", "running", "retryable", "completed", "failed"),
        },
        absent={"requested_mode": lambda _: "passive", "reason": lambda _: ""},
        one_active="ux_wal_maintenance_jobs_active",
        supersede=f"UPDATE wal_maintenance_jobs SET status = 'failed', {_SUPERSEDED} WHERE id IN ("
        "SELECT id FROM wal_maintenance_jobs WHERE status IN ('pending', 'running', 'retryable') "
        "ORDER BY status <> 'running', created_at, id LIMIT -1 OFFSET 1)",
    ),
)  # fmt: skip
