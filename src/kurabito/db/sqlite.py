"""SQLite: one writer thread, readers beside it, and nobody ever hears "database is locked".

- WAL with synchronous=FULL: a commit that returned survives a power cut.
- Everything that was asked for while the writer was busy shares the next commit, so durability is paid once for many.
- The write lock is asked for every half millisecond by ourselves. SQLite's own busy handler backs off until small writes
  starve behind another process that commits batches.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final, TypeVar

from kurabito.clock import Clock, SystemClock
from kurabito.db.port import Connection, Dialect, Params, Row
from kurabito.db.watch import watch
from kurabito.errors import DatabaseError, DatabaseUnavailable, NotADatabase, UniqueConflict

T = TypeVar("T")

_RETRY: Final = 0.0005
_PATIENCE: Final = 30.0
_LONGEST_COMMIT: Final = 0.015
_BREATH: Final = 0.001
_READERS: Final = 3
_NOTHING: Final[Mapping[str, Any]] = {}
_OF_THE_DISK: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


class SqliteConnection:
    """A transaction on SQLite."""

    __slots__ = ("_clock", "_now", "raw")

    dialect: Final = Dialect.SQLITE

    def __init__(self, raw: sqlite3.Connection, clock: Clock) -> None:
        self.raw = raw
        self._clock = clock
        self._now: int | None = None

    def lend(self, fn: Callable[[sqlite3.Connection], T]) -> T:
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

    def all(self, sql: str, params: Params = _NOTHING) -> list[Row]:
        return self._execute(sql, params).fetchall()

    def one(self, sql: str, params: Params = _NOTHING) -> Row | None:
        row: Row | None = self._execute(sql, params).fetchone()
        return row

    def run(self, sql: str, params: Params = _NOTHING) -> int:
        try:
            return self._execute(sql, params).rowcount
        except sqlite3.IntegrityError as problem:
            if problem.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                raise UniqueConflict(str(problem)) from problem
            raise

    def script(self, sql: str) -> None:
        # executescript would commit the transaction that is under way.
        for statement in split_statements(sql):
            self.raw.execute(statement)

    def now(self) -> int:
        if self._now is None:
            self._now = self._clock.now()
        return self._now

    def _execute(self, sql: str, params: Params) -> sqlite3.Cursor:
        cursor = self.raw.cursor()
        # A connection that the caller opened may give its rows another shape.
        cursor.row_factory = None
        return cursor.execute(sql, {**params, "now": self.now()} if ":now" in sql else params)


class SqliteDatabase:
    """A SQLite file, shared by the threads of this process and by other processes."""

    dialect: Final = Dialect.SQLITE

    def __init__(
        self, path: Path, clock: Clock | None = None, *, patience: float = _PATIENCE, create: bool = True
    ) -> None:
        self.path = path
        self._create = create
        self.patience = patience
        """How many seconds another process may hold the write lock before we give up."""
        self.clock = clock or SystemClock()
        self._writer = _Writer(self)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="sqlite-reader")
        self._local = threading.local()
        self._reading: list[sqlite3.Connection] = []

    def open(self) -> None:
        if not self._create:
            _refuse_foreign(self.path)
        self._writer.start()

    def close(self) -> None:
        self._readers.shutdown()
        for reader in self._reading:
            reader.close()
        self._writer.stop()

    async def read(self, fn: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self.read_blocking, fn)

    async def write(self, fn: Callable[[Connection], T]) -> T:
        return await asyncio.wrap_future(self._writer.submit(fn))

    def read_blocking(self, fn: Callable[[Connection], T]) -> T:
        reader: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if reader is None:
            reader = self._local.connection = self.connect()
            reader.execute("PRAGMA query_only = ON")
            self._reading.append(reader)
        return patiently(lambda: self._read_once(reader, fn), self.patience)

    def write_blocking(self, fn: Callable[[Connection], T]) -> T:
        return self._writer.submit(fn).result()

    def adopt(self, raw: sqlite3.Connection) -> SqliteConnection:
        return SqliteConnection(raw, self.clock)

    @asynccontextmanager
    async def watching(self, hear: Callable[[str], None]) -> AsyncIterator[None]:
        task = asyncio.create_task(watch(self.connect(), hear), name="sqlite-watch")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def connect(self) -> sqlite3.Connection:
        """A connection set up as this database wants it."""
        try:
            raw = sqlite3.connect(
                self.path, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=256
            )
        except sqlite3.Error as problem:
            raise DatabaseUnavailable(_cannot_open(self.path, problem)) from problem
        try:
            patiently(lambda: _set_up(raw), self.patience)
        except sqlite3.Error as problem:
            raw.close()
            raise _opening_error(self.path, problem) from problem
        return raw

    def _read_once(self, reader: sqlite3.Connection, fn: Callable[[Connection], T]) -> T:
        reader.execute("BEGIN")
        try:
            return fn(SqliteConnection(reader, self.clock))
        finally:
            reader.execute("COMMIT")


_Job = tuple[Callable[[Connection], Any], Future[Any]]
_Answer = tuple[Future[Any], Any, BaseException | None]


class _Writer:
    """The one thread of this process that writes."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)
        self._raw: sqlite3.Connection | None = None

    def start(self) -> None:
        # Opened here, so that a file that cannot be used is an error of open() and not of the first write.
        self._raw = self._database.connect()
        self._thread.start()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._jobs.put(None)
            self._thread.join()

    def submit(self, fn: Callable[[Connection], T]) -> Future[T]:
        answer: Future[T] = Future()
        if threading.current_thread() is self._thread:
            raise DatabaseError("a write was asked for inside a write; use the connection that the function was given")
        if not self._thread.is_alive():
            raise DatabaseUnavailable(f"{self._database.path} is closed")
        self._jobs.put((fn, answer))
        return answer

    def _run(self) -> None:
        assert self._raw is not None
        raw = self._raw
        closing = False
        while not closing and (job := self._jobs.get()) is not None:
            began = time.monotonic()
            answers, closing = self._commit_together(raw, job, began + _LONGEST_COMMIT)
            for answer, result, problem in answers:
                if problem is not None:
                    answer.set_exception(problem)
                else:
                    answer.set_result(result)
            if time.monotonic() - began > _LONGEST_COMMIT:
                time.sleep(_BREATH)
        raw.close()
        self._refuse_the_rest()

    def _commit_together(self, raw: sqlite3.Connection, job: _Job, until: float) -> tuple[list[_Answer], bool]:
        """Run this job and whatever waits behind it in one transaction; a failed one undoes only itself.

        The answers are given after the commit. True when the end was asked for meanwhile.
        """
        taken: list[Future[Any]] = []
        outcomes: list[tuple[Any, BaseException | None]] = []
        waiting: _Job | None = job
        try:
            patiently(lambda: raw.execute("BEGIN IMMEDIATE"), self._database.patience)
            while waiting is not None:
                fn, answer = waiting
                # From here on whoever asked cannot take it back.
                if answer.set_running_or_notify_cancel():
                    taken.append(answer)
                    outcomes.append(self._attempt(raw, fn))
                if time.monotonic() > until:
                    break
                try:
                    waiting = self._jobs.get_nowait()
                except queue.Empty:
                    break
            patiently(lambda: raw.execute("COMMIT"), self._database.patience)
        except (sqlite3.Error, DatabaseError) as problem:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            if not taken and job[1].set_running_or_notify_cancel():
                taken.append(job[1])
            failed = problem if isinstance(problem, DatabaseError) else _writing_error(self._database.path, problem)
            outcomes = [(None, failed)] * len(taken)
        return [(answer, *outcome) for answer, outcome in zip(taken, outcomes, strict=True)], waiting is None

    def _refuse_the_rest(self) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return
            if job is not None and job[1].set_running_or_notify_cancel():
                job[1].set_exception(DatabaseUnavailable(f"{self._database.path} is closed"))

    def _attempt(self, raw: sqlite3.Connection, fn: Callable[[Connection], Any]) -> tuple[Any, BaseException | None]:
        raw.execute("SAVEPOINT job")
        try:
            result = fn(SqliteConnection(raw, self._database.clock))
        except BaseException as problem:
            if isinstance(problem, sqlite3.OperationalError) and problem.sqlite_errorcode & 0xFF in _OF_THE_DISK:
                # SQLite may have undone the whole transaction by now.
                raise
            raw.execute("ROLLBACK TO job")
            raw.execute("RELEASE job")
            return None, problem
        raw.execute("RELEASE job")
        return result, None


def _no_end_of_transaction(action: int, operation: str | None, *_: object) -> int:
    ends = action == sqlite3.SQLITE_TRANSACTION and operation in ("COMMIT", "ROLLBACK")
    return sqlite3.SQLITE_DENY if ends else sqlite3.SQLITE_OK


def patiently(attempt: Callable[[], T], patience: float) -> T:
    """Do it, again and again while another process holds the lock it needs."""
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


def _refuse_foreign(path: Path) -> None:
    """Connecting makes a missing file and changes one of another program, so whoever only looks finds out before."""
    if not path.is_file():
        raise DatabaseUnavailable(f"there is no database at {path}; is it the right file?")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as reader:
            ours = reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'kurabito_migrations'").fetchone()
    except sqlite3.Error as problem:
        raise _opening_error(path, problem) from problem
    if ours is None:
        raise DatabaseUnavailable(f"{path} is a database of another program; is it the right file?")


def _set_up(raw: sqlite3.Connection) -> None:
    raw.execute("PRAGMA busy_timeout = 0")
    mode = raw.execute("PRAGMA journal_mode").fetchone()[0]
    if mode != "wal":
        raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("PRAGMA foreign_keys = ON")
    raw.execute("PRAGMA temp_store = MEMORY")
    raw.execute("PRAGMA cache_size = -65536")
    raw.execute("PRAGMA wal_autocheckpoint = 4000")
    raw.execute("PRAGMA journal_size_limit = 67108864")
    raw.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _opening_error(path: Path, problem: sqlite3.Error) -> DatabaseError:
    if getattr(problem, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
        return NotADatabase(f"{path} is not a SQLite database; give another path, or move that file away")
    return DatabaseUnavailable(_cannot_open(path, problem))


def _cannot_open(path: Path, problem: sqlite3.Error) -> str:
    if not path.parent.exists():
        return f"cannot open {path}: the folder {path.parent} does not exist; create it"
    if path.is_dir():
        return f"cannot open {path}: it is a folder; give the path of a file in it"
    return f"cannot open {path}: {problem}; this user must be able to write the file and its folder"


def _writing_error(path: Path, problem: sqlite3.Error) -> DatabaseError:
    if getattr(problem, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
        return DatabaseUnavailable(f"cannot write to {path}: the disk is full; make room and try again")
    return DatabaseUnavailable(f"cannot write to {path}: {problem}")
