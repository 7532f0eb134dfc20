"""`jobs` as a leased table: units of disk work, admitted by the control plane and executed by the data plane."""

from __future__ import annotations

from typing import Final

from kurabito.db.leases import CLAIM, HEARTBEAT, LEASE_COLUMNS, RECOVER, LeaseSpec
from kurabito.protocol.deletion import JOB_MAY_RUN
from kurabito.protocol.error_codes import ErrorCode, lost_worker

FINISH: Final = "finish"

_CLAIM: Final = LEASE_COLUMNS | {"status", "worker_id", "started_at"}
_FINISH: Final = LEASE_COLUMNS | {"status", "progress", "error_code", "error_message", "finished_at"}

FINISH_VALUES: Final = ("status", "progress", "error_code", "error_message")
FINISH_COLUMNS: Final = {
    "status": ":status",
    "progress": "coalesce(:progress, jobs.progress)",
    "error_code": ":error_code",
    "error_message": ":error_message",
    "finished_at": "CASE WHEN :status = 'retryable' THEN NULL ELSE :now END",
}
PROGRESS_VALUES: Final = ("processed_items", "progress")
PROGRESS_COLUMNS: Final = {"processed_items": ":processed_items", "progress": ":progress"}


JOBS: Final = LeaseSpec(
    table="jobs",
    key="id",
    running="running",
    claimable=f"status = 'pending' AND {JOB_MAY_RUN}",
    order="created_at, id",
    stale_becomes="'retryable'",
    recovery_error=lost_worker,
    on_claim={"started_at": ":now"},
    on_recover={"error_code": f"'{ErrorCode.LEASE_EXPIRED}'", "error_message": ":error"},
    # The control plane counts a worker as lost by these.
    on_release={"error_code": "NULL", "error_message": "NULL"},
    writes={
        CLAIM: _CLAIM,
        HEARTBEAT: LEASE_COLUMNS | PROGRESS_COLUMNS.keys(),
        FINISH: _FINISH,
        # No path is named for recovery, so it may write what claim and finish may.
        RECOVER: _CLAIM | _FINISH,
    },
    returns=("id", "kind", "library_id", "dry_run", "payload"),
    types={
        "key": "text",
        "status": "text",
        "progress": "double precision",
        "processed_items": "bigint",
        "error_code": "text",
        "error_message": "text",
    },
)
