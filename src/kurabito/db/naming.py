"""What the runtime's tables are called in a database that also has tables of others.

As a rule they have their own names. In a schema `jobs` they are `jobs.tasks`, … on PostgreSQL; SQLite has no schemas, so there
they are `jobs_tasks`, …. SQL is written with their own names and translated, because a search path is a setting of a session,
and sessions may be the caller's or a pooler's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar

from kurabito.db.port import Connection, Database, Dialect, Params, Row
from kurabito.errors import ForeignTables, InvalidInput

T = TypeVar("T")

TABLES: Final = ("tasks", "task_events", "task_workers", "task_schedules")
CHANNEL: Final = "kurabito"

_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_TABLE: Final = re.compile(rf"(?<![\w.])({'|'.join(TABLES)}|kurabito_migrations)\b")
_INDEX: Final = re.compile(r"\bix_task\w+")
_NOTIFY: Final = re.compile(rf"pg_notify\('{CHANNEL}'")
_NOTHING: Final[dict[str, Any]] = {}


class Names:
    """Translates SQL to the names of one schema."""

    def __init__(self, dialect: Dialect, schema: str | None) -> None:
        if schema is not None and (not isinstance(schema, str) or not _SCHEMA.fullmatch(schema)):
            raise InvalidInput("schema", f"is of lowercase letters, digits and _, at most 40 of them, got {schema!r}")
        self.schema = schema
        self._dialect = dialect

    def __call__(self, sql: str) -> str:
        """The statement, or a name in it, as this database knows it."""
        if self.schema is None:
            return sql
        if self._dialect is Dialect.SQLITE:
            return _INDEX.sub(rf"{self.schema}_\g<0>", _TABLE.sub(rf"{self.schema}_\1", sql))
        return _NOTIFY.sub(f"pg_notify('{channel_of(self.schema)}'", _TABLE.sub(rf"{self.schema}.\1", sql))

    def in_database(self, database: Database) -> Database:
        """The database, for whoever writes the tables' own names."""
        return database if self.schema is None else _NamedDatabase(database, self)  # type: ignore[return-value]

    def make_schema(self, database: Database) -> None:
        """See to it that there is such a schema."""
        if self.schema is None or self._dialect is Dialect.SQLITE:
            return
        schema = self.schema

        def make(conn: Connection) -> None:
            # Asked first: whoever may not make one is refused even if it is there. Two that start together take turns.
            conn.one("SELECT pg_advisory_xact_lock(4705112004)")
            if conn.one("SELECT to_regnamespace(:schema)", {"schema": schema}) == (None,):
                conn.run(f"CREATE SCHEMA {schema}")

        if database.read_blocking(lambda conn: conn.one("SELECT to_regnamespace(:schema)", {"schema": schema})) == (
            None,
        ):
            database.write_blocking(make)

    def refuse_foreign(self, database: Database, are_ours: Callable[[], bool]) -> None:
        """Raise ForeignTables when the names that we need are taken by others."""
        taken = database.read_blocking(lambda conn: [self(table) for table in TABLES if self._exists(conn, table)])
        # Asked afterwards: another program may be making them at this moment.
        if taken and not are_ours():
            raise ForeignTables(
                f"the database has {', '.join(taken)} already, and not from Kurabito; give the queue names of its own: "
                'open_queue(url, schema="jobs"), or ?schema=jobs in the URL'
            )

    def _exists(self, conn: Connection, table: str) -> bool:
        name = {"name": self(table)}
        if self._dialect is Dialect.SQLITE:
            return conn.one("SELECT 1 FROM sqlite_master WHERE name = :name", name) is not None
        return conn.one("SELECT 1 WHERE to_regclass(:name) IS NOT NULL", name) is not None


@cache
def names_of(dialect: Dialect, schema: str | None) -> Names:
    """The names of a schema; the same object each time."""
    return Names(dialect, schema)


def channel_of(schema: str | None) -> str:
    """The channel on which PostgreSQL tells of the tasks in this schema."""
    return CHANNEL if schema is None else f"{CHANNEL}_{schema}"


class _NamedConnection:
    """A transaction whose statements are translated."""

    grace = None

    def __init__(self, conn: Connection, names: Names) -> None:
        self._conn = conn
        self._names = names
        self.dialect = conn.dialect

    def all(self, sql: str, params: Params = _NOTHING) -> list[Row]:
        return self._conn.all(self._names(sql), params)

    def one(self, sql: str, params: Params = _NOTHING) -> Row | None:
        return self._conn.one(self._names(sql), params)

    def run(self, sql: str, params: Params = _NOTHING) -> int:
        return self._conn.run(self._names(sql), params)

    def script(self, sql: str) -> None:
        self._conn.script(self._names(sql))

    def now(self) -> int:
        return self._conn.now()


class _NamedDatabase:
    """As much of a database as migrations need, with every statement translated."""

    def __init__(self, database: Database, names: Names) -> None:
        self._database = database
        self._names = names
        self.dialect = database.dialect

    def read_blocking(self, fn: Callable[[Connection], T]) -> T:
        return self._database.read_blocking(lambda conn: fn(self._named(conn)))

    def write_blocking(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        return self._database.write_blocking(lambda conn: fn(self._named(conn)), durable=durable)

    def _named(self, conn: Connection) -> Connection:
        return _NamedConnection(conn, self._names)  # type: ignore[return-value]
