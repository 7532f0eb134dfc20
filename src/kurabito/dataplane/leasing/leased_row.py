"""A row that this process holds the lease of, and the thread that keeps the lease.

Every transaction of a data plane renews its own lease first, in the same transaction: an owner that lost the lease finds out
before anything of it is stored. Between transactions a thread keeps the lease, so that no work, however long it computes, is
taken for dead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from kurabito.db import Connection, Database, LeaseSpec, leases
from kurabito.db.leases import Columns, Given
from kurabito.errors import KurabitoError, LeaseLost
from kurabito.logs import get_logger

T = TypeVar("T")

Beat = Callable[[], bool]
"""Renews a lease; false when there is none any more."""

_log = get_logger(__name__)


class Stopped(KurabitoError):
    """The data plane is asked to end: the row is given back and goes on elsewhere."""

    code = "stopped"


class LeaseKeeper:
    """A thread that renews the lease of one row after another while others work on them; use it as a context."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._beat: Beat | None = None
        # Held during each beat: after `let_go` none is under way.
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._thread: threading.Thread

    def __enter__(self) -> Self:
        self._ending.clear()
        self._thread = threading.Thread(target=self._run, name="lease keeper", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._thread.join()

    def keep(self, beat: Beat) -> None:
        """Renew the lease of this row from now on."""
        with self._lock:
            self._beat = beat

    def let_go(self) -> None:
        """Renew no lease any more."""
        with self._lock:
            self._beat = None

    def _run(self) -> None:
        while not self._ending.wait(self._every):
            with self._lock:
                if self._beat is not None and not _renewed(self._beat):
                    self._beat = None


def _renewed(beat: Beat) -> bool:
    """Whether to go on renewing. A fault ends no keeper: the rows that follow would lose their leases, and no one would know why."""
    try:
        return beat()
    except Exception:  # noqa: BLE001 - whatever it was, the lease lasts a while longer than one heartbeat
        _log.exception("heartbeat failed")
        return True


class LeasedRow:
    """The right to work on one row of a leased table; use it as a context.

    with row:
        row.write(lambda conn: store.note(conn, found))      # raises LeaseLost when the row is another's by now
        row.settle(FINISH, [status], given=("status",), columns=FINISH_COLUMNS)

    `interrupt` is called, in some thread, when there is no point in going on. `then` runs in the transaction that settles
    the row.
    """

    progress_values: ClassVar[Given] = ()
    """Values that are written with each heartbeat; `progress` gives them."""
    progress_columns: ClassVar[Columns] = {}

    def __init__(
        self,
        database: Database,
        spec: LeaseSpec,
        owner: str,
        values: Sequence[Any],
        *,
        noun: str,
        keeper: LeaseKeeper,
        lease: int,
        interrupt: Callable[[], None],
        then: Callable[[Connection], None],
    ) -> None:
        self.values = dict(zip(spec.returns, values, strict=True))
        """The columns that the table's description returns, as they were at the claim."""
        self.id = self.values[spec.key]
        self.owner = owner
        self.noun = noun
        self._database = database
        self._spec = spec
        self._keeper = keeper
        self._lease = lease
        self._interrupt = interrupt
        self._then = then
        self._reason: KurabitoError | None = None
        self._pointless = threading.Event()
        self._is_settled = False

    def __enter__(self) -> Self:
        self._keeper.keep(self._beat)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._keeper.let_go()

    def stop(self) -> None:
        """Have the work end at its next step; safe in any thread."""
        self._end(self._reason or Stopped(f"{self.noun} {self.id} is given back: this data plane ends"))
        self._interrupt()

    def check(self) -> None:
        """Raise if there is no point in going on: LeaseLost or Stopped. Cheap; call it between small steps."""
        if self._reason is not None:
            raise self._reason

    def wait(self, seconds: float) -> bool:
        """Wait so long; true at once when there is no point in going on."""
        return self._pointless.wait(seconds)

    def progress(self) -> tuple[Any, ...]:
        """The values of `progress_values`."""
        return ()

    def read(self, fn: Callable[[Connection], T]) -> T:
        """Run a function that only looks."""
        return self._database.read_blocking(fn)

    def write(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run a function in a transaction that is ours only as long as the lease is.

        What can be found out again from the disk of a library need not be durable.
        """
        self.check()

        def fenced(conn: Connection) -> T:
            self._renew(conn)
            return fn(conn)

        return self._database.write_blocking(fenced, durable=durable)

    def settle(
        self,
        path: str,
        values: Sequence[Any],
        *,
        given: Given,
        columns: Columns,
        publish: Callable[[], None] | None = None,
        record: Callable[[Connection], None] | None = None,
        durable: bool = True,
    ) -> None:
        """Write how the row ended, by one of the paths of its table; raises LeaseLost when that is for another to say.

        `publish` makes the result known outside of the database: not before the row is ours, and not after it is settled for
        everybody. `record` stores findings with it.
        """

        def write(conn: Connection) -> None:
            if self.progress_values:
                self._renew(conn)
            rows = [(self.id, self.owner, *values)]
            if leases.finish(conn, self._spec, path, rows, given=given, columns=columns):
                raise self._lost()
            if publish is not None:
                publish()
            if record is not None:
                record(conn)
            self._is_settled = True
            self._then(conn)

        self._database.write_blocking(write, durable=durable)

    def release(self) -> None:
        """Give the row back unharmed; raises LeaseLost when another has it."""

        def write(conn: Connection) -> None:
            self._renew(conn)
            leases.release(conn, self._spec, [(self.id, self.owner)])

        self._database.write_blocking(write)

    def _renew(self, conn: Connection) -> None:
        rows = [(self.id, self.owner, *self.progress())]
        given, columns = self.progress_values, self.progress_columns
        if leases.heartbeat(conn, self._spec, rows, lease=self._lease, given=given, columns=columns):
            raise self._lost()

    def _lost(self) -> LeaseLost:
        """The error of a row that is another's by now; from here on nothing more is written."""
        lost = LeaseLost(f"{self.noun} {self.id} is not ours any more: it was cancelled, or given to another")
        self._end(lost)
        return lost

    def _end(self, reason: KurabitoError) -> None:
        self._reason = reason
        self._pointless.set()

    def _beat(self) -> bool:
        try:
            self._database.write_blocking(self._renew)
        except LeaseLost:
            # A row that was settled meanwhile is not lost, and what is worked on by now is the next one.
            if not self._is_settled:
                self._interrupt()
            return False
        except KurabitoError as problem:
            # The lease lasts a while longer than one heartbeat.
            _log.warning("heartbeat failed", table=self._spec.table, row=self.id, problem=str(problem))
        return True
