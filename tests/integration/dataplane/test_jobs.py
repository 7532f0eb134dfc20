"""Jobs are done one at a time, and whoever lost one writes nothing more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.planes import register

from kurabito.clock import ManualClock
from kurabito.dataplane.jobs import JobFailed, JobWork, LeasedJob
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import Connection, Database, leases, open_database
from kurabito.errors import LeaseLost
from kurabito.protocol.enums import JobKind
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.jobs import JOBS
from kurabito.protocol.rights import DATA_PLANE

ADD = "INSERT INTO jobs (id, kind, payload, created_at, updated_at) VALUES (:id, :kind, :payload, :now, :now)"
NOTE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (1, :path, 1, 1, :now, :now)"
)


@pytest.fixture
def plane(url: str, database: Database, clock: ManualClock) -> Iterator[Database]:
    """The database as a data plane has it; on PostgreSQL without its role, which is tested elsewhere."""
    plane = open_database(url, clock=clock, rights=DATA_PLANE)
    plane.open()
    register(plane)
    yield plane
    plane.close()


def add(database: Database, job_id: str, kind: str = "delete", payload: str = "{}") -> None:
    database.write_blocking(lambda conn: conn.run(ADD, {"id": job_id, "kind": kind, "payload": payload}))


def row(database: Database, job_id: str) -> Any:
    columns = "status, error_code, error_message, processed_items, progress, worker_id, lease_expires_at, finished_at"
    return database.read_blocking(lambda conn: conn.one(f"SELECT {columns} FROM jobs WHERE id = :id", {"id": job_id}))


def notes(database: Database) -> list[str]:
    return [
        path for (path,) in database.read_blocking(lambda conn: conn.all("SELECT relative_path FROM library_files"))
    ]


def runner(database: Database, executor: Any, **options: Any) -> Runner[LeasedJob]:
    return Runner(database, JobWork({JobKind.DELETE: executor}), name="plane", heartbeat=60.0, **options)


def test_a_job_is_claimed_worked_on_and_completed(database: Database, plane: Database) -> None:
    add(database, "a", payload='{"plan": 7}')
    add(database, "other", "scan")

    def execute(job: LeasedJob) -> None:
        assert (job.id, job.kind, job.payload, job.dry_run) == ("a", JobKind.DELETE, {"plan": 7}, True)
        assert row(database, "a")[0] == "running"
        job.report(5, 0.5)
        job.write(lambda conn: conn.run(NOTE, {"path": "found.mkv"}))

    jobs = runner(plane, execute)
    assert jobs.work()
    status, code, _, processed, progress, _, lease, finished = row(database, "a")
    assert (status, code, processed, progress, lease) == ("completed", None, 5, 1.0, None)
    assert finished is not None
    assert notes(database) == ["found.mkv"]
    # A scan is none of its business.
    assert not jobs.work()
    assert row(database, "other")[0] == "pending"


@pytest.mark.parametrize(
    ("problem", "code", "message"),
    [
        (JobFailed(ErrorCode.ROOT_EMPTY, "the folder is empty"), "ROOT_EMPTY", "the folder is empty"),
        (ValueError("a bug"), "WORKER_FAILURE", "ValueError: a bug"),
    ],
)
def test_a_job_that_fails_says_why(
    database: Database, plane: Database, problem: Exception, code: str, message: str
) -> None:
    add(database, "a")

    def execute(_: LeasedJob) -> None:
        raise problem

    assert runner(plane, execute).work()
    assert row(database, "a")[:3] == ("failed", code, message)


@pytest.mark.parametrize("payload", ["nonsense", "[]"])
def test_a_payload_that_is_no_object_fails_the_job_with_a_sentence(
    database: Database, plane: Database, payload: str
) -> None:
    add(database, "a", payload=payload)
    assert runner(plane, lambda job: job.report(len(job.payload), 1)).work()
    status, code, message = row(database, "a")[:3]
    assert (status, code) == ("failed", "WORKER_FAILURE")
    assert message.startswith("the job's payload is no JSON object")


def test_a_worker_that_lost_its_job_stores_nothing_more(
    database: Database, plane: Database, clock: ManualClock
) -> None:
    add(database, "a")

    def execute(job: LeasedJob) -> None:
        job.write(lambda conn: conn.run(NOTE, {"path": "before.mkv"}))
        # It slept for longer than its lease, and somebody noticed.
        clock.advance(31)
        database.write_blocking(lambda conn: leases.recover(conn, JOBS))
        with pytest.raises(LeaseLost):
            job.write(lambda conn: conn.run(NOTE, {"path": "after.mkv"}))
        with pytest.raises(LeaseLost):
            job.check()
        job.write(lambda conn: conn.run(NOTE, {"path": "stubborn.mkv"}))

    assert runner(plane, execute).work()
    assert row(database, "a")[:2] == ("retryable", "LEASE_EXPIRED")
    assert notes(database) == ["before.mkv"]


def test_a_cancelled_job_ends_at_its_next_step(database: Database, plane: Database) -> None:
    add(database, "a")

    def cancel(conn: Connection) -> None:
        conn.run("UPDATE jobs SET status = 'cancelled', lease_expires_at = NULL")

    def execute(job: LeasedJob) -> None:
        database.write_blocking(cancel)
        job.write(lambda conn: conn.run(NOTE, {"path": "after.mkv"}))

    assert runner(plane, execute).work()
    assert row(database, "a")[0] == "cancelled"
    assert notes(database) == []


def test_a_plane_that_ends_gives_its_job_back(database: Database, plane: Database) -> None:
    add(database, "a")
    add(database, "b")
    jobs: Runner[LeasedJob]

    def execute(job: LeasedJob) -> None:
        stopping = threading.Thread(target=jobs.stop)
        stopping.start()
        stopping.join()
        job.check()

    jobs = runner(plane, execute)
    assert jobs.work()
    assert row(database, "a")[:2] == ("retryable", None)
    assert not jobs.work()
    assert row(database, "b")[0] == "pending"


def test_the_lease_is_kept_while_the_work_computes(database: Database, plane: Database) -> None:
    add(database, "a")
    beaten = threading.Event()

    def execute(job: LeasedJob) -> None:
        job.report(3, 0.25)
        while not beaten.wait(0.01):
            if row(database, "a")[3] == 3:
                beaten.set()

    jobs = Runner(plane, JobWork({JobKind.DELETE: execute}), name="plane", heartbeat=0.01)
    assert jobs.work()
    assert beaten.is_set()


def test_looking_for_work_recovers_what_others_left_behind(
    database: Database, plane: Database, clock: ManualClock
) -> None:
    add(database, "a")
    database.write_blocking(lambda conn: leases.claim(conn, JOBS, "dead#1", lease=1_000_000, limit=1))
    clock.advance(1)
    assert not runner(plane, lambda _: None).work()
    status, code, message, *_ = row(database, "a")
    assert (status, code) == ("retryable", "LEASE_EXPIRED")
    assert "dead" in message
