"""The lease engine, written once for every leased table.

A lease is the right to work on a row until a moment. Its owner is `name#token`, with a new token for each claim, and every
write of an owner is fenced by it: a row that is not running, or is another's, is not touched.

    spec.py      `LeaseSpec`: a leased table as a description, and when its rows are stale
    lease.py     what an owner does: claim, heartbeat, finish, release
    recovery.py  rows whose owner is gone: `has_work`, `recover`, `expire`
    fence.py     writes to many rows, each only if it is still the owner's

Nothing here knows what the rows are about.
"""

from __future__ import annotations

from kurabito.db.leases.fence import Given, Lost, Rows
from kurabito.db.leases.lease import claim, finish, heartbeat, new_owner, release
from kurabito.db.leases.recovery import expire, has_work, recover
from kurabito.db.leases.spec import CLAIM, HEARTBEAT, LEASE_COLUMNS, RECOVER, Columns, LeaseSpec

__all__ = [
    "CLAIM",
    "HEARTBEAT",
    "LEASE_COLUMNS",
    "RECOVER",
    "Columns",
    "Given",
    "LeaseSpec",
    "Lost",
    "Rows",
    "claim",
    "expire",
    "finish",
    "has_work",
    "heartbeat",
    "new_owner",
    "recover",
    "release",
]
