"""Checkpoints of SQLite's log: who may ask for one, how often, and what became of it. The data plane does them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from kurabito.clock import SECOND, optional_datetime, to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.maintenance.errors import CheckpointNotAllowed, CheckpointNotFound, CheckpointTooSoon, NoWal
from kurabito.protocol.leased.checkpoints import CheckpointMode, WalStatus
from kurabito.reasons import Reason, read_reason
from kurabito.runtime.outcomes import worker_name

_JOB: Final = ColumnList(
    "id, requested_mode, reason, status, execute_after, retry_count, retry_after, checkpoint_busy, checkpoint_log_frames, "
    "checkpointed_frames, error_code, error_message, worker_id, created_at, started_at, finished_at"
)
_SQL: Final = Queries("kurabito.maintenance", "wal.sql", job=_JOB)
_KEPT: Final = 100
"""How many checkpoints are remembered."""


class CheckpointReason(StrEnum):
    """Why a checkpoint was asked for; the value is the message's key below `checkpoint_reason`, and is stored."""

    OTHER = "other"
    """In the caller's own words: `text`."""
    ASKED = "asked"
    LOG_GREW = "log_grew"
    """To `size_bytes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalJob:
    """A checkpoint at one moment."""

    id: int
    mode: CheckpointMode
    reason: Reason[CheckpointReason] | None
    status: WalStatus
    execute_after: datetime
    retry_count: int
    retry_after: datetime | None
    checkpoint_busy: int | None
    checkpoint_log_frames: int | None
    checkpointed_frames: int | None
    error_code: str | None
    error_message: str | None
    worker: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class WalMetrics:
    """How the log is."""

    wal_bytes: int
    limit_bytes: int
    counts: dict[WalStatus, int]
    """How many of the checkpoints that are remembered stand where; every status is there."""
    last_completed_at: datetime | None


class WalMaintenance:
    """The checkpoints of one database; `file` is that of SQLite, None where another database has no such log."""

    def __init__(
        self, database: Database, file: Path | None, *, interval: float, limit: int, may_truncate: bool
    ) -> None:
        self._database = database
        self._log = None if file is None else file.with_name(f"{file.name}-wal")
        self.adjust(interval=interval, limit=limit, may_truncate=may_truncate)

    def adjust(self, *, interval: float, limit: int, may_truncate: bool) -> None:
        """Look after the log in this way from now on."""
        self._interval = round(interval * SECOND)
        self._limit = limit
        self._may_truncate = may_truncate

    @property
    def has_log(self) -> bool:
        """Whether there is anything to checkpoint here."""
        return self._log is not None

    async def request(self, mode: CheckpointMode, reason: Reason[CheckpointReason], *, force: bool = False) -> WalJob:
        """Ask for a checkpoint; one that is under way already is given instead.

        Raises NoWal, CheckpointNotAllowed, or CheckpointTooSoon unless it is forced.
        """
        self._need_log()
        if mode is CheckpointMode.TRUNCATE and not self._may_truncate:
            raise CheckpointNotAllowed(
                "a checkpoint may not truncate the log here; ask for restart, or set wal_truncate to true"
            )

        def admit(conn: Connection) -> WalJob:
            if (active := conn.one(_SQL.active)) is not None:
                return _job(active)
            if not force:
                self._check_interval(conn)
            conn.run(_SQL.insert, {"mode": mode.value, "reason": reason.stored()})
            row = conn.one(_SQL.active)
            assert row is not None
            return _job(row)

        return await self._database.write(admit)

    async def latest(self) -> WalJob:
        """The checkpoint that was asked for last; raises CheckpointNotFound."""
        if (found := await self.find_latest()) is None:
            raise CheckpointNotFound("no checkpoint was asked for yet")
        return found

    async def find_latest(self) -> WalJob | None:
        """The same; None when there is none."""
        self._need_log()
        row = await self._database.read(lambda conn: conn.one(_SQL.latest))
        return None if row is None else _job(row)

    async def metrics(self) -> WalMetrics:
        """How large the log is, and how its checkpoints are doing."""

        def look(conn: Connection) -> WalMetrics:
            counted = {WalStatus(status): count for status, count in conn.all(_SQL.counts)}
            ended = conn.value(_SQL.last_completed)
            return WalMetrics(
                self.log_bytes(),
                self._limit,
                {status: counted.get(status, 0) for status in WalStatus},
                optional_datetime(ended),
            )

        self._need_log()
        return await self._database.read(look)

    async def look_after(self) -> WalJob | None:
        """Ask for a checkpoint when the log is too large, and forget old ones; what was asked for."""
        if not self.has_log:
            return None
        await self._database.write(lambda conn: conn.run(_SQL.forget_old, {"kept": _KEPT}))
        size = self.log_bytes()
        if size <= self._limit:
            return None
        mode = CheckpointMode.TRUNCATE if self._may_truncate else CheckpointMode.RESTART
        try:
            return await self.request(mode, Reason(CheckpointReason.LOG_GREW, {"size_bytes": size}))
        except CheckpointTooSoon:
            return None

    def log_bytes(self) -> int:
        """The size of the log's file."""
        try:
            return 0 if self._log is None else self._log.stat().st_size
        except FileNotFoundError:
            return 0

    def _need_log(self) -> None:
        if self._log is None:
            raise NoWal("only SQLite has a log to checkpoint; PostgreSQL looks after its own")

    def _check_interval(self, conn: Connection) -> None:
        ended: int | None = conn.value(_SQL.last_ended)
        if ended is None:
            return
        left = ended + self._interval - conn.now()
        if left > 0:
            raise CheckpointTooSoon(
                f"the last checkpoint ended less than {self._interval / SECOND:g} s ago; "
                f"ask again in {-(-left // SECOND)} s, or force it"
            )


def _job(row: Row) -> WalJob:
    job = _JOB.row(row)
    return WalJob(
        id=job.id,
        mode=CheckpointMode(job.requested_mode),
        reason=read_reason(CheckpointReason, job.reason),
        status=WalStatus(job.status),
        execute_after=to_datetime(job.execute_after),
        retry_count=job.retry_count,
        retry_after=optional_datetime(job.retry_after),
        checkpoint_busy=job.checkpoint_busy,
        checkpoint_log_frames=job.checkpoint_log_frames,
        checkpointed_frames=job.checkpointed_frames,
        error_code=job.error_code,
        error_message=job.error_message,
        worker=worker_name(job.worker_id),
        created_at=to_datetime(job.created_at),
        started_at=optional_datetime(job.started_at),
        finished_at=optional_datetime(job.finished_at),
    )
