"""`thumbnails` as a leased table, and the limit on what is read for them.

A picture goes where its row says, below `thumbs` in the state folder: written under another name in `PARTS_FOLDER`, then renamed.
"""

from __future__ import annotations

from typing import Final

from kurabito.clock import SECOND
from kurabito.db.leases import CLAIM, HEARTBEAT, LEASE_COLUMNS, RECOVER, LeaseSpec
from kurabito.protocol.error_codes import ErrorCode, lost_worker

THUMBS_FOLDER: Final = "thumbs"
PARTS_FOLDER: Final = ".parts"
"""Below it. What is in here is not finished; when it is old it is left over."""

IO_BUCKET: Final = "thumbnail_io_global"

SMALLEST: Final = 16
LARGEST: Final = 4096

READY: Final = "success"
FAILED: Final = "failure"

MOST_LOST: Final = 3
"""So many workers are lost on a row before it is given up."""

_FIRST_RETRY: Final = 30 * SECOND
_LAST_RETRY: Final = 30 * 60 * SECOND

_CLAIM: Final = LEASE_COLUMNS | {"status", "worker_id", "started_at"}
_FAILED: Final = LEASE_COLUMNS | {"status", "error_code", "error_message", "error_count", "retry_after", "finished_at"}
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


def retry_delay(failures: int) -> int:
    """Microseconds to wait after so many failures: 30 seconds, twice as long each time, at most half an hour."""
    return min(_LAST_RETRY, _FIRST_RETRY << min(failures - 1, 16))


THUMBNAILS: Final = LeaseSpec(
    table="thumbnails",
    key="id",
    running="running",
    claimable="status = 'pending'",
    order="created_at, id",
    stale_becomes="'pending'",
    recovery_error=lost_worker,
    on_claim={"started_at": ":now"},
    on_recover={
        "error_code": f"'{ErrorCode.LEASE_EXPIRED}'",
        "error_message": ":error",
        "error_count": "thumbnails.error_count + 1",
    },
    writes={
        CLAIM: _CLAIM,
        HEARTBEAT: LEASE_COLUMNS,
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
