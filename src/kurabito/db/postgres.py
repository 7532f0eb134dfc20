"""PostgreSQL: a pool of connections, each transaction a plain function on a thread of ours."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, nullcontext
from functools import partial
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import tuple_row
from psycopg_pool import ConnectionPool, PoolTimeout

from kurabito.clock import Clock
from kurabito.db.listen import Listener
from kurabito.db.port import Connection, Dialect, Params, Row
from kurabito.db.queries import for_postgres
from kurabito.db.threads import Threads
from kurabito.errors import DatabaseUnavailable, UniqueConflict

T = TypeVar("T")

CHANNEL: Final = "kurabito"
_THREADS: Final = 6
_OTHERS: Final = 4
_PATIENCE: Final = 10.0
_TRIES: Final = 6
_NOTHING: Final[Mapping[str, Any]] = {}
# The other transaction won; doing ours again is all there is to do.
_CONFLICTS: Final = (pg.DeadlockDetected, pg.SerializationFailure)
# It is the server that cannot now, whatever was asked: it is gone, or read-only, or ended a transaction that took long.
_OF_THE_SERVER: Final = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    pg.ReadOnlySqlTransaction,
    pg.IdleInTransactionSessionTimeout,
)


class PostgresConnection:
    """A transaction on PostgreSQL; it begins with its first statement."""

    __slots__ = ("_begin", "_clock", "_now", "committing", "raw")

    dialect: Final = Dialect.POSTGRES

    def __init__(
        self, raw: psycopg.Connection[Row], clock: Clock | None, begin: Callable[[], object] | None = None
    ) -> None:
        self.raw = raw
        self.committing = False
        """True once something may have been committed, so that nothing here may be done a second time."""
        self._begin = begin
        self._clock = clock
        self._now = clock.now() if clock else None

    def lend(self, fn: Callable[[psycopg.Connection[Any]], T]) -> T:
        self._start()
        # psycopg itself refuses to end a transaction that is a block of ours.
        return fn(self.raw)

    def all(self, sql: str, params: Params = _NOTHING) -> list[Row]:
        return self._execute(sql, params).fetchall()

    def alone(self, sql: str, params: Params = _NOTHING, *, one_plan: bool = False) -> list[Row]:
        # Without BEGIN and COMMIT: two trips to the server less, which an idle worker would wait for.
        self.committing = self._begin is not None
        return self._ask(sql, params, True if one_plan else None).fetchall()

    def one(self, sql: str, params: Params = _NOTHING) -> Row | None:
        return self._execute(sql, params).fetchone()

    def run(self, sql: str, params: Params = _NOTHING) -> int:
        try:
            return self._execute(sql, params).rowcount
        except pg.UniqueViolation as problem:
            raise UniqueConflict(str(problem)) from problem

    def script(self, sql: str) -> None:
        self._start()
        self.raw.execute(sql.encode())

    def now(self) -> int:
        if self._now is None:
            row = self.one("SELECT :now")
            assert row is not None
            self._now = int(row[0])
        return self._now

    def _start(self) -> None:
        if self._begin is not None:
            self._begin()
            self._begin = None

    def _execute(self, sql: str, params: Params) -> psycopg.Cursor[Row]:
        self._start()
        return self._ask(sql, params)

    def _ask(self, sql: str, params: Params, prepare: bool | None = None) -> psycopg.Cursor[Row]:
        # A connection that the caller opened may give its rows another shape.
        cursor = self.raw.cursor(row_factory=tuple_row)
        return cursor.execute(self._text(sql), self._with_now(params), prepare=prepare)

    def _text(self, sql: str) -> Any:
        return for_postgres(sql, self._clock is None)

    def _with_now(self, params: Params) -> Params:
        return params if self._clock is None else {**params, "now": self._now}


class _Own(threading.local):
    """What a thread has for itself: asking the pool each time would take longer than a short statement."""

    connection: psycopg.Connection[Row] | None = None
    keeps: bool = False


class PostgresDatabase:
    """A PostgreSQL database; without a clock of its own it goes by the server's."""

    dialect: Final = Dialect.POSTGRES

    def __init__(self, dsn: str, clock: Clock | None = None, *, role: str | None = None) -> None:
        # From its first moment on the connection is that role, so there is none on which it was forgotten.
        self.dsn = dsn if role is None else make_conninfo(dsn, options=f"-c role={role}")
        self.clock = clock
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            self.dsn,
            min_size=1,
            max_size=_THREADS + _OTHERS,
            timeout=_PATIENCE,
            open=False,
            # Not prepared: a plan that was made while a table was small would be kept, and read the whole of it once it
            # has grown.
            kwargs={"autocommit": True, "application_name": "kurabito", "prepare_threshold": 1_000_000_000},
        )
        self._own = _Own()
        self._kept: set[psycopg.Connection[Row]] = set()
        self._threads = Threads(_THREADS, "postgres", begin=lambda: setattr(self._own, "keeps", True))

    def open(self) -> None:
        try:
            # Asked directly first: the pool would try for a long time and not say why it failed.
            psycopg.connect(self.dsn, connect_timeout=5, autocommit=True).close()
        except (psycopg.Error, ValueError) as problem:
            raise DatabaseUnavailable(f"cannot reach {_where(self.dsn)}: {_reason(problem)}") from problem
        self._pool.open(wait=True)

    def close(self) -> None:
        self._threads.close()
        for connection in self._kept:
            self._pool.putconn(connection)
        self._kept.clear()
        self._pool.close()

    async def read(self, fn: Callable[[Connection], T]) -> T:
        return await self._threads.run(lambda: self.read_blocking(fn))

    async def write(self, fn: Callable[[Connection], T]) -> T:
        return await self._threads.run(lambda: self.write_blocking(fn))

    def read_blocking(self, fn: Callable[[Connection], T]) -> T:
        return self._transact(fn, reading=True)

    def write_blocking(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        return self._transact(fn, durable=durable)

    def rebuild_blocking(self, fn: Callable[[Connection], T]) -> T:
        # Dropping a table that others refer to is refused here, unless it is told to take their references along.
        return self.write_blocking(fn)

    def adopt(self, raw: psycopg.Connection[Any]) -> PostgresConnection:
        return PostgresConnection(raw, self.clock)

    @asynccontextmanager
    async def watching(self, hear: Callable[[str], None]) -> AsyncIterator[None]:
        listener = Listener(self.dsn, CHANNEL, hear, self._lend_to_listener)
        await asyncio.to_thread(listener.start)
        try:
            yield
        finally:
            await asyncio.to_thread(listener.stop)

    def _transact(self, fn: Callable[[Connection], T], *, reading: bool = False, durable: bool = True) -> T:
        for attempt in range(1, _TRIES + 1):
            conn: PostgresConnection | None = None
            try:
                with self._connection() as raw, ExitStack() as transaction:
                    _prepare_for(raw, reading)
                    conn = PostgresConnection(raw, self.clock, partial(_begin, raw, transaction, durable))
                    answer = fn(conn)
                    conn.committing = True
                return answer
            except _CONFLICTS:
                if attempt == _TRIES:
                    raise
                time.sleep(random.uniform(0, 0.01 * attempt))  # noqa: S311 (spreads the tries, guards nothing)
            except _OF_THE_SERVER as problem:
                # A connection that was cut while it lay in the pool is found out by whoever takes it next. Nothing was
                # written unless the commit was under way, so another connection may be tried.
                if (conn is not None and conn.committing) or not _was_cut(problem) or attempt == _TRIES:
                    raise DatabaseUnavailable(f"lost {_where(self.dsn)}: {_reason(problem)}") from problem
        raise AssertionError("unreachable")

    def _connection(self) -> AbstractContextManager[psycopg.Connection[Row]]:
        """The connection that this thread keeps, or for a thread that is not ours one from the pool."""
        own = self._own
        if own.connection is None or own.connection.closed:
            if not own.keeps:
                return self._pool.connection()
            if own.connection is not None:
                self._kept.remove(own.connection)
                self._pool.putconn(own.connection)
                own.connection = None
            own.connection = self._pool.getconn()
            self._kept.add(own.connection)
        return nullcontext(own.connection)

    def _lend_to_listener(self, raw: psycopg.Connection[Row]) -> None:
        """Have what the listener's thread writes go through its connection, which has just been woken: others sleep."""
        # Only claims are made here. Should the server crash, those of the last moment are forgotten and made again, so
        # no worker has to wait for the disk; and what settles them is written behind them.
        raw.execute("SET synchronous_commit = off")
        # A claim is planned once. Whatever size the tables had then, the plan must not be to read them whole.
        raw.prepare_threshold = 0
        raw.execute("SET plan_cache_mode = force_generic_plan")
        raw.execute("SET enable_seqscan = off")
        self._own.connection = raw


def _begin(raw: psycopg.Connection[Row], transaction: ExitStack, durable: bool) -> None:
    transaction.enter_context(raw.transaction())
    if not durable:
        raw.execute("SET LOCAL synchronous_commit = off")


def _prepare_for(raw: psycopg.Connection[Row], reading: bool) -> None:
    """Have the next transaction see one moment and write nothing, as a read on SQLite does; or be an ordinary one."""
    if bool(raw.read_only) is not reading:
        raw.read_only = reading or None
        raw.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ if reading else None


def _was_cut(problem: psycopg.Error) -> bool:
    """True when it was the connection that failed and not the statement."""
    if isinstance(problem, PoolTimeout):
        return False
    return problem.sqlstate is None or problem.sqlstate.startswith(("08", "57P", "25P03"))


def _where(dsn: str) -> str:
    """The server and database in a DSN, and nothing that is secret."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.Error:
        return "the database (its DSN cannot be read)"
    host = parts.get("host") or "the local socket"
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"PostgreSQL {parts.get('dbname') or ''} at {host}{port}".replace("  ", " ")


def _reason(problem: Exception) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return (lines[0] if lines else type(problem).__name__) + "; check the DSN and that the server runs"
