"""What the owner of a row does: claim it, renew its lease, write how it ended, or give it back."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from kurabito.db.leases.fence import Given, Lost, Rows, write_each
from kurabito.db.leases.spec import CLAIM, HEARTBEAT, RECOVER, Columns, LeaseSpec, assignments
from kurabito.db.port import Connection, Dialect, Row
from kurabito.errors import InvalidInput

_NONE: Final[Columns] = {}


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
    only: str = "",
    candidates: str | None = None,
    params: Mapping[str, Any] | None = None,
    then: str = "",
) -> list[Row]:
    """Take up to `limit` claimable rows for `lease` microseconds; the columns that the spec returns.

    `only` is another condition, which narrows what may be claimed. `candidates` selects the keys where the table needs more
    than conditions and an order; on PostgreSQL it must lock the rows it selects and skip locked ones. `then` (PostgreSQL
    only) is SQL that the same statement runs on what it took, which it knows as `taken`.
    """
    sql = _claim_sql(spec, conn.dialect, only, candidates)
    if then:
        sql = f"WITH taken AS ({sql}), done AS ({then}) SELECT * FROM taken"
    return conn.autocommit(sql, {**(params or {}), "owner": owner, "lease": lease, "limit": limit})


def heartbeat(
    conn: Connection, spec: LeaseSpec, rows: Rows, *, lease: int, given: Given = (), columns: Columns = _NONE
) -> Lost:
    """Renew the leases of rows, each `(key, owner, *values)`; the (key, owner) of those that are no longer owned.

    An expired lease that is not recovered yet may be renewed. `columns` are more columns to write; in their SQL
    `:name` is the row's value for a name in `given`.
    """
    renewed = {
        "worker_heartbeat_at": ":now",
        "lease_expires_at": ":now + CAST(:lease AS bigint)",
        "updated_at": ":now",
        **columns,
    }
    return write_each(conn, spec, HEARTBEAT, renewed, ("key", "owner", *given), rows, {"lease": lease}, _fence(spec))


def finish(
    conn: Connection, spec: LeaseSpec, path: str, rows: Rows, *, given: Given = (), columns: Columns = _NONE
) -> Lost:
    """Write how rows ended and end their leases; the (key, owner) of those that were no longer owned: they stay as they are."""
    ended = {"worker_heartbeat_at": ":now", "lease_expires_at": "NULL", "updated_at": ":now", **columns}
    return write_each(conn, spec, path, ended, ("key", "owner", *given), rows, {}, _fence(spec))


def release(conn: Connection, spec: LeaseSpec, rows: Rows) -> Lost:
    """Give rows back unharmed, so that another may claim them; the (key, owner) of those that were no longer owned."""
    released = {
        spec.state: spec.released_becomes or spec.stale_becomes,
        "worker_id": "NULL",
        "worker_heartbeat_at": "NULL",
        **spec.on_release,
    }
    # It has no path of its own: like a recovery it takes a row from its owner, and may write the same.
    return finish(conn, spec, RECOVER, rows, columns=released)


@cache
def _claim_sql(spec: LeaseSpec, dialect: Dialect, only: str, candidates: str | None) -> str:
    columns = {
        spec.state: f"'{spec.running}'",
        "worker_id": ":owner",
        "worker_heartbeat_at": ":now",
        "lease_expires_at": ":now + CAST(:lease AS bigint)",
        "updated_at": ":now",
        **spec.on_claim,
    }
    spec.check(CLAIM, columns)
    first = f"WHERE {spec.claimable_if(only)} ORDER BY {spec.order} LIMIT :limit"
    chosen = candidates or f"SELECT {spec.key} FROM {spec.place} {first}"
    if dialect is Dialect.SQLITE:
        return (
            f"UPDATE {spec.place} SET {assignments(columns)} WHERE {spec.key} IN ({chosen}) "
            f"RETURNING {', '.join(spec.returns)}"
        )
    if candidates is None:
        chosen += " FOR UPDATE SKIP LOCKED"
    return (
        # An array and not a join: the planner cannot know how few rows are chosen, and would read the whole table to join.
        f"UPDATE {spec.place} AS t SET {assignments(columns)} WHERE t.{spec.key} = ANY (ARRAY({chosen})) "
        f"RETURNING {', '.join('t.' + column for column in spec.returns)}"
    )


def _fence(spec: LeaseSpec) -> str:
    return f"{spec.is_running} AND worker_id = :owner"
