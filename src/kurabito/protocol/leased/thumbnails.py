"""`thumbnails` and `thumbnail_cleanup_jobs` as leased tables, and the limit on what is read for them.

A picture goes where its row says, below `thumbs` in the state folder: written under another name in `PARTS_FOLDER`, then renamed.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from kurabito.clock import SECOND
from kurabito.db.leases import CLAIM, HEARTBEAT, RECOVER, LeaseSpec
from kurabito.db.port import Dialect
from kurabito.protocol.enums import MediaType
from kurabito.protocol.error_codes import ErrorCode

THUMBS_FOLDER: Final = "thumbs"
PARTS_FOLDER: Final = ".parts"
"""Below it. What is in here is not finished, and nobody's when it is old."""

IO_BUCKET: Final = "thumbnail_io_global"

SMALLEST: Final = 16
LARGEST: Final = 4096

READY: Final = "success"
FAILED: Final = "failure"
FINISH: Final = "finish"

MOST_LOST: Final = 3
"""So many workers are lost on a row before it is given up."""

_FIRST_RETRY: Final = 30 * SECOND
_LAST_RETRY: Final = 30 * 60 * SECOND

_LEASE: Final = frozenset({"worker_heartbeat_at", "lease_expires_at", "updated_at"})
_CLAIM: Final = _LEASE | {"status", "worker_id", "started_at"}
_FAILED: Final = _LEASE | {"status", "error_code", "error_message", "error_count", "retry_after", "finished_at"}
_READY: Final = _FAILED | {"width", "height", "bytes_size"}

READY_VALUES: Final = ("width", "height", "bytes_size")
READY_COLUMNS: Final = {
    "status": "'ready'",
    "width": ":width",
    "height": ":height",
    "bytes_size": ":bytes_size",
    "error_code": "NULL",
    "error_message": "NULL",
    "error_count": "0",
    "retry_after": "NULL",
    "finished_at": ":now",
}
FAILED_VALUES: Final = ("error_code", "error_message", "delay")
FAILED_COLUMNS: Final = {
    "status": "'failed'",
    "error_code": ":error_code",
    "error_message": ":error_message",
    "error_count": "thumbnails.error_count + 1",
    "retry_after": ":now + :delay",
    "finished_at": ":now",
}
GIVEN_BACK_COLUMNS: Final = {"status": "'pending'", "worker_id": "NULL", "worker_heartbeat_at": "NULL"}
"""What its owner writes on a row that it did not come to."""


def retry_delay(failures: int) -> int:
    """Microseconds to wait after so many failures: 30 seconds, twice as long each time, at most half an hour."""
    return min(_LAST_RETRY, _FIRST_RETRY << min(failures - 1, 16))


def _lost(owner: str | None) -> str:
    name = owner.partition("#")[0] if owner else "unknown"
    return f"the worker {name} stopped renewing its lease"


THUMBNAILS: Final = LeaseSpec(
    table="thumbnails",
    key="id",
    running="running",
    claimable="status = 'pending'",
    order="created_at, id",
    stale_becomes="'pending'",
    recovery_error=_lost,
    on_claim={"started_at": ":now"},
    on_recover={
        "error_code": f"'{ErrorCode.LEASE_EXPIRED}'",
        "error_message": ":error",
        "error_count": "thumbnails.error_count + 1",
    },
    writes={
        CLAIM: _CLAIM,
        HEARTBEAT: _LEASE,
        READY: _READY,
        FAILED: _FAILED,
        # No path is named for recovery, so it may write what claim and finish may.
        RECOVER: _CLAIM | _READY,
    },
    returns=(
        "id",
        "file_id",
        "media_type",
        "format",
        "max_dimension",
        "source_size_bytes",
        "source_mtime_ns",
        "output_path",
        "error_code",
        "error_count",
    ),
    types={
        "width": "integer",
        "height": "integer",
        "bytes_size": "bigint",
        "error_code": "text",
        "error_message": "text",
        "delay": "bigint",
    },
)

_CLEANUP_CLAIM: Final = _LEASE | {"status", "worker_id", "finished_at"}
_CLEANUP_FINISH: Final = _LEASE | {"status", "error_code", "error_message", "finished_at"}

CLEANUP_VALUES: Final = ("status", "error_code", "error_message")
CLEANUP_COLUMNS: Final = {
    "status": ":status",
    "error_code": ":error_code",
    "error_message": ":error_message",
    "finished_at": ":now",
}

CLEANUPS: Final = LeaseSpec(
    table="thumbnail_cleanup_jobs",
    key="id",
    running="running",
    claimable=(
        "status = 'pending' AND execute_after <= :now AND NOT EXISTS (SELECT 1 FROM thumbnails AS wanted "
        "WHERE wanted.group_key = thumbnail_cleanup_jobs.group_key AND wanted.status IN ('pending', 'running'))"
    ),
    order="execute_after, id",
    stale_becomes="'pending'",
    recovery_error=_lost,
    on_claim={"finished_at": "NULL"},
    on_recover={"error_code": f"'{ErrorCode.LEASE_EXPIRED}'", "error_message": ":error"},
    writes={
        CLAIM: _CLEANUP_CLAIM,
        # Neither a heartbeat nor a recovery is named: the lease itself, and what claim and finish may.
        HEARTBEAT: _LEASE,
        FINISH: _CLEANUP_FINISH,
        RECOVER: _CLEANUP_CLAIM | _CLEANUP_FINISH,
    },
    returns=("id", "group_key"),
    types={"status": "text", "error_code": "text", "error_message": "text"},
)


@cache
def pending_query(media_type: MediaType, dialect: Dialect) -> str:
    """Selects the first pending thumbnails of a media type, for a claim."""
    return dialect.say(
        f"SELECT id FROM thumbnails WHERE status = 'pending' AND media_type = '{media_type}' "
        f"ORDER BY created_at, id LIMIT :limit {{skip_locked}}"
    )
