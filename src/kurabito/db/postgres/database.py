"""PostgreSQL: a pool of connections, each transaction a plain function on a thread of ours."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, nullcontext
from functools import partial
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors as pg

from kurabito.clock import Clock
from kurabito.db.port import Connection, Dialect, Row
from kurabito.db.postgres.connection import PostgresConnection
from kurabito.db.postgres.listener import NotificationListener
from kurabito.db.postgres.poll import Poller
from kurabito.db.postgres.pool import Pool
from kurabito.db.postgres.sessions import direct, is_pooled, reachable, where
from kurabito.db.table_names import CHANNEL
from kurabito.db.threads import Threads
from kurabito.errors import ConfigError, DatabaseUnavailable

T = TypeVar("T")

_THREADS: Final = 6
_OTHERS: Final = 4
_PATIENCE: Final = 10.0
_TRIES: Final = 6
# The other transaction won; doing ours again is all there is to do.
_CONFLICTS: Final = (pg.DeadlockDetected, pg.SerializationFailure)
# The server ended the session because we were silent for too long.
_SHUT: Final = (pg.IdleInTransactionSessionTimeout, pg.IdleSessionTimeout)


class _Own(threading.local):
    """What a thread has for itself: asking the pool each time would take longer than a short statement."""

    connection: psycopg.Connection[Row] | None = None
    keeps: bool = False


class PostgresDatabase:
    """A PostgreSQL database; without a clock of its own it goes by the server's.

    It holds at most ten connections, and one that listens.
    """

    dialect: Final = Dialect.POSTGRES
    workers_folder: Final = None
    connect_for_checkpoints: Final = None

    def __init__(
        self,
        dsn: str,
        clock: Clock | None = None,
        *,
        role: str | None = None,
        pooled: bool | None = None,
        channel: str = CHANNEL,
    ) -> None:
        self.dsn = dsn
        self.clock = clock
        self.pooled = bool(pooled)
        """Whether a pooler gives each transaction another session. Known once it is open."""
        self._pooled = pooled
        self._role = role
        self._channel = channel
        self._conninfo = dsn
        self._pool = Pool(self._connect, _THREADS + _OTHERS, _PATIENCE)
        self._own = _Own()
        self._kept: set[psycopg.Connection[Row]] = set()
        self._threads = Threads(_THREADS, "postgres", begin=lambda: setattr(self._own, "keeps", True))

    def open(self) -> None:
        try:
            # Before anything is asked of the session, because a pooler would refuse it.
            with psycopg.connect(reachable(self.dsn), autocommit=True) as raw:
                self.pooled = is_pooled(raw) if self._pooled is None else self._pooled
        except (psycopg.Error, ValueError) as problem:
            raise DatabaseUnavailable(f"cannot reach {where(self.dsn)}: {_reason(problem)}") from problem
        if self.pooled and self._role is not None:
            raise ConfigError(
                f"{where(self.dsn)} is a pooler, and the role {self._role} is a setting of a session, which it shares among "
                "many; give the URL of the server itself"
            )
        self._conninfo = reachable(self.dsn) if self.pooled else direct(self.dsn, self._role)

    def close(self) -> None:
        self._threads.close()
        for connection in self._kept:
            self._pool.give_back(connection)
        self._kept.clear()
        self._pool.close()

    async def read(self, fn: Callable[[Connection], T]) -> T:
        return await self._threads.run(lambda: self.read_blocking(fn))

    async def write(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        return await self._threads.run(lambda: self.write_blocking(fn, durable=durable))

    def read_blocking(self, fn: Callable[[Connection], T]) -> T:
        return self._transact(fn, reading=True)

    def write_blocking(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        return self._transact(fn, durable=durable)

    def rebuild_blocking(self, fn: Callable[[Connection], T]) -> T:
        # Dropping a table that others refer to is refused here, unless it is told to take their references along.
        return self.write_blocking(fn)

    def wrap(self, raw: psycopg.Connection[Any]) -> PostgresConnection:
        return PostgresConnection(raw, self.clock)

    @asynccontextmanager
    async def watching(self, hear: Callable[[str], None]) -> AsyncIterator[None]:
        watcher = (
            Poller(self._last_commit, hear)
            if self.pooled
            else NotificationListener(self._conninfo, self._channel, hear, self._write_through)
        )
        await asyncio.to_thread(watcher.start)
        try:
            yield
        finally:
            await asyncio.to_thread(watcher.stop)

    def _connect(self) -> psycopg.Connection[Row]:
        """A new connection; a server that restarts is waited for."""
        until, wait = time.monotonic() + _PATIENCE, 0.05
        while True:
            try:
                return psycopg.connect(
                    self._conninfo,
                    autocommit=True,
                    application_name="kurabito",
                    # Not prepared: a plan that was made while a table was small would be kept, and read the whole of it
                    # once it has grown. Behind a pooler never, because the next statement goes to another session.
                    prepare_threshold=None if self.pooled else 1_000_000_000,
                )
            except psycopg.Error as problem:
                if time.monotonic() + wait > until:
                    raise DatabaseUnavailable(f"cannot reach {where(self.dsn)}: {_reason(problem)}") from problem
                time.sleep(wait)
                wait = min(wait * 2, 1.0)

    def _transact(self, fn: Callable[[Connection], T], *, reading: bool = False, durable: bool = True) -> T:
        for attempt in range(1, _TRIES + 1):
            conn: PostgresConnection | None = None
            try:
                with self._connection() as raw, ExitStack() as transaction:
                    conn = PostgresConnection(raw, self.clock, partial(_begin, raw, transaction, durable))
                    _prepare_for(raw, reading)
                    answer = fn(conn)
                    conn.committing = True
                return answer
            except _CONFLICTS:
                if attempt == _TRIES:
                    raise
                time.sleep(random.uniform(0, 0.01 * attempt))  # noqa: S311 (spreads the tries, guards nothing)
            except psycopg.Error as problem:
                assert conn is not None
                if not self._may_try_again(problem, conn, reading, attempt):
                    raise DatabaseUnavailable(self._explained(problem)) from problem
        raise AssertionError("unreachable")

    def _may_try_again(self, problem: psycopg.Error, conn: PostgresConnection, reading: bool, attempt: int) -> bool:
        """Whether another connection may do better. What is no failure of the connection or the server is raised."""
        if isinstance(problem, pg.ReadOnlySqlTransaction) and not reading:
            # A standby, or a server that was made one. Nothing was written. A new connection may find it writable again,
            # or of several hosts the one that is.
            conn.raw.close()
            self._pool.drop_idle()
            return attempt == 1 or ("target_session_attrs" in self._conninfo and attempt < _TRIES)
        if _was_cut(problem):
            # A connection that was cut in the pool fails at its next use. Nothing was written unless the commit was under
            # way.
            conn.raw.close()
            self._pool.drop_idle()
            return not conn.committing and attempt < _TRIES
        if not isinstance(problem, psycopg.OperationalError | psycopg.InterfaceError):
            raise problem
        return False

    def _explained(self, problem: psycopg.Error) -> str:
        if isinstance(problem, pg.ReadOnlySqlTransaction):
            return f"{where(self.dsn)} takes no writes: it is a standby or read-only; what was asked for can be asked again"
        return f"lost {where(self.dsn)}: {_reason(problem)}"

    def _connection(self) -> AbstractContextManager[psycopg.Connection[Row]]:
        """The connection that this thread keeps, or for a thread that is not ours one from the pool."""
        own = self._own
        if own.connection is None or own.connection.closed:
            if not own.keeps:
                return self._pool.connection()
            if own.connection is not None:
                self._kept.remove(own.connection)
                self._pool.give_back(own.connection)
                own.connection = None
            own.connection = self._pool.take()
            self._kept.add(own.connection)
        return nullcontext(own.connection)

    def _last_commit(self) -> int:
        """A number that grows with every transaction that wrote something, in whatever database of the server."""
        asked = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
        return int(self.read_blocking(lambda conn: conn.value(asked)))

    def _write_through(self, raw: psycopg.Connection[Row]) -> None:
        """Let the listener's thread write through its own connection: the notification has just woken it, the others sleep."""
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
    if isinstance(problem, _SHUT):
        return True
    # An internal error without a state is psycopg's own: PgBouncer passes on that the server ended an idle session as one
    # more answer to the next statement.
    is_ours = isinstance(problem, psycopg.OperationalError | psycopg.InterfaceError | psycopg.InternalError)
    return is_ours and (problem.sqlstate is None or problem.sqlstate.startswith(("08", "57P")))


def _reason(problem: Exception) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return (lines[0] if lines else type(problem).__name__) + "; check the DSN and that the server runs"
