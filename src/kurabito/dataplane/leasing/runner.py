"""The loop above the lease engine, written once for every leased table of the data plane.

A `LeasedWork` says which table it is about and does the work on one row. The `Runner` does the rest:

    recover   takes stale rows from owners that are gone
    claim     one row, if there is any to claim
    keep      the lease, in a thread, while the work is done
    settle    is the work's to say, on its row; a row may be claimed in the same transaction
    give back what was not finished when the data plane ends
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from typing import ClassVar, Final, Generic, TypeVar

from kurabito.clock import SECOND
from kurabito.dataplane.leasing.leased_row import LeasedRow, LeaseKeeper, Stopped
from kurabito.db import Connection, Database, LeaseSpec, leases
from kurabito.errors import LeaseLost
from kurabito.logs import get_logger
from kurabito.protocol.terms import HEARTBEAT_SECONDS, LEASE_SECONDS

R = TypeVar("R", bound=LeasedRow)

_PATIENCE: Final = 60.0
"""Seconds after which a runner that has nothing to do lets its work rest."""

_log = get_logger(__name__)


class LeasedWork(ABC, Generic[R]):
    """One kind of work on the rows of a leased table.

    class Sending(LeasedWork[LeasedRow]):
        spec, noun, row_type = PARCELS, "parcel", LeasedRow

        def do(self, row: LeasedRow) -> None:
            send_to(row.values["city"])
            row.settle(SENT, [], given=(), columns={"status": "'sent'"})
    """

    spec: LeaseSpec
    noun: str
    """What a row is called, in messages and in the log."""
    row_type: type[R]
    only: str = ""
    """A condition on the rows that this work is for; all of the table when empty."""
    durable: ClassVar[bool] = True
    """False where a claim that a power failure undoes costs nothing."""
    claims_next: ClassVar[bool] = False
    """Whether the transaction that settles a row claims the next one, too: for work that is short."""

    @property
    def name(self) -> str:
        """What the data plane calls it."""
        return self.noun

    def prepare(self) -> None:
        """Called when there is work, before a row is claimed."""

    @abstractmethod
    def do(self, row: R) -> None:
        """Work on a row and settle it. May raise Stopped and LeaseLost, as most methods of the row do."""

    def interrupt(self) -> None:
        """Have the work that is under way end soon: its row was lost, or is to be given back. Called in any thread."""

    def rest(self) -> None:
        """Give back what is not needed: there was nothing to do for a while, or the data plane ends. May be called again."""


class Runner(Generic[R]):
    """Does the work of one kind for a data plane, one row at a time."""

    def __init__(
        self,
        database: Database,
        leased: LeasedWork[R],
        *,
        name: str,
        lease: float = LEASE_SECONDS,
        heartbeat: float = HEARTBEAT_SECONDS,
    ) -> None:
        self.name = leased.name
        self.leased = leased
        self._database = database
        self._plane = name
        self._lease = round(lease * SECOND)
        self._keeper = LeaseKeeper(heartbeat)
        self._stopping = threading.Event()
        self._row: R | None = None
        self._next: R | None = None
        self._idle_since = time.monotonic()

    def work(self) -> bool:
        """Claim a row, do what it asks for and settle it; false when there was none. Called in a thread."""
        # A look makes no writer wait, and mostly there is nothing.
        if self._stopping.is_set() or not self._database.read_blocking(self._has_work):
            if self._stopping.is_set() or time.monotonic() - self._idle_since > _PATIENCE:
                self.leased.rest()
            return False
        self.leased.prepare()
        row = self._database.write_blocking(self._claim, durable=self.leased.durable)
        if row is None:
            return False
        with self._keeper:
            while row is not None:
                row = self._run(row)
        self._idle_since = time.monotonic()
        return True

    def stop(self) -> None:
        """Give back what is under way at its next step, and claim nothing more. Called in any thread."""
        self._stopping.set()
        if (row := self._row) is not None:
            row.stop()

    def _has_work(self, conn: Connection) -> bool:
        return leases.has_work(conn, self.leased.spec, only=self.leased.only)

    def _claim(self, conn: Connection) -> R | None:
        spec = self.leased.spec
        # Every runner that looks for work also sees to what others left behind.
        leases.recover(conn, spec)
        owner = leases.new_owner(self._plane)
        rows = leases.claim(conn, spec, owner, lease=self._lease, limit=1, only=self.leased.only)
        if not rows:
            return None
        return self.leased.row_type(
            self._database,
            spec,
            owner,
            rows[0],
            noun=self.leased.noun,
            keeper=self._keeper,
            lease=self._lease,
            interrupt=self.leased.interrupt,
            then=self._claim_next,
        )

    def _claim_next(self, conn: Connection) -> None:
        if self.leased.claims_next and not self._stopping.is_set():
            self._next = self._claim(conn)

    def _run(self, row: R) -> R | None:
        """Have the work done on a row; the next one, if it was claimed already."""
        self._row, self._next = row, None
        if self._stopping.is_set():
            # Asked to stop between the claim and here, when the row was not known to `stop`.
            row.stop()
        try:
            with row:
                self.leased.do(row)
            return self._next
        except Stopped:
            self._give_back(row)
        except LeaseLost as lost:
            self._note_loss(row, lost)
        finally:
            self._row = None
        return None

    def _give_back(self, row: R) -> None:
        try:
            row.release()
        except LeaseLost as lost:
            self._note_loss(row, lost)

    def _note_loss(self, row: R, lost: LeaseLost) -> None:
        noun = self.leased.noun
        _log.warning(f"{noun} lost", **{noun: row.id}, problem=str(lost))
