"""Who may come in after a restore: those whom the database that is replaced lets in, and those it does not know.

A copy is of an earlier moment. As it stands it would open sessions that have ended since, links that were used, keys and
addresses that were revoked, and the password that was changed, perhaps because it had leaked.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from kurabito.logs import get_logger

_SHUT: Final = ("sessions", "login_links")
_KEPT: Final = {
    "passwords": "INSERT OR REPLACE INTO passwords (user_name, hash, changed_at) "
    "SELECT user_name, hash, changed_at FROM present.passwords",
    "api_keys": "UPDATE api_keys SET revoked_at = known.revoked_at FROM present.api_keys AS known "
    "WHERE known.id = api_keys.id AND known.revoked_at IS NOT NULL",
    "shared_addresses": "UPDATE shared_addresses SET token_hash = known.token_hash, renewed_at = known.renewed_at, "
    "revoked_at = known.revoked_at FROM present.shared_addresses AS known WHERE known.id = shared_addresses.id",
}
_TABLES: Final = "SELECT name FROM {schema}.sqlite_master WHERE type = 'table'"

_log = get_logger(__name__)


def keep_access(restored: Path, present: Path) -> None:
    """Have a restored file let in only those whom the present database lets in, and those it does not know."""
    with closing(sqlite3.connect(f"{restored.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)) as conn:
        mine = _tables(conn, "main")
        conn.execute("BEGIN IMMEDIATE")
        for table in _SHUT:
            if table in mine:
                conn.execute(f"DELETE FROM {table}")  # noqa: S608 - one of two names
        conn.execute("COMMIT")
        if not present.exists():
            return
        try:
            conn.execute("ATTACH DATABASE ? AS present", (f"{present.absolute().as_uri()}?mode=ro",))
            for table in mine & _tables(conn, "present") & _KEPT.keys():
                conn.execute(_KEPT[table])
        except sqlite3.DatabaseError as problem:
            # It is damaged, which may be the reason for the restore.
            _log.warning("password, keys and addresses are those of the copy", problem=str(problem))


def _tables(conn: sqlite3.Connection, schema: str) -> set[str]:
    return {name for (name,) in conn.execute(_TABLES.format(schema=schema))}
