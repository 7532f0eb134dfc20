"""The ledger: a table in which a database notes the migrations that were applied to it."""

from __future__ import annotations

from typing import Final

from kurabito.db.dialect import Dialect
from kurabito.db.port import Connection
from kurabito.db.table_names import TableNames

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS kurabito_migrations (
    set_name   TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,
    applied_at BIGINT  NOT NULL,
    PRIMARY KEY (set_name, number)
)
"""
_EXISTS: Final = {
    Dialect.SQLITE: "SELECT 1 FROM sqlite_master WHERE name = 'kurabito_migrations'",
    Dialect.POSTGRES: "SELECT 1 WHERE to_regclass('kurabito_migrations') IS NOT NULL",
}
_ANY_TABLE: Final = {
    Dialect.SQLITE: "SELECT 1 FROM sqlite_master LIMIT 1",
    Dialect.POSTGRES: "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1",
}
_APPLIED: Final = "SELECT number, name, checksum FROM kurabito_migrations WHERE set_name = :set_name ORDER BY number"
_NOTE: Final = (
    "INSERT INTO kurabito_migrations (set_name, number, name, checksum, applied_at) "
    "VALUES (:set_name, :number, :name, :checksum, :now)"
)


class Ledger:
    """What a database knows of its migrations, under the names of one schema."""

    def __init__(self, names: TableNames) -> None:
        self.names = names

    def exists(self, conn: Connection) -> bool:
        return conn.one(self.names(_EXISTS[conn.dialect])) is not None

    def create(self, conn: Connection) -> None:
        conn.script(self.names(_CREATE))

    def applied(self, conn: Connection, set_name: str) -> dict[int, tuple[str, str]]:
        """Number, name and checksum of what the database has of a set."""
        if not self.exists(conn):
            return {}
        rows = conn.all(self.names(_APPLIED), {"set_name": set_name})
        return {number: (name, checksum) for number, name, checksum in rows}

    def note(self, conn: Connection, set_name: str, number: int, name: str, checksum: str) -> None:
        """Write down that a migration was applied."""
        values = {"set_name": set_name, "number": number, "name": name, "checksum": checksum}
        conn.run(self.names(_NOTE), values)


def has_tables(conn: Connection) -> bool:
    """Whether the database has any table at all, of whatever program."""
    return conn.one(_ANY_TABLE[conn.dialect]) is not None
