"""The one thread of a process that writes to a SQLite file.

Everything that was asked for while it was busy shares the next commit, so durability is paid once for many.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from kurabito.db.port import Connection
from kurabito.db.sqlite.connection import retry_while_locked
from kurabito.db.threads import raisable
from kurabito.errors import DatabaseError, DatabaseUnavailable
from kurabito.logs import get_logger

_log = get_logger("kurabito.db")

T = TypeVar("T")

_LONGEST_COMMIT: Final = 0.015
_BREATH: Final = 0.001
_OF_THE_DISK: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


class _Job(NamedTuple):
    fn: Callable[[Connection], Any]
    answer: Future[Any]
    durable: bool


_Answer = tuple[Future[Any], Any, BaseException | None]


class Writer:
    """The one thread of this process that writes."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        path: Path,
        transaction: Callable[[sqlite3.Connection], Connection],
        patience: float,
        committed: Callable[[], None],
    ) -> None:
        self._connect = connect
        self._path = path
        self._transaction = transaction
        self._patience = patience
        self._committed = committed
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = self._new_thread()
        self._starting = threading.Lock()
        self._ended = True
        """No thread comes for what is asked. Set before the last look, so that nothing is left behind."""
        self._died = False
        self._taken: list[Future[Any]] = []
        """What is being written and has no answer yet."""
        self._raw: sqlite3.Connection | None = None
        self._aside: _Job | None = None
        """What could not share the last commit and begins the next."""
        self._is_durable = True

    def start(self) -> None:
        # Opened here, so that a file that cannot be used is an error of open() and not of the first write.
        self._raw = self._connect()
        self._ended = False
        self._thread.start()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._jobs.put(None)
            self._thread.join()

    def submit(self, fn: Callable[[Connection], T], *, durable: bool = True) -> Future[T]:
        answer: Future[T] = Future()
        if threading.current_thread() is self._thread:
            raise DatabaseError("a write was asked for inside a write; use the connection that the function was given")
        if self._ended:
            self._begin_again()
        self._jobs.put(_Job(fn, answer, durable))
        if self._ended:
            # It ended in between, and may have looked for the last time before this was there.
            self._refuse_the_rest()
        return answer

    def _new_thread(self) -> threading.Thread:
        return threading.Thread(target=self._serve, name="sqlite-writer", daemon=True)

    def _begin_again(self) -> None:
        """Start another thread after one that died; raises DatabaseUnavailable when the file was closed."""
        with self._starting:
            if not self._ended:
                return
            if not self._died:
                raise DatabaseUnavailable(f"{self._path} is closed")
            self._raw = self._connect()
            self._aside, self._is_durable, self._died = None, True, False
            self._thread = self._new_thread()
            self._ended = False
            self._thread.start()

    def _serve(self) -> None:
        """Write until `stop`. Should the thread die of an error that is not foreseen, every caller gets it."""
        try:
            self._run()
        except BaseException as problem:  # noqa: BLE001 - whatever it is, it must not leave callers waiting for ever
            _log.critical("sqlite_writer_died", file=str(self._path), exc_info=problem)
            died = DatabaseUnavailable(f"the thread that writes {self._path} died: {problem!r}; try again")
            for answer in self._taken:
                if not answer.done():
                    answer.set_exception(died)
            self._taken.clear()
            if self._raw is not None:
                with suppress(sqlite3.Error):
                    # It undoes what was not committed.
                    self._raw.close()
            self._died = self._ended = True
            self._refuse_the_rest(died)

    def _run(self) -> None:
        assert self._raw is not None
        raw = self._raw
        closing, written = False, 0
        while not closing and (job := self._next()) is not None:
            began = time.monotonic()
            answers, closing = self._commit_together(raw, job, began + _LONGEST_COMMIT)
            for answer, result, problem in answers:
                if problem is not None:
                    answer.set_exception(problem)
                else:
                    answer.set_result(result)
            self._taken.clear()
            if raw.total_changes != written:
                written = raw.total_changes
                self._committed()
            if time.monotonic() - began > _LONGEST_COMMIT:
                time.sleep(_BREATH)
        raw.close()
        self._ended = True
        self._refuse_the_rest()

    def _next(self) -> _Job | None:
        job, self._aside = self._aside, None
        return job or self._jobs.get()

    def _commit_together(self, raw: sqlite3.Connection, job: _Job, until: float) -> tuple[list[_Answer], bool]:
        """Run this job and whatever waits behind it in one transaction; a failed one undoes only itself.

        The answers are given after the commit. True when the end was asked for meanwhile.
        """
        taken = self._taken
        outcomes: list[tuple[Any, BaseException | None]] = []
        waiting: _Job | None = job
        try:
            self._wait_for_the_disk(raw, job.durable)
            retry_while_locked(lambda: raw.execute("BEGIN IMMEDIATE"), self._patience)
            while waiting is not None:
                # From here on the caller cannot cancel it.
                if waiting.answer.set_running_or_notify_cancel():
                    taken.append(waiting.answer)
                    outcomes.append(self._attempt(raw, waiting.fn))
                if time.monotonic() > until:
                    break
                try:
                    waiting = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if waiting is not None and waiting.durable is not job.durable:
                    # What need not be on the disk is much at a time: who asked for durability does not wait for it too.
                    self._aside = waiting
                    break
            retry_while_locked(lambda: raw.execute("COMMIT"), self._patience)
        except (sqlite3.Error, DatabaseError) as problem:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            if not taken and job.answer.set_running_or_notify_cancel():
                taken.append(job.answer)
            failed = problem if isinstance(problem, DatabaseError) else _writing_error(self._path, problem)
            outcomes = [(None, failed)] * len(taken)
        return [(answer, *outcome) for answer, outcome in zip(taken, outcomes, strict=True)], waiting is None

    def _wait_for_the_disk(self, raw: sqlite3.Connection, durable: bool) -> None:
        """Say whether the next commit is to be on the disk when it returns."""
        if durable is not self._is_durable:
            raw.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable

    def _refuse_the_rest(self, why: DatabaseUnavailable | None = None) -> None:
        if self._aside is not None:
            self._jobs.put(self._aside)
            self._aside = None
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return
            if job is not None and job.answer.set_running_or_notify_cancel():
                job.answer.set_exception(why or DatabaseUnavailable(f"{self._path} is closed"))

    def _attempt(self, raw: sqlite3.Connection, fn: Callable[[Connection], Any]) -> tuple[Any, BaseException | None]:
        raw.execute("SAVEPOINT job")
        try:
            result = fn(self._transaction(raw))
        except BaseException as problem:
            if isinstance(problem, sqlite3.OperationalError) and problem.sqlite_errorcode & 0xFF in _OF_THE_DISK:
                # SQLite may have undone the whole transaction by now.
                raise
            raw.execute("ROLLBACK TO job")
            raw.execute("RELEASE job")
            return None, raisable(problem)
        raw.execute("RELEASE job")
        return result, None


def write_once(
    raw: sqlite3.Connection, conn: Connection, fn: Callable[[Connection], T], path: Path, patience: float
) -> T:
    """Run a function in a transaction that it shares with no other."""
    try:
        retry_while_locked(lambda: raw.execute("BEGIN IMMEDIATE"), patience)
        answer = fn(conn)
        retry_while_locked(lambda: raw.execute("COMMIT"), patience)
    except sqlite3.OperationalError as problem:
        if problem.sqlite_errorcode & 0xFF in _OF_THE_DISK:
            raise _writing_error(path, problem) from problem
        raise
    finally:
        if raw.in_transaction:
            raw.execute("ROLLBACK")
    return answer


def _writing_error(path: Path, problem: sqlite3.Error) -> DatabaseError:
    if getattr(problem, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
        return DatabaseUnavailable(f"cannot write to {path}: the disk is full; make room and try again")
    return DatabaseUnavailable(f"cannot write to {path}: {problem}")
