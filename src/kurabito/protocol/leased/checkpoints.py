"""`wal_maintenance_jobs` as a leased table: checkpoints of SQLite's log, asked for by the control plane."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kurabito.clock import SECOND
from kurabito.db.leases import CLAIM, HEARTBEAT, LEASE_COLUMNS, RECOVER, LeaseSpec
from kurabito.protocol.error_codes import ErrorCode, lost_worker


class CheckpointMode(StrEnum):
    """How thorough a checkpoint is."""

    PASSIVE = "passive"
    """Moves what it can and does not wait."""
    RESTART = "restart"
    """Moves everything, so that the next write begins the log again."""
    TRUNCATE = "truncate"
    """The same, and the log's file is empty after it."""


class WalStatus(StrEnum):
    """Where a checkpoint stands."""

    PENDING = "pending"
    RUNNING = "running"
    RETRYABLE = "retryable"
    """A reader or writer was in the way, or the worker was lost; it is tried again after `retry_after`."""
    COMPLETED = "completed"
    FAILED = "failed"


SUCCESS: Final = "success"
BUSY: Final = "busy"
FAILURE: Final = "failure"

FIRST_WAIT: Final = 10 * SECOND
DOUBLINGS: Final = 6
RETRY_AFTER: Final = (
    f":now + (CAST({FIRST_WAIT} AS bigint) << CAST(CASE WHEN retry_count < {DOUBLINGS} THEN retry_count "
    f"ELSE {DOUBLINGS} END AS integer))"
)
"""SQL: ten seconds after the first attempt, twice as long after each later one, about eleven minutes at most."""

_ENDED: Final = LEASE_COLUMNS | {"status", "error_code", "error_message", "finished_at"}
_COUNTED: Final = frozenset({"checkpoint_busy", "checkpoint_log_frames", "checkpointed_frames"})
_PUT_OFF: Final = frozenset({"retry_count", "retry_after"})

COUNTS: Final = ("checkpoint_busy", "checkpoint_log_frames", "checkpointed_frames")
_COUNT_COLUMNS: Final = {name: f":{name}" for name in COUNTS}
SUCCESS_COLUMNS: Final = {
    "status": "'completed'",
    **_COUNT_COLUMNS,
    "error_code": "NULL",
    "error_message": "NULL",
    "finished_at": ":now",
}
BUSY_COLUMNS: Final = {
    "status": "'retryable'",
    **_COUNT_COLUMNS,
    "retry_count": "retry_count + 1",
    "retry_after": RETRY_AFTER,
    "error_code": f"'{ErrorCode.WAL_BUSY}'",
    "error_message": ":error_message",
    "finished_at": ":now",
}
FAILURE_COLUMNS: Final = {
    "status": "'failed'",
    "error_code": f"'{ErrorCode.WAL_FAILED}'",
    "error_message": ":error_message",
    "finished_at": ":now",
}


WAL: Final = LeaseSpec(
    table="wal_maintenance_jobs",
    key="id",
    running="running",
    claimable="(status = 'pending' AND execute_after <= :now OR status = 'retryable' AND retry_after <= :now)",
    order="created_at, id",
    stale_becomes="'retryable'",
    released_becomes="'pending'",
    recovery_error=lost_worker,
    on_claim={"started_at": ":now", "finished_at": "NULL"},
    on_recover={
        "retry_count": "retry_count + 1",
        "retry_after": RETRY_AFTER,
        "error_code": f"'{ErrorCode.LEASE_EXPIRED}'",
        "error_message": ":error",
        "finished_at": ":now",
    },
    writes={
        CLAIM: LEASE_COLUMNS | {"status", "worker_id", "started_at", "finished_at"},
        HEARTBEAT: LEASE_COLUMNS,
        SUCCESS: _ENDED | _COUNTED,
        BUSY: _ENDED | _COUNTED | _PUT_OFF,
        FAILURE: _ENDED,
        RECOVER: _ENDED | _PUT_OFF | {"worker_id"},
    },
    returns=("id", "requested_mode"),
    types={**dict.fromkeys(COUNTS, "bigint"), "error_message": "text"},
)
