"""A statement for many rows on SQLite: once for each, or for hundreds at once where it takes them as one SELECT.

Values are bound by their place, not by their name: a batch is bound much faster from a tuple.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice, repeat
from typing import Any, Final

from kurabito.db.dialect import ROWS
from kurabito.db.queries import PARAMETER
from kurabito.db.rows import Column

_AT_ONCE: Final = 250
"""Rows in one INSERT: three times as fast as one by one, and more gains nothing."""

_Names = tuple[str, ...]


def run_rows(raw: sqlite3.Connection, sql: str, columns: Sequence[Column], common: Mapping[str, Any]) -> None:
    """Run it for rows that are given column by column, with values that are the same for all of them."""
    shared, names, same = tuple(common), tuple(column.name for column in columns), tuple(common.values())
    if ROWS not in sql:
        rows = zip(*(column.values for column in columns), strict=True)
        raw.executemany(_numbered(sql, (*shared, *names)), [(*same, *row) for row in rows])
        return
    count = len(columns[0].values)
    for begin in range(0, count, _AT_ONCE):
        end = min(begin + _AT_ONCE, count)
        # Column by column, in C: going through the rows made the INSERT a tenth slower.
        values = [*same, *repeat(None, (end - begin) * len(columns))]
        for place, column in enumerate(columns, len(same)):
            values[place :: len(columns)] = column.values[begin:end]
        raw.execute(_with_values(sql, shared, names, end - begin), values)


@cache
def _numbered(sql: str, names: _Names) -> str:
    places = {name: place for place, name in enumerate(names, 1)}
    return PARAMETER.sub(lambda found: f"?{places[found[1]]}", sql)


@cache
def _with_values(sql: str, shared: _Names, names: _Names, rows: int) -> str:
    # Each place is written out: the rows stand before what they share, which has the first numbers.
    places = iter(range(len(shared) + 1, len(shared) + 1 + rows * len(names)))
    values = ", ".join(f"({', '.join(f'?{place}' for place in islice(places, len(names)))})" for _ in range(rows))
    return f"WITH rows ({', '.join(names)}) AS (VALUES {values}) {_numbered(sql, shared).replace(f'({ROWS})', 'rows')}"
