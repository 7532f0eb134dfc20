"""Rows whose owner is gone: found, and taken away from it."""

from __future__ import annotations

import json
from functools import cache

from kurabito.db.grace import Stale
from kurabito.db.leases.fence import write_each
from kurabito.db.leases.spec import EXPIRED, RECOVER, LeaseSpec
from kurabito.db.port import Connection, Dialect, Row


def has_work(conn: Connection, spec: LeaseSpec, *, only: str = "") -> bool:
    """Whether a claim could find a row, or a recovery a stale one. A look makes no other writer wait; a claim does.

    `only` narrows what may be claimed, as in `claim`.
    """
    return conn.one(_has_work_sql(spec, only)) is not None


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
    write_each(conn, spec, RECOVER, columns, ("key", "error"), rows, {}, spec.is_running)
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
        f"WHERE {spec.is_running} AND worker_id >= :first AND worker_id < :beyond AND lease_expires_at > :now",
        # '$' is the character after '#': the range holds exactly the owners with this name.
        {"first": f"{worker}#", "beyond": f"{worker}$"},
    )


@cache
def _has_work_sql(spec: LeaseSpec, only: str) -> str:
    wanted = [spec.claimable_if(only), *(f"{spec.is_leased} AND {expired}" for expired in EXPIRED)]
    # Questions apart and no OR inside of one: each is a look into an index.
    return "SELECT 1 WHERE " + " OR ".join(f"EXISTS (SELECT 1 FROM {spec.place} WHERE {each})" for each in wanted)


@cache
def _stale_sql(spec: LeaseSpec, dialect: Dialect) -> str:
    selected = f"SELECT {spec.key}, worker_id, lease_expires_at, worker_heartbeat_at FROM {spec.place} WHERE"
    stale = f"SELECT {spec.key} FROM {spec.place} WHERE {spec.is_leased} AND"
    if dialect is Dialect.POSTGRES:
        # Chosen first and locked in order then: asked for both at once the planner may walk through all the keys.
        expired = f"({' OR '.join(EXPIRED)})"
        return (
            f"{selected} {spec.key} = ANY (ARRAY({stale} {expired} LIMIT :limit)) AND {spec.is_leased} AND {expired} "
            f"ORDER BY {spec.key} FOR UPDATE SKIP LOCKED"
        )
    # Two ranges of the lease index. With an OR and an order SQLite would walk through the whole table instead.
    ranges = " UNION ALL ".join(f"{stale} {expired}" for expired in EXPIRED)
    return f"{selected} {spec.key} IN ({ranges} LIMIT :limit) ORDER BY {spec.key}"
