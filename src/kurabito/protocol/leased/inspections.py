"""`inspections` as a leased table: folders that a data plane looks into for the control plane, which sees no disk."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kurabito.db.leases import CLAIM, HEARTBEAT, LEASE_COLUMNS, RECOVER, LeaseSpec
from kurabito.protocol.error_codes import lost_worker
from kurabito.protocol.leased import retries
from kurabito.protocol.leased.retries import FINISH


class InspectionKind(StrEnum):
    """What is looked at."""

    ARRIVAL = "arrival"
    """The files of a download that is complete."""


MOST_INSPECTED: Final = 20_000
"""Files of one folder; with more of them nothing is listed."""

FOUND_VALUES: Final = ("file_count", "total_bytes")
FINISH_COLUMNS: Final = {**retries.finish_columns("inspections"), **{name: f":{name}" for name in FOUND_VALUES}}
FINISH_VALUES: Final = (*retries.FINISH_VALUES, *FOUND_VALUES)

INSPECTIONS: Final = LeaseSpec(
    table="inspections",
    key="id",
    running="running",
    claimable=retries.DUE,
    order="id",
    stale_becomes=retries.stale_becomes("inspections"),
    released_becomes="'pending'",
    recovery_error=lost_worker,
    on_claim={"started_at": ":now"},
    on_recover=retries.on_recover("inspections"),
    writes={
        CLAIM: retries.CLAIMED,
        HEARTBEAT: LEASE_COLUMNS,
        FINISH: retries.ENDED.union(FOUND_VALUES),
        RECOVER: retries.RECOVERED,
    },
    returns=("id", "kind", "folder", "paths", "tries"),
    types={**retries.FINISH_TYPES, "file_count": "integer", "total_bytes": "bigint"},
)
