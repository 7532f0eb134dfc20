"""Checkpoints: SQLite's log is moved into its file when the control plane asks for it.

A reader or writer may be in the way at that moment. It is waited for a little, and the checkpoint is tried again later: it is
never worth holding up others.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Final, NamedTuple

from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.runner import LeasedWork
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.protocol.leased import checkpoints
from kurabito.protocol.leased.checkpoints import COUNTS, WAL, CheckpointMode

_PATIENCE: Final = 2.0
_RETRY: Final = 0.02

_log = get_logger(__name__)


class Checkpointed(NamedTuple):
    """What SQLite says of a checkpoint."""

    busy: int
    log_frames: int
    frames: int


class CheckpointWork(LeasedWork[LeasedRow]):
    """Does checkpoints; `connect` opens a connection to the SQLite file of the database."""

    spec = WAL
    noun = "checkpoint"
    name = "wal"
    row_type = LeasedRow

    def __init__(self, connect: Callable[[], sqlite3.Connection], *, patience: float = _PATIENCE) -> None:
        self._connect = connect
        self._patience = patience
        """How many seconds a reader or writer in the way is waited for."""

    def do(self, row: LeasedRow) -> None:
        try:
            done = self._checkpoint(row)
        except (sqlite3.Error, KurabitoError) as problem:
            _log.warning("checkpoint failed", checkpoint=row.id, problem=str(problem))
            message = f"SQLite could not do it: {problem}"
            row.settle(checkpoints.FAILURE, [message], given=("error_message",), columns=checkpoints.FAILURE_COLUMNS)
            return
        if done.busy:
            message = f"another connection was in the way for {self._patience:g} s: {done.frames} of {done.log_frames} frames were moved"
            given = (*COUNTS, "error_message")
            row.settle(checkpoints.BUSY, [*done, message], given=given, columns=checkpoints.BUSY_COLUMNS)
        else:
            row.settle(checkpoints.SUCCESS, done, given=COUNTS, columns=checkpoints.SUCCESS_COLUMNS)

    def _checkpoint(self, row: LeasedRow) -> Checkpointed:
        mode = CheckpointMode(row.values["requested_mode"])
        give_up = time.monotonic() + self._patience
        with closing(self._connect()) as raw:
            while True:
                done = Checkpointed(*raw.execute(f"PRAGMA wal_checkpoint({mode.value})").fetchone())
                # A data plane that ends does not wait.
                if not done.busy or time.monotonic() >= give_up or row.wait(_RETRY):
                    return done
