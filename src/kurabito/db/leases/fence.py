"""Writing to many rows at once, each only if it passes a fence.

SQLite and PostgreSQL have a statement each. Both say which rows did not pass.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from kurabito.db.leases.spec import Columns, LeaseSpec, assignments
from kurabito.db.port import Connection, Dialect
from kurabito.db.rows import Column, row_source

Rows = Sequence[tuple[Any, ...]]
Given = tuple[str, ...]
Lost = set[tuple[Any, ...]]

_ROWS: Final = "<rows>"
_VALUE: Final = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")


def write_each(
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
    sql = f"UPDATE {spec.target} SET {assignments(dict(columns))} WHERE {spec.key} = :key AND {fence}"
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
        f"UPDATE {spec.target} SET {from_row(assignments(dict(columns)))} FROM locked AS v "
        f"WHERE {spec.table}.{spec.key} = v.key RETURNING v.{given[0]}, v.{given[1]}"
    )
