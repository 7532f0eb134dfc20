"""What the leased tables about files on their way have in common: causes that pass, waits, and workers that are lost.

A row that meets a cause that passes (a disk that is full, a share that is not mounted) goes back to `pending` with the cause
beside it, and may be claimed again at `retry_after`. So no row has to be rescued by hand once the cause is gone.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from kurabito.clock import SECOND
from kurabito.db.leases import CLAIM, HEARTBEAT, LEASE_COLUMNS, RECOVER, Columns, LeaseSpec
from kurabito.protocol.error_codes import ErrorCode, lost_worker

FINISH: Final = "finish"

MOST_LOST: Final = 3
"""So many workers are lost on a row before it is given up."""

FIRST_WAIT: Final = 15 * SECOND
LONGEST_WAIT: Final = 15 * 60 * SECOND

_DUE: Final = "status = 'pending' AND (retry_after IS NULL OR retry_after <= :now)"

_CLAIMED: Final = LEASE_COLUMNS | {"status", "worker_id", "started_at"}
_ENDED: Final = LEASE_COLUMNS | {"status", "tries", "retry_after", "error_code", "error_facts", "finished_at"}

FINISH_VALUES: Final = ("status", "error_code", "error_facts", "delay")
_FINISH_TYPES: Final = {"status": "text", "error_code": "text", "error_facts": "text", "delay": "bigint"}


class FilingStatus(StrEnum):
    """Where a file on its way stands."""

    PENDING = "pending"
    """It waits; with an `error_code`, until its cause is gone."""
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    """A person has to decide, or to ask for it again."""
    CANCELLED = "cancelled"


def finish_columns(table: str) -> Columns:
    """How a row of the table ends, or waits."""
    return {
        "status": ":status",
        "tries": f"CASE WHEN :status = 'pending' THEN {table}.tries + 1 ELSE {table}.tries END",
        "retry_after": ":now + CAST(:delay AS bigint)",
        "error_code": ":error_code",
        "error_facts": ":error_facts",
        "finished_at": "CASE WHEN :status = 'pending' THEN NULL ELSE :now END",
    }


def filing_spec(
    table: str,
    *,
    found: tuple[str, ...],
    renewed: tuple[str, ...] = (),
    returns: tuple[str, ...],
    types: Mapping[str, str],
) -> LeaseSpec:
    """A table about files on their way. `found` are columns of its own that the end of a row writes, `renewed` each heartbeat."""
    is_last = f"{table}.lost_leases + 1 >= {MOST_LOST}"
    return LeaseSpec(
        table=table,
        key="id",
        running="running",
        claimable=_DUE,
        order="id",
        stale_becomes=f"CASE WHEN {is_last} THEN 'failed' ELSE 'pending' END",
        released_becomes="'pending'",
        recovery_error=lost_worker,
        on_claim={"started_at": ":now"},
        on_recover={
            "lost_leases": f"{table}.lost_leases + 1",
            "error_code": f"CASE WHEN {is_last} THEN '{ErrorCode.WORKER_LOST}' ELSE '{ErrorCode.LEASE_EXPIRED}' END",
            "error_facts": "NULL",
            "finished_at": f"CASE WHEN {is_last} THEN :now END",
        },
        writes={
            CLAIM: _CLAIMED,
            HEARTBEAT: LEASE_COLUMNS.union(renewed),
            FINISH: _ENDED.union(found),
            RECOVER: _CLAIMED | _ENDED | {"lost_leases"},
        },
        returns=returns,
        types={**_FINISH_TYPES, **types},
    )


def wait_after(tries: int) -> int:
    """Microseconds until a row is tried again: 15 seconds, twice as long each time, at most 15 minutes.

    By chance up to a quarter more, so that of several data planes not always the same one comes first.
    """
    wait = min(LONGEST_WAIT, FIRST_WAIT << min(tries, 16))
    return wait + random.randint(0, wait // 4)  # noqa: S311 - spreads the tries, guards nothing


RETRY_MEANINGS: Final[Mapping[str, str]] = {
    "tries": "how often it had to wait",
    "retry_after": "not again before this moment; NULL when it may be claimed at once",
    "lost_leases": "how many workers were lost on it; at 3 it has failed",
    "error_code": "why it waits or failed: a code, see below",
    "error_facts": "JSON object with what the code is about: paths, sizes, what the operating system said",
}
