"""The line of work that moves SQLite's log into its file when the control plane asks for it.

Whoever reads or writes at that moment may be in the way. That is waited for a little and then tried again later: a checkpoint
is never worth holding up others.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Final, NamedTuple

from kurabito.clock import SECOND
from kurabito.dataplane.leasing.lease_keeper import LeaseKeeper
from kurabito.dataplane.leasing.leased_row import HEARTBEAT, LEASE, LeasedRow
from kurabito.db import Connection, Database, leases
from kurabito.db.leases import Columns
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.protocol.leased.checkpoints import (
    BUSY,
    BUSY_COLUMNS,
    COUNTS,
    FAILURE,
    FAILURE_COLUMNS,
    SUCCESS,
    SUCCESS_COLUMNS,
    WAL,
    CheckpointMode,
)

_PATIENCE: Final = 2.0
_RETRY: Final = 0.02

_log = get_logger(__name__)


class Checkpointed(NamedTuple):
    """What SQLite says of a checkpoint."""

    busy: int
    log_frames: int
    frames: int


class _Order(NamedTuple):
    id: int
    owner: str
    mode: CheckpointMode


class WalLine:
    """Claims checkpoints, one at a time; `connect` opens a connection to the SQLite file of the database."""

    name: Final = "wal"

    def __init__(
        self,
        database: Database,
        connect: Callable[[], sqlite3.Connection],
        *,
        name: str,
        lease: float = LEASE,
        heartbeat: float = HEARTBEAT,
        patience: float = _PATIENCE,
    ) -> None:
        self._database = database
        self._connect = connect
        self._plane = name
        self._lease = lease
        self._heart = LeaseKeeper(heartbeat)
        self._patience = patience
        """How many seconds whoever is in the way is waited for."""
        self._stopping = threading.Event()

    def work(self) -> bool:
        """Do one checkpoint; false when none is due."""
        order = None if self._stopping.is_set() else self._claim()
        if order is None:
            return False
        try:
            with self._heart, self._held(order):
                done = self._checkpoint(order.mode)
        except (sqlite3.Error, KurabitoError) as problem:
            _log.warning("checkpoint failed", checkpoint=order.id, problem=str(problem))
            self._finish(order, FAILURE, FAILURE_COLUMNS, error_message=f"SQLite could not do it: {problem}")
            return True
        counts = dict(zip(COUNTS, done, strict=True))
        if done.busy:
            told = f"somebody was in the way for {self._patience:g} s: {done.frames} of {done.log_frames} frames were moved"
            self._finish(order, BUSY, BUSY_COLUMNS, **counts, error_message=told)
        else:
            self._finish(order, SUCCESS, SUCCESS_COLUMNS, **counts)
        return True

    def stop(self) -> None:
        """Wait for nobody any more, and take no other."""
        self._stopping.set()

    def _claim(self) -> _Order | None:
        owner = leases.new_owner(self._plane)

        def claim(conn: Connection) -> _Order | None:
            leases.recover(conn, WAL)
            rows = leases.claim(conn, WAL, owner, lease=round(self._lease * SECOND), limit=1)
            return next((_Order(key, owner, CheckpointMode(mode)) for key, mode in rows), None)

        # Most often there is nothing, and to find that out nobody has to be kept from writing.
        if not self._database.read_blocking(_has_work):
            return None
        return self._database.write_blocking(claim)

    def _checkpoint(self, mode: CheckpointMode) -> Checkpointed:
        give_up = time.monotonic() + self._patience
        with closing(self._connect()) as raw:
            while True:
                done = Checkpointed(*raw.execute(f"PRAGMA wal_checkpoint({mode.value})").fetchone())
                if not done.busy or time.monotonic() >= give_up or self._stopping.wait(_RETRY):
                    return done

    def _held(self, order: _Order) -> LeasedRow:
        """Keeps the lease: moving a large log takes a while."""
        return LeasedRow(self._database, WAL, order.id, order.owner, heart=self._heart, lease=self._lease)

    def _finish(self, order: _Order, path: str, columns: Columns, **values: int | str) -> None:
        row = (order.id, order.owner, *values.values())

        def write(conn: Connection) -> bool:
            return bool(leases.finish(conn, WAL, path, [row], given=tuple(values), columns=columns))

        if self._database.write_blocking(write):
            _log.warning("checkpoint lost: another data plane has it by now", checkpoint=order.id)


def _has_work(conn: Connection) -> bool:
    return (
        conn.one("SELECT 1 FROM wal_maintenance_jobs WHERE status IN ('pending', 'running', 'retryable')") is not None
    )
