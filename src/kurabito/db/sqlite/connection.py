"""One transaction on SQLite, and retries while another process holds the write lock."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from kurabito.clock import Clock
from kurabito.db.dialect import Dialect
from kurabito.db.errors import UniqueConflict
from kurabito.db.grace import Grace
from kurabito.db.locks import AdvisoryLock
from kurabito.db.port import Params, Row, Statement
from kurabito.db.queries import Query
from kurabito.db.rows import Column, only_value
from kurabito.db.sqlite.rows import run_rows
from kurabito.errors import DatabaseError, DatabaseUnavailable

T = TypeVar("T")

_RETRY: Final = 0.0005
_NOTHING: Final[Mapping[str, Any]] = {}


class SqliteConnection:
    """A transaction on SQLite."""

    __slots__ = ("_clock", "_now", "grace", "raw")

    dialect: Final = Dialect.SQLITE

    def __init__(self, raw: sqlite3.Connection, clock: Clock, grace: Grace | None = None) -> None:
        self.raw = raw
        self.grace = grace
        self._clock = clock
        self._now: int | None = None

    def with_raw(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        self.raw.set_authorizer(_no_end_of_transaction)
        try:
            return fn(self.raw)
        except sqlite3.DatabaseError as problem:
            if problem.sqlite_errorcode == sqlite3.SQLITE_AUTH:
                raise DatabaseError(
                    "the transaction is committed when the function returns and rolled back when it raises; "
                    "it may do neither itself, nor use the connection in a `with`"
                ) from problem
            raise
        finally:
            self.raw.set_authorizer(None)

    def all(self, sql: Statement, params: Params = _NOTHING) -> list[Row]:
        return self._execute(sql, params).fetchall()

    def autocommit(self, sql: str, params: Params = _NOTHING, *, one_plan: bool = False) -> list[Row]:
        return self.all(sql, params)

    def one(self, sql: Statement, params: Params = _NOTHING) -> Row | None:
        row: Row | None = self._execute(sql, params).fetchone()
        return row

    def value(self, sql: Statement, params: Params = _NOTHING) -> Any:
        return only_value(self.one(sql, params))

    def run(self, sql: Statement, params: Params = _NOTHING) -> int:
        return self._execute(sql, params).rowcount

    def run_rows(self, sql: Query, rows: Sequence[Column], params: Params = _NOTHING) -> None:
        run_rows(self.raw, sql.text(self.dialect), rows, {**params, "now": self.now()})

    def lock(self, lock: AdvisoryLock) -> None:
        """Nothing to do: a transaction that writes has the write lock of the whole file."""

    def notify(self) -> None:
        """Nothing to do: those who watch a SQLite file hear of every commit."""

    def script(self, sql: str) -> None:
        # executescript would commit the transaction that is under way.
        for statement in split_statements(sql):
            self.raw.execute(statement)

    def now(self) -> int:
        if self._now is None:
            self._now = self._clock.now()
        return self._now

    def _execute(self, sql: Statement, params: Params) -> sqlite3.Cursor:
        if not isinstance(sql, str):
            params = sql.values(self.dialect, params)
            sql = sql.text(self.dialect)
        cursor = self.raw.cursor()
        # A connection that the caller opened may give its rows another shape.
        cursor.row_factory = None
        try:
            return cursor.execute(sql, {**params, "now": self.now()} if ":now" in sql else params)
        except sqlite3.IntegrityError as problem:
            if problem.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                raise UniqueConflict(str(problem)) from problem
            raise


def retry_while_locked(attempt: Callable[[], T], patience: float) -> T:
    """Call it until it succeeds, as long as another process holds the lock that it needs."""
    give_up = time.monotonic() + patience
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            if time.monotonic() > give_up:
                raise DatabaseUnavailable(
                    f"another process has held the database's write lock for {patience:g} s; "
                    "see which one has the file open (fuser, lsof) and end what hangs"
                ) from problem
        time.sleep(_RETRY)


def quoted(name: str) -> str:
    """The name of a table or column as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def split_statements(sql: str) -> list[str]:
    """A script's statements; a trigger's body stays whole."""
    statements, current = [], ""
    for line in sql.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            statements.append(current.strip())
            current = ""
    if current.strip() and not all(line.strip().startswith("--") or not line.strip() for line in current.splitlines()):
        statements.append(current.strip())
    return statements


def _no_end_of_transaction(action: int, operation: str | None, *_: object) -> int:
    ends = action == sqlite3.SQLITE_TRANSACTION and operation in ("COMMIT", "ROLLBACK")
    return sqlite3.SQLITE_DENY if ends else sqlite3.SQLITE_OK
