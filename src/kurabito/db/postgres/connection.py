"""One transaction on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors as pg
from psycopg.rows import tuple_row

from kurabito.clock import Clock
from kurabito.db.dialect import ROWS, Dialect
from kurabito.db.errors import UniqueConflict
from kurabito.db.locks import AdvisoryLock
from kurabito.db.port import Params, Row, Statement
from kurabito.db.queries import Query, for_postgres
from kurabito.db.rows import Column, only_value, row_source
from kurabito.db.table_names import CHANNEL

T = TypeVar("T")

_NOTHING: Final[Mapping[str, Any]] = {}


class PostgresConnection:
    """A transaction on PostgreSQL; it begins with its first statement."""

    __slots__ = ("_begin", "_clock", "_now", "_ours", "committing", "raw")

    dialect: Final = Dialect.POSTGRES
    grace: Final = None

    def __init__(
        self, raw: psycopg.Connection[Row], clock: Clock | None, begin: Callable[[], object] | None = None
    ) -> None:
        self.raw = raw
        self.committing = False
        """True once something may have been committed, so that nothing here may be done a second time."""
        self._ours = begin is not None
        """False for a connection of the caller's: it is told nothing that would outlast a statement."""
        self._begin = begin
        self._clock = clock
        self._now = clock.now() if clock else None

    def with_raw(self, fn: Callable[[psycopg.Connection[Any]], T]) -> T:
        self._start()
        if self._ours:
            # The caller's function may take its time between two statements. A machine that is gone is noticed all the same.
            self.raw.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        # psycopg itself refuses to end a transaction that is a block of ours.
        return fn(self.raw)

    def all(self, sql: Statement, params: Params = _NOTHING) -> list[Row]:
        return self._execute(sql, params).fetchall()

    def autocommit(self, sql: str, params: Params = _NOTHING, *, one_plan: bool = False) -> list[Row]:
        # Without BEGIN and COMMIT: two trips to the server less, which an idle worker would wait for.
        self.committing = self._begin is not None
        return self._ask(sql, params, True if one_plan and self._ours else None).fetchall()

    def one(self, sql: Statement, params: Params = _NOTHING) -> Row | None:
        return self._execute(sql, params).fetchone()

    def value(self, sql: Statement, params: Params = _NOTHING) -> Any:
        return only_value(self.one(sql, params))

    def run(self, sql: Statement, params: Params = _NOTHING) -> int:
        return self._execute(sql, params).rowcount

    def run_rows(self, sql: Query, rows: Sequence[Column], params: Params = _NOTHING) -> None:
        source, arrays = row_source(*rows)
        self._execute(sql.text(self.dialect).replace(ROWS, source), {**params, **arrays})

    def lock(self, lock: AdvisoryLock) -> None:
        self._execute(f"SELECT pg_advisory_xact_lock({', '.join(map(str, lock.value))})", _NOTHING)

    def notify(self) -> None:
        self._execute(f"SELECT pg_notify('{CHANNEL}', '')", _NOTHING)

    def script(self, sql: str) -> None:
        self._start()
        self.raw.execute(sql.encode())

    def now(self) -> int:
        if self._now is None:
            self._now = int(self.value("SELECT :now"))
        return self._now

    def _start(self) -> None:
        if self._begin is not None:
            self._begin()
            self._begin = None

    def _execute(self, sql: Statement, params: Params) -> psycopg.Cursor[Row]:
        self._start()
        if not isinstance(sql, str):
            params = sql.values(self.dialect, params)
            sql = sql.text(self.dialect)
        try:
            return self._ask(sql, params)
        except pg.UniqueViolation as problem:
            raise UniqueConflict(str(problem)) from problem

    def _ask(self, sql: str, params: Params, prepare: bool | None = None) -> psycopg.Cursor[Row]:
        # A connection that the caller opened may give its rows another shape.
        cursor = self.raw.cursor(row_factory=tuple_row)
        return cursor.execute(self._text(sql), self._with_now(params), prepare=prepare)

    def _text(self, sql: str) -> Any:
        return for_postgres(sql, self._clock is None)

    def _with_now(self, params: Params) -> Params:
        return params if self._clock is None else {**params, "now": self._now}
