"""What is said of one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from kurabito.db.leases import LeaseSpec


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the protocol."""

    name: str
    purpose: str
    columns: Mapping[str, str]
    """What each column means, in the order of the page."""
    values: Mapping[str, type[StrEnum]] = field(default_factory=dict)
    """The legal values of its enum-like columns."""
    lease: LeaseSpec | None = None


MOMENTS: Final = {"created_at": "when the row was made", "updated_at": "when it was last written"}
LEASE: Final = {
    "worker_id": "the owner: `name#token`, with a new token for each claim",
    "worker_heartbeat_at": "when the owner last wrote",
    "lease_expires_at": "until when the owner has it",
}
