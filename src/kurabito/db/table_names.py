"""What the runtime's tables are called in a database that also has tables of others.

As a rule they have their own names. In a schema `jobs` they are `jobs.tasks`, … on PostgreSQL; SQLite has no schemas, so there
they are `jobs_tasks`, …. SQL is written with their own names and translated, because a search path is a setting of a session,
and sessions may be the caller's or a pooler's.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from kurabito.db.dialect import Dialect
from kurabito.db.locks import AdvisoryLock
from kurabito.db.port import Connection, Database
from kurabito.errors import InvalidInput

TABLES: Final = ("tasks", "task_events", "task_workers", "task_schedules")
CHANNEL: Final = "kurabito"

_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_TAKEN: Final = re.compile(r"pg_.*|sqlite.*|information_schema")
RESERVED: Final = frozenset(
    """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
    concurrently constraint create cross current_catalog current_date current_role current_schema current_time
    current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze from
    full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit localtime
    localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning right
    select session_user similar some symmetric system_user table tablesample then to trailing true union unique user using
    variadic verbose when where window with
    """.split()
)
"""Words that PostgreSQL does not take for a name. They are refused on SQLite too: a queue may move to the other database."""
_TABLE: Final = re.compile(rf"(?<![\w.])({'|'.join(TABLES)}|kurabito_migrations)\b")
_INDEX: Final = re.compile(r"\bix_task\w+")
_NOTIFY: Final = re.compile(rf"pg_notify\('{CHANNEL}'")


class TableNames:
    """Translates SQL to the names of one schema."""

    def __init__(self, dialect: Dialect, schema: str | None) -> None:
        if schema is not None:
            _check(schema)
        self.schema = schema
        self._dialect = dialect

    def __call__(self, sql: str) -> str:
        """The statement, or a name in it, as this database knows it."""
        if self.schema is None:
            return sql
        if self._dialect is Dialect.SQLITE:
            return _INDEX.sub(rf"{self.schema}_\g<0>", _TABLE.sub(rf"{self.schema}_\1", sql))
        return _NOTIFY.sub(f"pg_notify('{channel_of(self.schema)}'", _TABLE.sub(rf"{self.schema}.\1", sql))

    def make_schema(self, database: Database) -> None:
        """Make the schema unless it exists."""
        if self.schema is None or self._dialect is Dialect.SQLITE:
            return
        schema = self.schema

        def is_there(conn: Connection) -> bool:
            # The table itself is read: what PostgreSQL remembers of a name may be older than the lock.
            return conn.one("SELECT 1 FROM pg_namespace WHERE nspname = :schema", {"schema": schema}) is not None

        def make(conn: Connection) -> None:
            # Asked again under the lock: a user who may not make a schema is refused even where it exists.
            conn.lock(AdvisoryLock.SCHEMAS)
            if not is_there(conn):
                conn.run(f"CREATE SCHEMA {schema}")

        if not database.read_blocking(is_there):
            database.write_blocking(make)

    def of_relation(self, name: str) -> str:
        """What a table or an index is called."""
        if self.schema is None:
            return name
        return f"{self.schema}_{name}" if self._dialect is Dialect.SQLITE else f"{self.schema}.{name}"


def _check(schema: object) -> None:
    if not isinstance(schema, str) or not _SCHEMA.fullmatch(schema):
        raise InvalidInput("schema", f"is of lowercase letters, digits and _, at most 40 of them, got {schema!r}")
    if schema in RESERVED or _TAKEN.fullmatch(schema):
        raise InvalidInput("schema", f"{schema!r} is reserved by the database; choose another name, such as jobs")


@cache
def names_of(dialect: Dialect, schema: str | None) -> TableNames:
    """The names of a schema; the same object each time."""
    return TableNames(dialect, schema)


def channel_of(schema: str | None) -> str:
    """The channel on which PostgreSQL tells of the tasks in this schema."""
    return CHANNEL if schema is None else f"{CHANNEL}_{schema}"
