"""SQLite: one writer thread, readers beside it, and no caller ever gets "database is locked".

- WAL with synchronous=FULL: a commit that returned survives a power cut, unless its caller said that it need not.
- Everything that was asked for while the writer was busy shares the next commit, so durability is paid once for many.
- The write lock is asked for every half millisecond by ourselves. SQLite's own busy handler backs off until small writes
  starve behind another process that commits batches.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final, TypeVar

from kurabito.clock import Clock, SystemClock
from kurabito.db.adoption import holds_earlier_tables
from kurabito.db.errors import EarlierDatabase, NotADatabase
from kurabito.db.grace import Grace, workers_folder
from kurabito.db.port import Connection, Dialect
from kurabito.db.rights import WriteRights, restrict, say_control_plane
from kurabito.db.sqlite.checkpoints import Checkpoints
from kurabito.db.sqlite.connection import SqliteConnection, retry_while_locked
from kurabito.db.sqlite.watch import watch
from kurabito.db.sqlite.writer import Writer, write_once
from kurabito.db.table_names import names_of
from kurabito.db.threads import Threads
from kurabito.errors import DatabaseError, DatabaseUnavailable

T = TypeVar("T")

_PATIENCE: Final = 30.0
_READERS: Final = 3


class SqliteDatabase:
    """A SQLite file, shared by the threads of this process and by other processes."""

    dialect: Final = Dialect.SQLITE
    pooled: Final = False

    def __init__(
        self,
        path: Path,
        clock: Clock | None = None,
        *,
        patience: float = _PATIENCE,
        create: bool = True,
        rights: WriteRights | None = None,
        schema: str | None = None,
    ) -> None:
        self.path = path
        self.workers_folder = workers_folder(path, schema)
        self._ledger = names_of(self.dialect, schema)("kurabito_migrations")
        self._create = create
        self._rights = rights
        self.patience = patience
        """How many seconds another process may hold the write lock before a write fails."""
        self.clock = clock or SystemClock()
        self._grace = Grace(self.workers_folder)
        self._checkpoints = Checkpoints(self.connect)
        self._writer = Writer(self.connect, path, self.wrap, patience, self._checkpoints.note_commit)
        self._readers = Threads(_READERS, "sqlite-reader")
        self._local = threading.local()
        self._reading: list[sqlite3.Connection] = []

    @property
    def connect_for_checkpoints(self) -> Callable[[], sqlite3.Connection]:
        return self.connect

    def open(self) -> None:
        if not self._create:
            _refuse_foreign(self.path, self._ledger)
        self._writer.start()
        self._checkpoints.start()

    def close(self) -> None:
        self._readers.close()
        for reader in self._reading:
            reader.close()
        self._checkpoints.stop()
        self._writer.stop()

    async def read(self, fn: Callable[[Connection], T]) -> T:
        return await self._readers.run(lambda: self.read_blocking(fn))

    async def write(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        return await asyncio.wrap_future(self._writer.submit(fn, durable=durable))

    def read_blocking(self, fn: Callable[[Connection], T]) -> T:
        reader: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if reader is None:
            reader = self._local.connection = self.connect()
            reader.execute("PRAGMA query_only = ON")
            self._reading.append(reader)
        return retry_while_locked(lambda: self._read_once(reader, fn), self.patience)

    def write_blocking(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        return self._writer.submit(fn, durable=durable).result()

    def rebuild_blocking(self, fn: Callable[[Connection], T]) -> T:
        # On a connection of its own: the setting does nothing inside a transaction, and goes with the connection.
        with closing(self.connect()) as raw:
            raw.execute("PRAGMA foreign_keys = OFF")
            answer = write_once(raw, SqliteConnection(raw, self.clock), fn, self.path, self.patience)
        self._checkpoints.note_commit()
        return answer

    def wrap(self, raw: sqlite3.Connection) -> SqliteConnection:
        return SqliteConnection(raw, self.clock, self._grace)

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
            retry_while_locked(lambda: _set_up(raw), self.patience)
            if self._rights is None:
                say_control_plane(raw)
            else:
                restrict(raw, self._rights)
        except sqlite3.Error as problem:
            raw.close()
            raise _opening_error(self.path, problem) from problem
        return raw

    def _read_once(self, reader: sqlite3.Connection, fn: Callable[[Connection], T]) -> T:
        reader.execute("BEGIN")
        try:
            return fn(self.wrap(reader))
        finally:
            reader.execute("COMMIT")


def _refuse_foreign(path: Path, ledger: str) -> None:
    """Raise when the file is missing or not ours. Connecting would make a missing file and change one of another program."""
    if not path.is_file():
        raise DatabaseUnavailable(f"there is no database at {path}; is it the right file?")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as reader:
            ours = reader.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (ledger,)).fetchone()
            is_earlier = ours is None and holds_earlier_tables(reader)
    except sqlite3.Error as problem:
        raise _opening_error(path, problem) from problem
    if is_earlier:
        raise EarlierDatabase(
            f"{path} has the tables of the earlier system; `kurabito db migrate` takes them over, after a backup"
        )
    if ours is None:
        raise DatabaseUnavailable(f"{path} is a database of another program; is it the right file?")


def _set_up(raw: sqlite3.Connection) -> None:
    raw.execute("PRAGMA busy_timeout = 0")
    (mode,) = raw.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal":
        raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("PRAGMA foreign_keys = ON")
    raw.execute("PRAGMA temp_store = MEMORY")
    raw.execute("PRAGMA cache_size = -65536")
    # Only should our own checkpoints fall behind.
    raw.execute("PRAGMA wal_autocheckpoint = 20000")
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
