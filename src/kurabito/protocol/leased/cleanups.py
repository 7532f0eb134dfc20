"""`thumbnail_cleanup_jobs` as a leased table: groups whose thumbnails are removed."""

from __future__ import annotations

from typing import Final

from kurabito.db.leases import CLAIM, HEARTBEAT, LEASE_COLUMNS, RECOVER, LeaseSpec
from kurabito.protocol.error_codes import ErrorCode, lost_worker

FINISH: Final = "finish"

_CLAIM: Final = LEASE_COLUMNS | {"status", "worker_id", "finished_at"}
_FINISH: Final = LEASE_COLUMNS | {"status", "error_code", "error_message", "finished_at"}

FINISH_VALUES: Final = ("status", "error_code", "error_message")
FINISH_COLUMNS: Final = {
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
    recovery_error=lost_worker,
    on_claim={"finished_at": "NULL"},
    on_recover={"error_code": f"'{ErrorCode.LEASE_EXPIRED}'", "error_message": ":error"},
    writes={
        CLAIM: _CLAIM,
        # Neither a heartbeat nor a recovery is named: the lease itself, and what claim and finish may.
        HEARTBEAT: LEASE_COLUMNS,
        FINISH: _FINISH,
        RECOVER: _CLAIM | _FINISH,
    },
    returns=("id", "group_key"),
    types={"status": "text", "error_code": "text", "error_message": "text"},
)
