"""The statements of a scan, and lists of values as each database takes them."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from kurabito.db import Connection, Dialect, Queries

ROWS: Final = "<rows>"
"""Where a statement takes many rows at once."""

_PARTS: Final = {
    "no_hash": (
        "edge_hash = NULL, hash_algorithm = NULL, content_hash = NULL, hashed_size_bytes = NULL, hashed_mtime_ns = NULL, "
        "hashed_at = NULL, hash_error_count = 0, hash_last_error = NULL, hash_last_error_at = NULL, hash_retry_after = NULL, "
        "shared_inode = NULL"
    )
}
_DIALECTS: Final = {
    Dialect.SQLITE: {"given": "IN (SELECT value FROM json_each(:given))", "joined": "group_concat"},
    Dialect.POSTGRES: {"given": "= ANY(:given)", "joined": "string_agg"},
}
_SQL: Final = {
    dialect: Queries("kurabito.dataplane.scan", "scan.sql", **_PARTS, **parts) for dialect, parts in _DIALECTS.items()
}


def sql(conn: Connection) -> Queries:
    """The statements as this database speaks them."""
    return _SQL[conn.dialect]


def given(conn: Connection, values: Collection[Any]) -> Any:
    """The value of `:given`: all of these."""
    return json.dumps(list(values)) if conn.dialect is Dialect.SQLITE else list(values)
