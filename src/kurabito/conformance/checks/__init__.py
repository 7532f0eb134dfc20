"""One small function for each rule, on what a scenario recorded: it gives the evidence that the rule was broken.

registry.py   which check is for which rule, and which rules have none
planes.py     versions, registration, what a plane may not write
values.py     times, counts, enum-like columns, progress
leases.py     claims, heartbeats, ends, and what a plane does that lost its lease
scans.py      what a scan has to see and to store;  moves.py  what moved, returned and is to be hashed
rescans.py    folders that may not be read, a trash that is older than its library, another policy
hashes.py     digests, samples, twins and files that cannot be read
removals.py   steps of plans;  discarding.py  what its keeper deleted;  trash.py  the trash, restores and purges
placing.py    files on their way into a library
thumbnails.py thumbnails;  media.py  what is in sound and films
upkeep.py     checkpoints, cleanups of thumbnails, inspections
"""

from __future__ import annotations

from kurabito.conformance.checks import (
    discarding,
    hashes,
    leases,
    media,
    moves,
    placing,
    planes,
    removals,
    rescans,
    scans,
    thumbnails,
    trash,
    upkeep,
    values,
)
from kurabito.conformance.checks.registry import CHECKS, RuleCheck, unchecked_rules

__all__ = [
    "CHECKS",
    "RuleCheck",
    "discarding",
    "hashes",
    "leases",
    "media",
    "moves",
    "placing",
    "planes",
    "removals",
    "rescans",
    "scans",
    "thumbnails",
    "trash",
    "unchecked_rules",
    "upkeep",
    "values",
]
