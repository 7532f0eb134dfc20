"""What a migration on SQLite must not lose: rows, and the rows that other rows refer to.

Counted inside the migration's transaction, whose write lock keeps every other writer out.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from kurabito.db.errors import RowsWouldBeLost
from kurabito.db.port import Connection
from kurabito.db.sqlite.connection import quoted

_TABLES: Final = """
SELECT name FROM sqlite_master
WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND upper(sql) NOT LIKE 'CREATE VIRTUAL%'
"""


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows per table, and the references that lead nowhere."""

    rows: dict[str, int]
    astray: Counter[tuple[Any, ...]]


def tally(conn: Connection) -> Tally:
    """Count everything."""
    names = [name for (name,) in conn.all(_TABLES)]
    rows = {name: int(conn.value(f"SELECT count(*) FROM {quoted(name)}")) for name in names}
    return Tally(rows, Counter(found for name in names for found in _astray(conn, name)))


def refuse_losses(before: Tally, after: Tally, *, accounted: Collection[str] = ()) -> None:
    """Raise RowsWouldBeLost when a table has fewer rows than before, or a reference leads nowhere that led somewhere.

    The rows of some tables may be `accounted` for: by the take-over, or because a migration says that it removes them.
    """
    fewer = {
        name: (count, after.rows.get(name, 0))
        for name, count in before.rows.items()
        if after.rows.get(name, 0) < count and name not in accounted
    }
    if fewer:
        listed = ", ".join(f"{name} from {count} rows to {left}" for name, (count, left) in sorted(fewer.items()))
        raise RowsWouldBeLost(
            f"the migration would have brought {listed}, so it was undone and nothing is changed. {_REPORT}"
        )
    if broken := after.astray - before.astray:
        table, row, parent, *_ = min(broken, key=str)
        if row is _MISMATCH:
            raise RowsWouldBeLost(
                f"{table} refers to columns of {parent} that are no key after the migration, so nothing was changed. Drop {table} "
                "if no program needs it, or make it again without the reference, and try again"
            )
        raise RowsWouldBeLost(
            f"after the migration {broken.total()} rows would refer to rows that are not there: one is row {row} of {table}, "
            f"which refers to {parent}. It was undone and nothing is changed. Remove such rows, or drop {table} if no program "
            "needs it, and try again"
        )


_MISMATCH: Final = "mismatch"
_REPORT: Final = "Please report this; the copy in the folder `backups` has everything too"


def _astray(conn: Connection, table: str) -> list[tuple[Any, ...]]:
    try:
        return conn.all(f"PRAGMA foreign_key_check({quoted(table)})")
    except sqlite3.OperationalError as problem:
        # SQLite would refuse every change of the table that it refers to: 'foreign key mismatch - "a" referencing "b"'.
        return [(table, _MISMATCH, str(problem).rpartition("referencing ")[2].strip('"'))]
