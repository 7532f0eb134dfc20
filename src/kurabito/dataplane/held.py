"""A job that this process holds the lease of.

Every transaction of a data plane renews its own lease first, in the same transaction: whoever lost the lease finds out before
anything of theirs is stored. Between transactions a thread of its own keeps the lease, so that no work, however long it
computes, is taken for dead.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from kurabito.clock import SECOND
from kurabito.db import Connection, Database, leases
from kurabito.errors import KurabitoError, LeaseLost
from kurabito.logs import get_logger
from kurabito.protocol.codes import ErrorCode
from kurabito.protocol.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS, PROGRESS_COLUMNS, PROGRESS_VALUES
from kurabito.protocol.values import JobKind, JobStatus

T = TypeVar("T")

LEASE: Final = 30.0
HEARTBEAT: Final = 5.0

_log = get_logger(__name__)


class Stopped(KurabitoError):
    """The data plane is asked to end: the job is given back and goes on elsewhere."""

    code = "stopped"


class HeldJob:
    """The right to work on one job; use it as a context.

    with job:
        job.write(lambda conn: store.note(conn, rows))      # raises LeaseLost when the job is another's by now
        job.report(processed=500, progress=0.25)            # told with the next heartbeat
    """

    def __init__(
        self,
        database: Database,
        owner: str,
        row: tuple[Any, ...],
        *,
        lease: float = LEASE,
        heartbeat: float = HEARTBEAT,
    ) -> None:
        self.id, kind, self.library_id, dry_run, payload = row
        self.kind = JobKind(kind)
        self.dry_run = bool(dry_run)
        self.payload: dict[str, Any] = json.loads(payload)
        self._database = database
        self._owner = owner
        self._lease = round(lease * SECOND)
        self._heartbeat = heartbeat
        self._ending = threading.Event()
        self._interrupted: KurabitoError | None = None
        self._processed = 0
        self._progress = 0.0
        self._heart = threading.Thread(target=self._beat, name=f"heart of {self.id}", daemon=True)

    def __enter__(self) -> Self:
        self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._heart.join()

    def stop(self) -> None:
        """Have the work end at its next step; safe in any thread."""
        self._interrupted = self._interrupted or Stopped(f"job {self.id} is given back: this data plane ends")

    def check(self) -> None:
        """Raise if there is no point in going on: LeaseLost or Stopped. Cheap; call it between small steps."""
        if self._interrupted is not None:
            raise self._interrupted

    def report(self, processed: int, progress: float) -> None:
        """Say how far the job is: so many items, and the fraction of the whole."""
        self._processed, self._progress = processed, min(1.0, progress)

    def write(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run a function in a transaction that is ours only as long as the lease is.

        What can be found out again from the disk of a library need not be durable.
        """
        self.check()

        def fenced(conn: Connection) -> T:
            self._renew(conn)
            return fn(conn)

        return self._database.write_blocking(fenced, durable=durable)

    def read(self, fn: Callable[[Connection], T]) -> T:
        """Run a function that only looks."""
        return self._database.read_blocking(fn)

    def finish(self, status: JobStatus, code: ErrorCode | None = None, message: str | None = None) -> None:
        """Write how the job ended; raises LeaseLost when that is for another to say."""
        progress = 1.0 if status is JobStatus.COMPLETED else self._progress
        ended = [(self.id, self._owner, status.value, progress, code and code.value, message)]

        def write(conn: Connection) -> None:
            self._renew(conn)
            leases.finish(conn, JOBS, FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)

        self._database.write_blocking(write)

    def _renew(self, conn: Connection) -> None:
        rows = [(self.id, self._owner, self._processed, self._progress)]
        if leases.heartbeat(conn, JOBS, rows, lease=self._lease, given=PROGRESS_VALUES, columns=PROGRESS_COLUMNS):
            self._interrupted = LeaseLost(f"job {self.id} is not ours any more: it was cancelled, or given to another")
            raise self._interrupted

    def _beat(self) -> None:
        while not self._ending.wait(self._heartbeat):
            try:
                self._database.write_blocking(self._renew)
            except LeaseLost:
                return
            except KurabitoError as problem:
                # The lease lasts a while longer than one heartbeat.
                _log.warning("heartbeat failed", job=self.id, problem=str(problem))
