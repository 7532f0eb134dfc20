"""The port: stores are plain functions of a connection, and a database runs them.

SQL is written with `:name` parameters on both engines. `:now` is the moment of the transaction and needs no value: on
SQLite our clock gives it, on PostgreSQL the server's, because machines disagree and the server is one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from kurabito.db.dialect import Dialect
from kurabito.db.grace import Grace
from kurabito.db.locks import AdvisoryLock
from kurabito.db.queries import Query
from kurabito.db.rows import Column

__all__ = ["Connection", "Database", "Dialect", "Params", "Row", "Statement"]

T = TypeVar("T")
Row = tuple[Any, ...]
Params = Mapping[str, Any]
Statement = str | Query
"""Its text, or a query that has one for each dialect."""


class Connection(Protocol):
    """One transaction's view of the database."""

    @property
    def dialect(self) -> Dialect:
        """How this database says what the other says in another way."""
        ...

    @property
    def raw(self) -> Any:
        """The driver's own connection."""
        ...

    @property
    def grace(self) -> Grace | None:
        """Knows which owners are alive on this machine; None where the lease alone decides."""
        ...

    def with_raw(self, fn: Callable[[Any], T]) -> T:
        """Run a caller's function with the driver's connection: it may do anything but end the transaction."""
        ...

    def all(self, sql: Statement, params: Params = ...) -> list[Row]:
        """Every row of the answer."""
        ...

    def one(self, sql: Statement, params: Params = ...) -> Row | None:
        """The first row of the answer."""
        ...

    def value(self, sql: Statement, params: Params = ...) -> Any:
        """The value in the first row of an answer of one column; None without a row."""
        ...

    def autocommit(self, sql: str, params: Params = ..., *, one_plan: bool = False) -> list[Row]:
        """Every row of the answer of a statement that may be a transaction of its own.

        It is one when it comes first; whatever comes after it must then not need to be committed together with it.
        `one_plan` says that there is one way only to run it, whatever the tables hold, so that the plan may be kept.
        """
        ...

    def run(self, sql: Statement, params: Params = ...) -> int:
        """How many rows the statement changed."""
        ...

    def run_rows(self, sql: Query, rows: Sequence[Column], params: Params = ...) -> None:
        """Run a statement for many rows, each of which has a value in every column. `{new}name` in it is the row's value.

        A statement with `<rows>` in it takes them as one SELECT, as an INSERT does best.
        """
        ...

    def lock(self, lock: AdvisoryLock) -> None:
        """Wait until no other transaction has this lock, and keep it until this one ends."""
        ...

    def notify(self) -> None:
        """Have those who watch the database hear of this transaction once it is committed."""
        ...

    def now(self) -> int:
        """The moment of this transaction: what `:now` stands for."""
        ...

    def script(self, sql: str) -> None:
        """Several statements without parameters."""
        ...


class Database(Protocol):
    """Runs plain functions of a connection, each in one transaction.

    A function may be run again after a conflict, so it touches nothing but its connection.
    """

    @property
    def dialect(self) -> Dialect: ...

    @property
    def pooled(self) -> bool:
        """Whether sessions are shared with other programs, so that no setting of ours stays on one. Known once it is open."""
        ...

    @property
    def workers_folder(self) -> Path | None:
        """Where workers hold the locks that say that they live; None where they may be on other machines."""
        ...

    @property
    def connect_for_checkpoints(self) -> Callable[[], sqlite3.Connection] | None:
        """Opens a connection on which a data plane does checkpoints; None where the server of the database does them."""
        ...

    def open(self) -> None:
        """Connect; raises DatabaseUnavailable or NotADatabase with what to do."""
        ...

    def close(self) -> None:
        """Let everything under way end, then disconnect."""
        ...

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """Run a function that only reads, off the event loop."""
        ...

    async def write(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run a function in a transaction of its own, off the event loop.

        One that is not durable does not wait for the disk: a power cut may undo it, and whatever was not durable after it.
        """
        ...

    def read_blocking(self, fn: Callable[[Connection], T]) -> T:
        """As `read`, for a thread that may wait."""
        ...

    def write_blocking(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        """As `write`, for a thread that may wait."""
        ...

    def rebuild_blocking(self, fn: Callable[[Connection], T]) -> T:
        """As `write_blocking`, for a function that makes, renames or drops tables.

        SQLite keeps no foreign keys meanwhile: with them, dropping a table deletes the rows that refer to its rows. The function
        sees to it that they hold at its end.
        """
        ...

    def watching(self, hear: Callable[[str], None]) -> AbstractAsyncContextManager[None]:
        """Call `hear` when another process may have committed something of interest, while the block runs.

        On SQLite that is any commit; on PostgreSQL a notification, whose text is passed on. It is called with "" too when
        some may have been missed.
        """
        ...

    def wrap(self, raw: Any) -> Connection:
        """A connection that the caller opened on this same database, seen through the port."""
        ...
