"""The two adapters of the port that keep tasks in a database: here the parts of a queue are put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kurabito.clock import Clock
from kurabito.db.factory import open_database
from kurabito.db.port import Dialect
from kurabito.runtime.sql.parked_claims import ParkedClaims
from kurabito.runtime.sql.postgres import PostgresTables
from kurabito.runtime.sql.queue import KEEP, SqlQueue
from kurabito.runtime.sql.sqlite import SqliteTables
from kurabito.runtime.sql.store import Changes, TaskStore
from kurabito.runtime.sql.work import SqlWork
from kurabito.runtime.tasks.intake import MAX_PAYLOAD

if TYPE_CHECKING:
    from kurabito.db.postgres.database import PostgresDatabase
    from kurabito.db.sqlite.database import SqliteDatabase


class SqliteQueue(SqlQueue):
    """A queue in a SQLite file."""

    def __init__(
        self,
        database: SqliteDatabase,
        *,
        max_payload: int = MAX_PAYLOAD,
        keep: float = KEEP,
        create: bool = True,
        schema: str | None = None,
    ) -> None:
        changes, store = Changes(database), TaskStore(SqliteTables(schema))
        work = SqlWork(changes, store, max_payload=max_payload, locks_folder=database.workers_folder)
        super().__init__(changes, store, work, changes.hear, keep=keep, create=create)


class PostgresQueue(SqlQueue):
    """A queue in a PostgreSQL database."""

    def __init__(
        self,
        database: PostgresDatabase,
        *,
        max_payload: int = MAX_PAYLOAD,
        keep: float = KEEP,
        create: bool = True,
        schema: str | None = None,
    ) -> None:
        changes, store = Changes(database), TaskStore(PostgresTables(schema))
        work = SqlWork(changes, store, max_payload=max_payload, is_remote=True)
        parked = ParkedClaims(changes, work)
        work.on_arrival = parked
        super().__init__(changes, store, work, parked.hear, keep=keep, create=create)


def sql_queue(
    url: str, *, clock: Clock | None, max_payload: int, keep: float, create: bool, schema: str | None = None
) -> SqlQueue:
    """The queue in the database that a URL names."""
    database = open_database(url, clock=clock, create=create, schema=schema)
    adapter = SqliteQueue if database.dialect is Dialect.SQLITE else PostgresQueue
    return adapter(database, max_payload=max_payload, keep=keep, create=create, schema=schema)  # type: ignore[arg-type]
