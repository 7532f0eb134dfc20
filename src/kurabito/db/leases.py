"""The lease engine: claim, heartbeat, finish and recover, written once for every leased table.

A lease is the right to work on a row until a moment. Its owner is `name#token`, the token made anew at each claim, and every
write of a worker is fenced by it: a row that is not running, or is another's, is not touched. A running row is stale when
`lease_expires_at` is NULL or not after now.

A table is described by a `LeaseSpec`; nothing here knows what the rows are about.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from kurabito.db.grace import Stale
from kurabito.db.port import Connection, Dialect, Row
from kurabito.db.rows import Column, row_source
from kurabito.errors import InvalidInput

CLAIM: Final = "claim"
HEARTBEAT: Final = "heartbeat"
RECOVER: Final = "recover"

Rows = Sequence[tuple[Any, ...]]
Given = tuple[str, ...]
Lost = set[tuple[Any, ...]]
Columns = Mapping[str, str]
"""Columns to write, each with its SQL."""

_NONE: Final[Columns] = {}
_ROWS: Final = "<rows>"
_VALUE: Final = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")


@dataclass(frozen=True, eq=False)
class LeaseSpec:
    """A leased table: what may be claimed, in which order, and which columns each path writes."""

    table: str
    key: str
    running: str
    claimable: str
    """The condition under which a row may be claimed."""
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
    on_claim: Mapping[str, str] = field(default_factory=dict)
    on_recover: Mapping[str, str] = field(default_factory=dict)
    """Further columns and their SQL; `:error` is the recovery message."""
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

    def check(self, path: str, columns: Mapping[str, str]) -> None:
        """Refuse a statement that would write what its path may not."""
        if forbidden := columns.keys() - self.writes[path]:
            raise AssertionError(f"{self.table}: the path {path} may not write {', '.join(sorted(forbidden))}")


def new_owner(worker: str) -> str:
    """An owner for one claim by this worker."""
    if not worker or "#" in worker:
        raise InvalidInput("worker", f"a worker's name is not empty and has no '#', got {worker!r}")
    return f"{worker}#{secrets.token_hex(8)}"


def claim(
    conn: Connection,
    spec: LeaseSpec,
    owner: str,
    *,
    lease: int,
    limit: int,
    candidates: str | None = None,
    params: Mapping[str, Any] | None = None,
    then: str = "",
) -> list[Row]:
    """Take up to `limit` claimable rows for `lease` microseconds; the columns that the spec returns.

    `candidates` selects the keys where the table needs more than its condition and order; on PostgreSQL it must lock the
    rows it selects and skip locked ones. `then` (PostgreSQL only) is SQL that the same statement runs on what it
    took, which it knows as `taken`.
    """
    sql = _claim_sql(spec, conn.dialect, candidates)
    if then:
        sql = f"WITH taken AS ({sql}), done AS ({then}) SELECT * FROM taken"
    return conn.autocommit(sql, {**(params or {}), "owner": owner, "lease": lease, "limit": limit})


def heartbeat(
    conn: Connection, spec: LeaseSpec, rows: Rows, *, lease: int, given: Given = (), columns: Columns = _NONE
) -> Lost:
    """Renew the leases of rows, each `(key, owner, *values)`; the (key, owner) of those that are no longer owned.

    An expired lease that nobody has recovered yet may be renewed. `columns` are further columns to write; in their SQL
    `:name` is the row's value for a name in `given`.
    """
    renewed = {
        "worker_heartbeat_at": ":now",
        "lease_expires_at": ":now + CAST(:lease AS bigint)",
        "updated_at": ":now",
        **columns,
    }
    return _write(conn, spec, HEARTBEAT, renewed, ("key", "owner", *given), rows, {"lease": lease}, _fence(spec))


def finish(
    conn: Connection, spec: LeaseSpec, path: str, rows: Rows, *, given: Given = (), columns: Columns = _NONE
) -> Lost:
    """Write how rows ended and end their leases; the (key, owner) of those that were no longer owned: they stay as they are."""
    ended = {"worker_heartbeat_at": ":now", "lease_expires_at": "NULL", "updated_at": ":now", **columns}
    return _write(conn, spec, path, ended, ("key", "owner", *given), rows, {}, _fence(spec))


def recover(conn: Connection, spec: LeaseSpec, *, limit: int = 1000) -> list[Row]:
    """Take stale rows away from their workers; the columns that the spec returns.

    A worker that is known to be alive on this machine is given the time of one more heartbeat: perhaps the clock jumped.
    """
    stale = [Stale(*row) for row in conn.all(_stale_sql(spec, conn.dialect), {"limit": limit})]
    if conn.grace is not None:
        stale = conn.grace.taken(spec.table, stale)
    if not stale:
        return []
    columns = {
        spec.state: spec.stale_becomes,
        "worker_id": "NULL",
        "worker_heartbeat_at": "NULL",
        "lease_expires_at": "NULL",
        "updated_at": ":now",
        **spec.on_recover,
    }
    rows = [(row.key, spec.recovery_error(row.owner)) for row in stale]
    _write(conn, spec, RECOVER, columns, ("key", "error"), rows, {}, f"{spec.state} = '{spec.running}'")
    keys = [row.key for row in stale]
    selected = f"SELECT {', '.join(spec.returns)} FROM {spec.place} WHERE {spec.key}"
    if conn.dialect is Dialect.POSTGRES:
        return conn.all(f"{selected} = ANY(:keys) ORDER BY {spec.key}", {"keys": keys})
    listed = "(SELECT value FROM json_each(:keys))"
    return conn.all(f"{selected} IN {listed} ORDER BY {spec.key}", {"keys": json.dumps(keys)})


def expire(conn: Connection, spec: LeaseSpec, worker: str) -> int:
    """End the leases of a worker that is known to be dead; `recover` finds them then."""
    if conn.grace is not None:
        conn.grace.give_up(worker)
    return conn.run(
        f"UPDATE {spec.place} SET lease_expires_at = :now "
        f"WHERE {spec.state} = '{spec.running}' AND worker_id >= :first AND worker_id < :beyond "
        "AND lease_expires_at > :now",
        # '$' is the character after '#': the range holds exactly the owners with this name.
        {"first": f"{worker}#", "beyond": f"{worker}$"},
    )


@cache
def _claim_sql(spec: LeaseSpec, dialect: Dialect, candidates: str | None) -> str:
    columns = {
        spec.state: f"'{spec.running}'",
        "worker_id": ":owner",
        "worker_heartbeat_at": ":now",
        "lease_expires_at": ":now + CAST(:lease AS bigint)",
        "updated_at": ":now",
        **spec.on_claim,
    }
    spec.check(CLAIM, columns)
    chosen = (
        candidates or f"SELECT {spec.key} FROM {spec.place} WHERE {spec.claimable} ORDER BY {spec.order} LIMIT :limit"
    )
    if dialect is Dialect.SQLITE:
        return (
            f"UPDATE {spec.place} SET {_assignments(columns)} WHERE {spec.key} IN ({chosen}) "
            f"RETURNING {', '.join(spec.returns)}"
        )
    if candidates is None:
        chosen += " FOR UPDATE SKIP LOCKED"
    return (
        # An array and not a join: the planner cannot know how few rows are chosen, and would read the whole table to join.
        f"UPDATE {spec.place} AS t SET {_assignments(columns)} WHERE t.{spec.key} = ANY (ARRAY({chosen})) "
        f"RETURNING {', '.join('t.' + column for column in spec.returns)}"
    )


@cache
def _stale_sql(spec: LeaseSpec, dialect: Dialect) -> str:
    running = f"{spec.state} = '{spec.running}'" + (f" AND {spec.leased}" if spec.leased else "")
    selected = f"SELECT {spec.key}, worker_id, lease_expires_at, worker_heartbeat_at FROM {spec.place} WHERE"
    stale = f"SELECT {spec.key} FROM {spec.place} WHERE {running} AND"
    if dialect is Dialect.POSTGRES:
        # Chosen first and locked in order then: asked for both at once the planner may walk through all the keys.
        expired = "(lease_expires_at IS NULL OR lease_expires_at <= :now)"
        return (
            f"{selected} {spec.key} = ANY (ARRAY({stale} {expired} LIMIT :limit)) AND {running} AND {expired} "
            f"ORDER BY {spec.key} FOR UPDATE SKIP LOCKED"
        )
    # Two ranges of the lease index. With an OR and an order SQLite would walk through the whole table instead.
    return (
        f"{selected} {spec.key} IN ({stale} lease_expires_at IS NULL UNION ALL {stale} lease_expires_at <= :now "
        f"LIMIT :limit) ORDER BY {spec.key}"
    )


def _fence(spec: LeaseSpec) -> str:
    return f"{spec.state} = '{spec.running}' AND worker_id = :owner"


def _write(
    conn: Connection,
    spec: LeaseSpec,
    path: str,
    columns: Columns,
    given: Given,
    rows: Rows,
    params: Mapping[str, Any],
    fence: str,
) -> Lost:
    """Update each row that passes the fence, locking them in the order of their keys; those that did not pass.

    The first two values that are given tell a row apart.
    """
    if not rows:
        return set()
    assigned = tuple(columns.items())
    if conn.dialect is Dialect.POSTGRES:
        types = {"key": "bigint", "owner": "text", "error": "text", **spec.types}
        listed = [
            Column(name, types[name], values) for name, values in zip(given, zip(*rows, strict=True), strict=True)
        ]
        source, values = row_source(*listed)
        sql = _update_postgres(spec, path, assigned, given, fence).replace(_ROWS, source)
        return {row[:2] for row in rows} - set(conn.all(sql, {**params, **values}))
    sql = _update_sqlite(spec, path, assigned, (*given, *params, "now"), fence)
    common = (*params.values(), conn.now())
    whole = [(*row, *common) for row in rows]
    conn.raw.execute("SAVEPOINT fenced")
    if conn.raw.executemany(sql, whole).rowcount == len(rows):
        conn.raw.execute("RELEASE fenced")
        return set()
    # Some rows were lost, which is rare: do it again one by one to learn which.
    conn.raw.execute("ROLLBACK TO fenced")
    conn.raw.execute("RELEASE fenced")
    return {row[:2] for row in whole if not conn.raw.execute(sql, row).rowcount}


@cache
def _update_sqlite(
    spec: LeaseSpec, path: str, columns: tuple[tuple[str, str], ...], names: tuple[str, ...], fence: str
) -> str:
    spec.check(path, dict(columns))
    sql = f"UPDATE {spec.target} SET {_assignments(dict(columns))} WHERE {spec.key} = :key AND {fence}"
    # By place: a batch is bound much faster from tuples than from names.
    places = {name: place for place, name in enumerate(names, 1)}
    return _VALUE.sub(lambda found: f"?{places[found[1]]}", sql)


@cache
def _update_postgres(spec: LeaseSpec, path: str, columns: tuple[tuple[str, str], ...], given: Given, fence: str) -> str:
    spec.check(path, dict(columns))

    def from_row(sql: str) -> str:
        return _VALUE.sub(lambda found: f"v.{found[1]}" if found[1] in given else found[0], sql)

    # The state is hidden from the planner in an expression. It would else look the rows up in an index of the running
    # ones, which holds every row that ran since the last vacuum; by their keys they are found at once.
    hidden = re.sub(rf"\b{spec.state}\b", f"t.{spec.state} || ''", re.sub(r"\bworker_id\b", "t.worker_id", fence))
    return (
        f"WITH locked AS MATERIALIZED (SELECT v.* FROM (SELECT * FROM ({_ROWS}) AS v ORDER BY key) AS v "
        f"CROSS JOIN LATERAL (SELECT {spec.state}, worker_id FROM {spec.place} WHERE {spec.key} = v.key FOR UPDATE) AS t "
        f"WHERE {from_row(hidden)}) "
        f"UPDATE {spec.target} SET {from_row(_assignments(dict(columns)))} FROM locked AS v "
        f"WHERE {spec.table}.{spec.key} = v.key RETURNING v.{given[0]}, v.{given[1]}"
    )


def _assignments(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{column} = {value}" for column, value in columns.items())
