"""Before a lease is taken away on SQLite, the lock of its owner is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kurabito.clock import ManualClock
from kurabito.db import LeaseSpec, leases
from kurabito.db.grace import Grace, planes_folder, workers_folder
from kurabito.db.sqlite.database import SqliteDatabase
from kurabito.runtime.worker.locks import WorkerLock

_LEASE = frozenset({"status", "worker_id", "worker_heartbeat_at", "lease_expires_at", "updated_at"})
PARCELS = LeaseSpec(
    table="parcels",
    key="id",
    running="running",
    claimable="status = 'pending'",
    order="id",
    stale_becomes="'pending'",
    writes={leases.CLAIM: _LEASE, leases.HEARTBEAT: _LEASE, leases.RECOVER: _LEASE},
    returns=("id",),
)
OWNER = "worker#1"
LEASE = 30_000_000
HEARTBEAT = 5.0


class Machine:
    """A database with one leased row, and both of a machine's clocks in the test's hands."""

    def __init__(self, file: Path) -> None:
        self.wall = ManualClock()
        self.uptime = 0.0
        self.folder = workers_folder(file)
        self._database = SqliteDatabase(file, self.wall)
        self._database._grace = Grace(self.folder, lambda: self.uptime)
        self._database.open()
        self._database.write_blocking(
            lambda conn: conn.script(
                "CREATE TABLE parcels (id INTEGER PRIMARY KEY, status TEXT, worker_id TEXT, worker_heartbeat_at INTEGER, "
                "lease_expires_at INTEGER, updated_at INTEGER);\nINSERT INTO parcels (id, status) VALUES (1, 'pending');"
            )
        )
        self._database.write_blocking(lambda conn: leases.claim(conn, PARCELS, OWNER, lease=LEASE, limit=1))

    def recover(self) -> bool:
        return bool(self._database.write_blocking(lambda conn: leases.recover(conn, PARCELS)))

    def expire(self) -> None:
        self._database.write_blocking(lambda conn: leases.expire(conn, PARCELS, "worker"))

    def renew(self) -> bool:
        return not self._database.write_blocking(
            lambda conn: leases.heartbeat(conn, PARCELS, [(1, OWNER)], lease=LEASE)
        )

    def close(self) -> None:
        self._database.close()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "some.db")
    yield machine
    machine.close()


def test_a_lease_whose_owner_holds_no_lock_is_taken_when_it_ends(machine: Machine) -> None:
    machine.wall.advance(31)
    assert machine.recover()


@pytest.mark.parametrize("folder_of", [Path, planes_folder], ids=["worker", "data plane"])
def test_a_living_owner_is_waited_for_when_the_clock_jumps(machine: Machine, folder_of: Callable[[Path], Path]) -> None:
    with WorkerLock(folder_of(machine.folder), "worker", HEARTBEAT):
        for _ in range(5):
            machine.wall.advance(3600)
            assert not machine.recover()
            machine.uptime += HEARTBEAT
            assert not machine.recover()
            assert machine.renew()
            assert not machine.recover()


def test_one_that_does_not_renew_is_waited_for_once(machine: Machine) -> None:
    with WorkerLock(machine.folder, "worker", HEARTBEAT):
        machine.wall.advance(31)
        assert not machine.recover()
        machine.uptime += 2 * HEARTBEAT
        assert machine.recover()
        assert not machine.renew()


def test_one_that_does_not_say_how_often_it_renews_has_half_its_lease(machine: Machine) -> None:
    with WorkerLock(machine.folder, "worker"):
        machine.wall.advance(31)
        assert not machine.recover()
        machine.uptime += 15
        assert not machine.recover()
        machine.uptime += 15
        assert machine.recover()


def test_one_that_is_said_to_be_dead_is_not_waited_for(machine: Machine) -> None:
    with WorkerLock(machine.folder, "worker", HEARTBEAT):
        machine.expire()
        assert machine.recover()


def test_the_lock_of_one_that_died_protects_nothing(machine: Machine) -> None:
    machine.folder.mkdir()
    (machine.folder / "worker.lock").write_text("5")
    machine.wall.advance(31)
    assert machine.recover()
