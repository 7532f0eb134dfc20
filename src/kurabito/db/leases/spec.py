"""A leased table as a description: what may be claimed, in which order, and which columns each path writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

CLAIM: Final = "claim"
HEARTBEAT: Final = "heartbeat"
RECOVER: Final = "recover"

LEASE_COLUMNS: Final = frozenset({"worker_heartbeat_at", "lease_expires_at", "updated_at"})
"""What every path writes."""

EXPIRED: Final = ("lease_expires_at IS NULL", "lease_expires_at <= :now")
"""The two conditions, either of which makes a leased row stale. Each is a range of the index of leases."""

Columns = Mapping[str, str]
"""Columns to write, each with its SQL."""


@dataclass(frozen=True, eq=False)
class LeaseSpec:
    """A leased table: what may be claimed, in which order, and which columns each path writes."""

    table: str
    key: str
    running: str
    claimable: str
    """The condition under which a row may be claimed. Others are joined to it with AND."""
    order: str
    stale_becomes: str
    """What the state of a stale row becomes: an SQL expression."""
    writes: Mapping[str, frozenset[str]]
    """For each path (claim, heartbeat, recover, and each way to finish) the columns that it may write."""
    state: str = "status"
    recovery_error: Callable[[str | None], str] = lambda owner: f"LEASE_EXPIRED: the lease of {owner} ran out"
    """What is written on a row that was recovered from this owner."""
    leased: str | None = None
    """A condition that tells which running rows hold a lease; all of them when None."""
    on_claim: Columns = field(default_factory=dict)
    on_recover: Columns = field(default_factory=dict)
    """More columns and their SQL; `:error` is the recovery message."""
    released_becomes: str = ""
    """What the state of a row becomes that its owner gives back; as that of a stale row when empty."""
    on_release: Columns = field(default_factory=dict)
    returns: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    """PostgreSQL types of the values that are given row by row."""
    stored_as: str = ""
    """What the table is called in the database, if not by its own name."""

    @property
    def place(self) -> str:
        """Where the rows are."""
        return self.stored_as or self.table

    @property
    def target(self) -> str:
        """The same in a statement whose columns name the table."""
        return f"{self.stored_as} AS {self.table}" if self.stored_as else self.table

    @property
    def is_running(self) -> str:
        """The condition that a row is being worked on."""
        return f"{self.state} = '{self.running}'"

    @property
    def is_leased(self) -> str:
        """The condition that it is, and under a lease."""
        return f"{self.is_running} AND {self.leased}" if self.leased else self.is_running

    def claimable_if(self, only: str) -> str:
        """The condition that a row may be claimed, among those that another condition names; among all when that is empty."""
        return f"{self.claimable} AND {only}" if only else self.claimable

    def check(self, path: str, columns: Columns) -> None:
        """Refuse a statement that would write what its path may not."""
        if forbidden := columns.keys() - self.writes[path]:
            raise AssertionError(f"{self.table}: the path {path} may not write {', '.join(sorted(forbidden))}")


def assignments(columns: Columns) -> str:
    """The SQL that writes columns."""
    return ", ".join(f"{column} = {value}" for column, value in columns.items())
