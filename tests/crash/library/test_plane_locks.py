"""A data plane that dies is noticed by its lock, long before its leases end, whoever started it."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.commands import KURABITO, Command

from kurabito.dataplane.leasing.plane_locks import PlaneLocks
from kurabito.db import leases, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.db.rights import say_control_plane
from kurabito.errors import InvalidInput
from kurabito.protocol import planes
from kurabito.protocol.leased.jobs import JOBS
from kurabito.runtime.worker.supervisor import WORKER_NAME

LIMIT = 120.0
LEASE = 600.0
ADD = """
INSERT INTO library_roots (id, name, root_path, hash_policy, created_at, updated_at) VALUES (1, 'films', ?, 'all', 0, 0);
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, needs_hash, created_at, updated_at)
VALUES (1, 'endless', ?, ?, 1, 0, 0);
INSERT INTO jobs (id, kind, library_id, created_at, updated_at) VALUES ('a', 'hash', 1, 0, 0);
"""


@pytest.fixture
def file(tmp_path: Path, disk: Path) -> Path:
    """A database with a hash that takes for ever."""
    path, endless = tmp_path / "kurabito.db", disk / "films" / "endless"
    endless.parent.mkdir()
    with endless.open("wb") as content:
        content.truncate(1 << 42)
    database = open_database(f"sqlite:///{path}")
    database.open()
    migrate(database, PRODUCT)
    database.close()
    values: list[list[str | int]] = [[str(endless.parent)], [1 << 42, endless.stat().st_mtime_ns], []]
    with sqlite3.connect(path) as raw:
        say_control_plane(raw)
        for statement, given in zip(ADD.split(";"), values, strict=False):
            raw.execute(statement, given)
    return path


class Planes:
    """Data planes that nobody supervises."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        environment = {
            **os.environ,
            WORKER_NAME: name,
            "KURABITO_STATE": str(self.file.parent / "state"),
            "KURABITO_DATABASE": f"sqlite:///{self.file}",
            "KURABITO_LEASE_SECONDS": str(LEASE),
        }
        self.running[name] = Command([*KURABITO, "dataplane"], env=environment)

    def kill(self, name: str) -> None:
        self.running[name].send_signal(signal.SIGKILL)
        self.running.pop(name).wait()

    def until(self, sql: str) -> str:
        """The first value of a query, once there is one."""
        ends = time.monotonic() + LIMIT
        with sqlite3.connect(self.file) as raw:
            while (row := raw.execute(sql).fetchone()) is None:
                assert time.monotonic() < ends, f"nothing came of {sql}"
                time.sleep(0.02)
        return str(row[0])


@pytest.fixture
def fleet(file: Path) -> Iterator[Planes]:
    fleet = Planes(file)
    yield fleet
    for name in [*fleet.running]:
        fleet.kill(name)


def test_a_plane_that_is_killed_is_succeeded_before_its_lease_ends(fleet: Planes) -> None:
    for name in ("nas-1", "nas-2"):
        fleet.start(name)
        fleet.until(f"SELECT 1 FROM data_planes WHERE name = '{name}'")
    owner = fleet.until("SELECT worker_id FROM jobs WHERE status = 'running'").partition("#")[0]
    fleet.kill(owner)
    assert fleet.until("SELECT error_code FROM jobs WHERE status = 'retryable'") == "LEASE_EXPIRED"
    fleet.until(f"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM data_planes WHERE name = '{owner}')")
    (other,) = fleet.running
    assert fleet.until("SELECT name FROM data_planes") == other


async def test_a_plane_that_nobody_succeeds_is_seen_to_by_the_control_plane(fleet: Planes) -> None:
    fleet.start("nas-1")
    fleet.until("SELECT 1 FROM jobs WHERE status = 'running'")
    database = open_database(f"sqlite:///{fleet.file}")
    database.open()
    try:
        locks = PlaneLocks(database)
        assert await locks.expire_dead() == []
        fleet.kill("nas-1")
        # A process that it was just starting has the lock, too, until its program begins.
        ends = time.monotonic() + LIMIT
        while (found := await locks.expire_dead()) == [] and time.monotonic() < ends:
            await asyncio.sleep(0.01)
        assert found == ["nas-1"]
        assert await locks.expire_dead() == []
        assert await database.read(planes.living) == []
        assert len(await database.write(lambda conn: leases.recover(conn, JOBS))) == 1
    finally:
        database.close()


async def test_a_plane_that_comes_again_under_its_name_sees_to_what_it_left(fleet: Planes) -> None:
    fleet.start("nas-1")
    fleet.until("SELECT 1 FROM jobs WHERE status = 'running'")
    database = open_database(f"sqlite:///{fleet.file}")
    database.open()
    try:
        locks = PlaneLocks(database)
        with pytest.raises(InvalidInput, match="a living worker is called nas-1"), locks.held("nas-1"):
            pass
        fleet.kill("nas-1")
        with locks.held("nas-1"):
            assert len(await database.write(lambda conn: leases.recover(conn, JOBS))) == 1
        assert locks.folder is not None
        assert [*locks.folder.iterdir()] == []
    finally:
        database.close()
