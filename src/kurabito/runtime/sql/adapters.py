"""The two adapters of the port that keep tasks in a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kurabito.clock import Clock
from kurabito.db.opening import open_database
from kurabito.db.port import Dialect
from kurabito.runtime.intake import MAX_PAYLOAD
from kurabito.runtime.sql.postgres import PostgresStore
from kurabito.runtime.sql.queue import KEEP, SqlQueue
from kurabito.runtime.sql.sqlite import SqliteStore

if TYPE_CHECKING:
    from kurabito.db.postgres import PostgresDatabase
    from kurabito.db.sqlite import SqliteDatabase


class SqliteQueue(SqlQueue):
    """A queue in a SQLite file."""

    def __init__(
        self, database: SqliteDatabase, *, max_payload: int = MAX_PAYLOAD, keep: float = KEEP, create: bool = True
    ) -> None:
        super().__init__(database, SqliteStore(), max_payload=max_payload, keep=keep, create=create)
        self.workers_folder = Path(f"{database.path}.workers")


class PostgresQueue(SqlQueue):
    """A queue in a PostgreSQL database."""

    def __init__(
        self, database: PostgresDatabase, *, max_payload: int = MAX_PAYLOAD, keep: float = KEEP, create: bool = True
    ) -> None:
        super().__init__(database, PostgresStore(), max_payload=max_payload, keep=keep, create=create)


def sql_queue(url: str, *, clock: Clock | None, max_payload: int, keep: float, create: bool) -> SqlQueue:
    """The queue in the database that a URL names."""
    database = open_database(url, clock=clock, create=create)
    adapter = SqliteQueue if database.dialect is Dialect.SQLITE else PostgresQueue
    return adapter(database, max_payload=max_payload, keep=keep, create=create)  # type: ignore[arg-type]
