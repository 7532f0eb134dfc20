"""A row that this process holds the lease of.

Every transaction of a data plane renews its own lease first, in the same transaction: whoever lost the lease finds out before
anything of theirs is stored. Between transactions a thread of its own keeps the lease, so that no work, however long it
computes, is taken for dead.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Final, Self, TypeVar

from kurabito.clock import SECOND
from kurabito.dataplane.leasing.lease_keeper import LeaseKeeper
from kurabito.db import Connection, Database, leases
from kurabito.db.leases import Columns, Given, LeaseSpec
from kurabito.errors import KurabitoError, LeaseLost
from kurabito.logs import get_logger

T = TypeVar("T")

LEASE: Final = 30.0
HEARTBEAT: Final = 5.0

_log = get_logger(__name__)


class Stopped(KurabitoError):
    """The data plane is asked to end: the row is given back and goes on elsewhere."""

    code = "stopped"


class LeasedRow:
    """The right to work on one row of a leased table; use it as a context.

    with row:
        row.write(lambda conn: store.note(conn, found))      # raises LeaseLost when the row is another's by now

    `heart` is that of whoever holds one row after another. `interrupt` is called, in some thread, when there is no point in
    going on.
    """

    noun: ClassVar = "row"
    told: ClassVar[Given] = ()
    """Values that are told with each heartbeat; `progress` gives them."""
    told_columns: ClassVar[Columns] = {}

    def __init__(
        self,
        database: Database,
        spec: LeaseSpec,
        key: Any,
        owner: str,
        *,
        heart: LeaseKeeper,
        lease: float = LEASE,
        interrupt: Callable[[], None] = lambda: None,
    ) -> None:
        self.id = key
        self.owner = owner
        self._database = database
        self._spec = spec
        self._lease = round(lease * SECOND)
        self._interrupt = interrupt
        self._interrupted: KurabitoError | None = None
        self._heart = heart

    def __enter__(self) -> Self:
        self._heart.keep(self._beat)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heart.let_go()

    def stop(self) -> None:
        """Have the work end at its next step; safe in any thread."""
        self._interrupted = self._interrupted or Stopped(f"{self.noun} {self.id} is given back: this data plane ends")
        self._interrupt()

    def check(self) -> None:
        """Raise if there is no point in going on: LeaseLost or Stopped. Cheap; call it between small steps."""
        if self._interrupted is not None:
            raise self._interrupted

    def progress(self) -> tuple[Any, ...]:
        """The values of `told`."""
        return ()

    def write(self, fn: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run a function in a transaction that is ours only as long as the lease is.

        What can be found out again from the disk of a library need not be durable.
        """
        self.check()

        def fenced(conn: Connection) -> T:
            self.renew(conn)
            return fn(conn)

        return self._database.write_blocking(fenced, durable=durable)

    def read(self, fn: Callable[[Connection], T]) -> T:
        """Run a function that only looks."""
        return self._database.read_blocking(fn)

    def renew(self, conn: Connection) -> None:
        """Renew the lease in this transaction; raises LeaseLost."""
        rows = [(self.id, self.owner, *self.progress())]
        if leases.heartbeat(conn, self._spec, rows, lease=self._lease, given=self.told, columns=self.told_columns):
            raise self.lost()

    def lost(self) -> LeaseLost:
        """The error of a row that is another's by now; from here on nothing more is written."""
        lost = LeaseLost(f"{self.noun} {self.id} is not ours any more: it was cancelled, or given to another")
        self._interrupted = lost
        return lost

    def _beat(self) -> bool:
        try:
            self._database.write_blocking(self.renew)
        except LeaseLost:
            self._interrupt()
            return False
        except KurabitoError as problem:
            # The lease lasts a while longer than one heartbeat.
            _log.warning("heartbeat failed", table=self._spec.table, row=self.id, problem=str(problem))
        return True
