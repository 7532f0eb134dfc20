"""Checkpoints of SQLite's log: asked for by the control plane, done by a data plane, put off when somebody is in the way."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.support.planes import register
from tests.support.waiting import PATIENCE

from kurabito.app.dataplane_process import supervised_plane
from kurabito.clock import SECOND, ManualClock, from_datetime
from kurabito.dataplane.checkpoints import CheckpointWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import Database, leases, migrate, open_database
from kurabito.db.errors import UniqueConflict
from kurabito.db.migrate import PRODUCT
from kurabito.db.rights import restrict
from kurabito.maintenance.errors import CheckpointNotAllowed, CheckpointNotFound, CheckpointTooSoon, NoWal
from kurabito.maintenance.wal import CheckpointReason, WalMaintenance
from kurabito.maintenance.wal_watch import WalWatch
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
    WalStatus,
)
from kurabito.protocol.rights import DATA_PLANE, rights_of_path
from kurabito.reasons import Reason, in_other_words
from kurabito.settings import Settings

LIMIT = 1_000_000
ADD = (
    "INSERT INTO wal_maintenance_jobs (requested_mode, reason, status, execute_after, created_at, updated_at) "
    "VALUES (:mode, 'test', :status, 0, 0, 0)"
)
STORY = "status, retry_count, retry_after, error_code, checkpoint_busy, worker_id, lease_expires_at, finished_at"

DYING_PLANE = """
import os, signal, sys
from pathlib import Path
from kurabito.dataplane.checkpoints import CheckpointWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import open_database
from kurabito.protocol.rights import DATA_PLANE

database = open_database(sys.argv[1], rights=DATA_PLANE)
database.open()

def connect():
    raw = database.connect()
    # Dies in the midst: the log is looked at, and nothing is written yet.
    raw.set_authorizer(lambda action, *_: os.kill(os.getpid(), signal.SIGKILL) if action == 19 else 0)
    return raw

Runner(database, CheckpointWork(connect), name="doomed").work()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kurabito.db"


@pytest.fixture
async def database(file: Path, clock: ManualClock) -> AsyncIterator[Database]:
    database = open_database(f"sqlite:///{file}", clock=clock)
    database.open()
    migrate(database, PRODUCT)
    yield database
    database.close()


@pytest.fixture
def plane(file: Path, database: Database, clock: ManualClock) -> Iterator[Database]:
    """The database as a data plane has it."""
    plane = open_database(f"sqlite:///{file}", clock=clock, rights=DATA_PLANE)
    plane.open()
    for name in ("plane", "doomed", "slow"):
        register(database, name)
    yield plane
    plane.close()


@pytest.fixture
def maintenance(database: Database, file: Path) -> WalMaintenance:
    return WalMaintenance(database, file, interval=900, limit=LIMIT, may_truncate=True)


def because(text: str) -> Reason[CheckpointReason]:
    return in_other_words(CheckpointReason, text)


def runner(
    plane: Any, connect: Callable[[], sqlite3.Connection] | None = None, *, patience: float = 30.0
) -> Runner[Any]:
    return Runner(plane, CheckpointWork(connect or plane.connect, patience=patience), name="plane")


def fill(database: Database, rows: int = 200) -> None:
    """Make the log longer."""
    for number in range(rows):
        database.write_blocking(
            lambda conn, number=number: conn.run(  # type: ignore[misc]
                "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
                "VALUES (1, :path, 1, 1, 0, 0)",
                {"path": f"{number}" * 200},
            )
        )


def reading(file: Path) -> sqlite3.Connection:
    """Somebody who looks at the database as it is at this moment, for as long as they like."""
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM library_files").fetchone()
    return reader


def story(database: Database) -> tuple[Any, ...]:
    row = database.read_blocking(lambda conn: conn.one(f"SELECT {STORY} FROM wal_maintenance_jobs"))
    assert row is not None
    return row


async def test_a_checkpoint_waits_is_done_and_tells_what_sqlite_said(
    maintenance: WalMaintenance, database: Database, plane: Database, file: Path
) -> None:
    with pytest.raises(CheckpointNotFound):
        await maintenance.latest()
    assert not runner(plane).work()
    fill(database)
    asked = await maintenance.request(CheckpointMode.TRUNCATE, because("the disk is small"))
    assert (asked.mode, asked.reason, asked.status) == (
        CheckpointMode.TRUNCATE,
        because("the disk is small"),
        WalStatus.PENDING,
    )
    assert asked.execute_after == asked.created_at
    assert runner(plane).work()
    done = await maintenance.latest()
    assert (done.id, done.status, done.error_code) == (asked.id, WalStatus.COMPLETED, None)
    # A truncated log has no frames left; its file held only what was written since.
    assert (done.checkpoint_busy, done.checkpoint_log_frames, done.checkpointed_frames) == (0, 0, 0)
    assert done.worker == "plane"
    assert maintenance.log_bytes() < 100_000
    assert not runner(plane).work()


async def test_somebody_who_reads_makes_it_busy_and_it_is_tried_again_later(
    maintenance: WalMaintenance, database: Database, plane: Database, file: Path, clock: ManualClock
) -> None:
    with closing(reading(file)):
        fill(database)
        await maintenance.request(CheckpointMode.RESTART, because("test"))
        for attempt, wait in enumerate((10, 20, 40), 1):
            assert runner(plane, patience=0.1).work()
            busy = await maintenance.latest()
            assert (busy.status, busy.retry_count, busy.error_code) == (WalStatus.RETRYABLE, attempt, "WAL_BUSY")
            assert busy.checkpoint_busy == 1
            # What it came to is kept: the frames that the reader needs could not be moved.
            assert busy.checkpoint_log_frames is not None
            assert busy.checkpointed_frames is not None
            assert 0 <= busy.checkpointed_frames < busy.checkpoint_log_frames
            assert busy.error_message is not None
            assert busy.finished_at is not None
            assert busy.retry_after is not None
            assert from_datetime(busy.retry_after) == clock.now() + wait * SECOND
            clock.advance(wait - 1)
            assert not runner(plane).work(), "it is not due yet"
            clock.advance(1)
    assert runner(plane).work()
    done = await maintenance.latest()
    assert (done.status, done.checkpoint_busy, done.error_code, done.error_message) == ("completed", 0, None, None)
    # How often it had to be tried stays on record.
    assert done.retry_count == 3


async def test_it_is_not_done_before_its_time(
    maintenance: WalMaintenance, database: Database, plane: Database, clock: ManualClock
) -> None:
    await maintenance.request(CheckpointMode.PASSIVE, because("test"))
    await database.write(lambda conn: conn.run("UPDATE wal_maintenance_jobs SET execute_after = :now + 5000000"))
    clock.advance(4)
    assert not runner(plane).work()
    clock.advance(1)
    assert runner(plane).work()


async def test_a_passive_one_moves_what_it_can_and_is_done(
    maintenance: WalMaintenance, database: Database, plane: Database, file: Path
) -> None:
    with closing(reading(file)):
        fill(database)
        await maintenance.request(CheckpointMode.PASSIVE, because("test"))
        assert runner(plane).work()
        done = await maintenance.latest()
    assert (done.status, done.checkpoint_busy) == (WalStatus.COMPLETED, 0)
    assert done.checkpoint_log_frames is not None
    assert done.checkpointed_frames is not None
    assert done.checkpointed_frames < done.checkpoint_log_frames


async def test_an_error_of_sqlite_fails_it(maintenance: WalMaintenance, database: Database, plane: Any) -> None:
    def connect() -> sqlite3.Connection:
        raw: sqlite3.Connection = plane.connect()
        raw.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
        return raw

    await maintenance.request(CheckpointMode.PASSIVE, because("test"))
    assert runner(plane, connect).work()
    failed = await maintenance.latest()
    assert (failed.status, failed.error_code) == (WalStatus.FAILED, "WAL_FAILED")
    assert failed.error_message is not None
    assert "not authorized" in failed.error_message
    assert story(database)[6] is None
    assert failed.finished_at is not None


async def test_one_at_a_time_and_not_too_often(
    maintenance: WalMaintenance, database: Database, plane: Database, clock: ManualClock
) -> None:
    first = await maintenance.request(CheckpointMode.PASSIVE, because("first"))
    assert (await maintenance.request(CheckpointMode.RESTART, because("second"), force=True)).id == first.id
    with pytest.raises(UniqueConflict):
        await database.write(lambda conn: conn.run(ADD, {"mode": "passive", "status": "pending"}))
    assert runner(plane).work()
    clock.advance(899)
    with pytest.raises(CheckpointTooSoon, match="ask again in 1 s"):
        await maintenance.request(CheckpointMode.PASSIVE, because("too soon"))
    forced = await maintenance.request(CheckpointMode.PASSIVE, because("forced"), force=True)
    assert forced.id != first.id
    assert runner(plane).work()
    clock.advance(900)
    assert (await maintenance.request(CheckpointMode.PASSIVE, because("in time"))).status is WalStatus.PENDING
    metrics = await maintenance.metrics()
    assert (metrics.counts[WalStatus.PENDING], metrics.counts[WalStatus.COMPLETED]) == (1, 2)
    assert metrics.counts.keys() == set(WalStatus)
    assert metrics.last_completed_at is not None


async def test_the_log_is_not_truncated_where_that_is_not_allowed(database: Database, file: Path) -> None:
    careful = WalMaintenance(database, file, interval=900, limit=LIMIT, may_truncate=False)
    with pytest.raises(CheckpointNotAllowed, match="wal_truncate"):
        await careful.request(CheckpointMode.TRUNCATE, because("test"), force=True)
    with pytest.raises(CheckpointNotFound):
        await careful.latest()


async def test_a_log_that_grew_is_seen_to_by_itself(
    database: Database, plane: Database, file: Path, clock: ManualClock
) -> None:
    with closing(reading(file)):
        fill(database)
    small = WalMaintenance(database, file, interval=900, limit=10**9, may_truncate=False)
    assert await small.look_after() is None
    size = small.log_bytes()
    assert size > 0
    large = WalMaintenance(database, file, interval=900, limit=size - 1, may_truncate=False)
    watching = asyncio.create_task(WalWatch(large, clock).run())
    try:
        async with asyncio.timeout(PATIENCE):
            while (await large.metrics()).counts[WalStatus.PENDING] == 0:
                await asyncio.sleep(0.005)
    finally:
        watching.cancel()
    asked = await large.latest()
    assert asked.mode is CheckpointMode.RESTART
    assert asked.reason is not None
    assert asked.reason.code is CheckpointReason.LOG_GREW
    assert asked.reason.facts["size_bytes"] > 0
    assert runner(plane).work()
    # It may have stayed as large as it was; that is looked at again after a while only.
    assert await large.look_after() is None
    clock.advance(901)
    again = await large.look_after()
    assert again is not None
    assert again.id > asked.id


async def test_a_dead_worker_leaves_no_checkpoint_behind(
    maintenance: WalMaintenance, database: Database, plane: Database, file: Path, clock: ManualClock
) -> None:
    await maintenance.request(CheckpointMode.RESTART, because("test"))
    ended = subprocess.run([sys.executable, "-c", DYING_PLANE, f"sqlite:///{file}"], check=False, timeout=PATIENCE)
    assert ended.returncode == -signal.SIGKILL
    assert story(database)[0] == "running"
    # Its supervisor saw it die, and says so.
    supervisor = supervised_plane(Settings(state=file.parent, database=f"sqlite:///{file}"), database)
    assert await supervisor._queue.expire_worker("doomed") == 1
    assert await supervisor._queue.recover() == 1
    status, retry_count, retry_after, code, _, worker, lease, finished = story(database)
    assert (status, retry_count, code, worker, lease) == ("retryable", 1, "LEASE_EXPIRED", None, None)
    assert (retry_after, finished) == (clock.now() + 10 * SECOND, clock.now())
    assert not runner(plane).work()
    clock.advance(10)
    assert runner(plane).work()
    assert (await maintenance.latest()).status is WalStatus.COMPLETED


async def test_whoever_looks_for_work_takes_a_stale_one_at_the_very_moment(
    maintenance: WalMaintenance, database: Database, plane: Database, clock: ManualClock
) -> None:
    await maintenance.request(CheckpointMode.RESTART, because("test"))
    owner = leases.new_owner("slow")
    assert plane.write_blocking(lambda conn: leases.claim(conn, WAL, owner, lease=30 * SECOND, limit=1))
    clock.advance(29)
    assert not runner(plane).work()
    assert story(database)[0] == "running"
    clock.advance(1)
    assert not runner(plane).work()
    message = database.read_blocking(lambda conn: conn.one("SELECT error_message FROM wal_maintenance_jobs"))
    assert story(database)[:2] == ("retryable", 1)
    assert message == ("the worker slow stopped renewing its lease",)
    # Whoever lost it cannot say how it ended.
    row = (1, owner, 0, 5, 5)
    assert plane.write_blocking(
        lambda conn: leases.finish(conn, WAL, SUCCESS, [row], given=COUNTS, columns=SUCCESS_COLUMNS)
    ) == {(1, owner)}
    assert story(database)[0] == "retryable"


async def test_the_lease_is_kept_as_long_as_it_takes(
    maintenance: WalMaintenance, database: Database, plane: Any, clock: ManualClock
) -> None:
    await maintenance.request(CheckpointMode.PASSIVE, because("test"))
    expiries: list[int] = []

    def connect() -> sqlite3.Connection:
        # The checkpoint takes long: two heartbeats are to be seen meanwhile.
        for _ in range(2):
            clock.advance(5)
            seen = story(database)[6]
            while seen <= max(expiries, default=0) or seen < clock.now() + 30 * SECOND:
                seen = story(database)[6]
            expiries.append(seen)
        raw: sqlite3.Connection = plane.connect()
        return raw

    assert Runner(plane, CheckpointWork(connect), name="plane", heartbeat=0.005).work()
    assert expiries == [clock.now() + 25 * SECOND, clock.now() + 30 * SECOND]
    assert (await maintenance.latest()).status is WalStatus.COMPLETED


@pytest.mark.parametrize("path", WAL.writes)
async def test_each_path_writes_no_more_than_its_own_columns(
    maintenance: WalMaintenance, database: Database, file: Path, path: str
) -> None:
    job = await maintenance.request(CheckpointMode.PASSIVE, because("test"))
    register(database, "p")
    if path != leases.CLAIM:
        await database.write(
            lambda conn: conn.run("UPDATE wal_maintenance_jobs SET status = 'running', worker_id = 'p#1'")
        )
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        restrict(raw, rights_of_path(path, WAL))
        conn = database.wrap(raw)
        match path:
            case leases.CLAIM:
                assert leases.claim(conn, WAL, "p#1", lease=1, limit=1) == [(job.id, "passive")]
            case leases.HEARTBEAT:
                assert not leases.heartbeat(conn, WAL, [(job.id, "p#1")], lease=1)
            case leases.RECOVER:
                assert leases.recover(conn, WAL)
            case "success":
                rows: list[tuple[Any, ...]] = [(job.id, "p#1", 0, 5, 5)]
                assert not leases.finish(conn, WAL, SUCCESS, rows, given=COUNTS, columns=SUCCESS_COLUMNS)
            case "busy":
                rows = [(job.id, "p#1", 1, 5, 3, "told")]
                given = (*COUNTS, "error_message")
                assert not leases.finish(conn, WAL, BUSY, rows, given=given, columns=BUSY_COLUMNS)
            case _:
                rows = [(job.id, "p#1", "told")]
                assert not leases.finish(conn, WAL, FAILURE, rows, given=("error_message",), columns=FAILURE_COLUMNS)
        for column in ("requested_mode", "execute_after", "reason"):
            with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
                raw.execute(f"UPDATE wal_maintenance_jobs SET {column} = {column}")


def test_the_paths_are_those_of_the_protocol() -> None:
    ended = {
        "status",
        "error_code",
        "error_message",
        "finished_at",
        "worker_heartbeat_at",
        "lease_expires_at",
        "updated_at",
    }
    counted = {"checkpoint_busy", "checkpoint_log_frames", "checkpointed_frames"}
    assert WAL.writes == {
        "claim": {
            "status", "worker_id", "worker_heartbeat_at", "lease_expires_at", "started_at", "updated_at", "finished_at",
        },
        "heartbeat": {"worker_heartbeat_at", "lease_expires_at", "updated_at"},
        "recover": ended | {"retry_count", "retry_after", "worker_id"},
        "success": ended | counted,
        "busy": ended | counted | {"retry_count", "retry_after"},
        "failure": ended,
    }  # fmt: skip


async def test_postgres_has_no_log_and_a_table_of_the_same_values(fresh_postgres: str) -> None:
    database = open_database(fresh_postgres)
    database.open()
    try:
        migrate(database, PRODUCT)
        elsewhere = WalMaintenance(database, None, interval=900, limit=LIMIT, may_truncate=True)
        for asking in (
            elsewhere.request(CheckpointMode.PASSIVE, because("test")),
            elsewhere.latest(),
            elsewhere.metrics(),
        ):
            with pytest.raises(NoWal, match="PostgreSQL"):
                await asking
        assert await elsewhere.look_after() is None
        for mode, status in (("passive", "PENDING"), ("passive", "cancelled"), ("full", "pending")):
            with pytest.raises(psycopg.errors.CheckViolation):
                await database.write(lambda conn, row={"mode": mode, "status": status}: conn.run(ADD, row))  # type: ignore[misc]
    finally:
        await asyncio.to_thread(database.close)


async def test_old_checkpoints_are_forgotten(maintenance: WalMaintenance, database: Database) -> None:
    await database.write(
        lambda conn: conn.script(
            "INSERT INTO wal_maintenance_jobs (requested_mode, reason, status, execute_after, created_at, updated_at) "
            "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 150) "
            "SELECT 'passive', 'old', 'completed', 0, 0, 0 FROM n;"
        )
    )
    await maintenance.look_after()
    assert (await maintenance.metrics()).counts[WalStatus.COMPLETED] == 100


@pytest.mark.parametrize(("mode", "status"), [("passive", "PENDING"), ("passive", "cancelled"), ("full", "pending")])
async def test_no_other_value_can_be_stored(database: Database, mode: str, status: str) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        await database.write(lambda conn: conn.run(ADD, {"mode": mode, "status": status}))
