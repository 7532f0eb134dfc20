"""`jobs` as a leased table: units of disk work, admitted by the control plane and executed by the data plane."""

from __future__ import annotations

from functools import cache
from typing import Final

from kurabito.db.leases import CLAIM, HEARTBEAT, RECOVER, LeaseSpec
from kurabito.db.port import Dialect
from kurabito.protocol.deletion import JOB_MAY_RUN
from kurabito.protocol.enums import JobKind
from kurabito.protocol.error_codes import ErrorCode

FINISH: Final = "finish"

_LEASE: Final = frozenset({"worker_heartbeat_at", "lease_expires_at", "updated_at"})
_CLAIM: Final = _LEASE | {"status", "worker_id", "started_at"}
_FINISH: Final = _LEASE | {"status", "progress", "error_code", "error_message", "finished_at"}

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


def _lost(owner: str | None) -> str:
    name = owner.partition("#")[0] if owner else "unknown"
    return f"the worker {name} stopped renewing its lease"


JOBS: Final = LeaseSpec(
    table="jobs",
    key="id",
    running="running",
    claimable=f"status = 'pending' AND {JOB_MAY_RUN}",
    order="created_at, id",
    stale_becomes="'retryable'",
    recovery_error=_lost,
    on_claim={"started_at": ":now"},
    on_recover={"error_code": f"'{ErrorCode.LEASE_EXPIRED}'", "error_message": ":error"},
    writes={
        CLAIM: _CLAIM,
        HEARTBEAT: _LEASE | PROGRESS_COLUMNS.keys(),
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


@cache
def pending_query(kinds: tuple[JobKind, ...], dialect: Dialect) -> str:
    """Selects the first pending jobs of these kinds, for a claim. What removes something waits until that is allowed."""
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    return dialect.say(
        f"SELECT id FROM jobs WHERE {JOBS.claimable} AND kind IN ({listed}) "
        f"ORDER BY created_at, id LIMIT :limit {{skip_locked}}"
    )
