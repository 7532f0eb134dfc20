"""Faults of a data plane, each with the rule that it breaks: `FAULTS["never recovers"].cause()`."""

from __future__ import annotations

from tests.conformance.planes.faults import (
    hashes,
    joining,
    kills,
    leases,
    placing,
    removals,
    rescans,
    scans,
    trash,
    trespass,
    upkeep,
)
from tests.conformance.planes.faults.fault import FAULTS

__all__ = [
    "FAULTS",
    "hashes",
    "joining",
    "kills",
    "leases",
    "placing",
    "removals",
    "rescans",
    "scans",
    "trash",
    "trespass",
    "upkeep",
]
