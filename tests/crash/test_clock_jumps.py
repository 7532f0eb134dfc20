"""The clock of a machine jumps (NTP, a machine that was suspended): whoever is at work stays at work."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.db.grace import heartbeat_of, planes_folder, workers_folder
from kurabito.runtime import Queue, TaskState

if TYPE_CHECKING:
    from tests.crash.conftest import Fleet, MachineClock

HOUR = 3600.0
SLOW = 2.0


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_living_worker_keeps_its_tasks_however_often_the_clock_jumps(
    queue: Queue, fleet: Fleet, machine_clock: MachineClock
) -> None:
    task = await queue.enqueue("hold", {"any": str(fleet.folder / "gate")})
    first = fleet.start(heartbeat=SLOW, clock=machine_clock.path)
    await fleet.until("start", worker=first)
    # This one looks ten times for leases that have ended while the first renews its own once.
    second = fleet.start(heartbeat=SLOW / 10, clock=machine_clock.path)
    await fleet.until("ready", worker=second)
    for _ in range(3):
        before = (await queue.get(task.id)).lease_expires_at
        machine_clock.jump(HOUR)
        async with asyncio.timeout(60):
            while (await queue.get(task.id)).lease_expires_at == before:
                await asyncio.sleep(0.02)
        found = await queue.get(task.id)
        assert (found.state, found.worker, found.lost_leases) == (TaskState.RUNNING, first, 0)
    (fleet.folder / "gate").touch()
    done = await queue.wait(task.id, timeout=20)
    assert (done.state, done.result, done.lost_leases) == (TaskState.SUCCEEDED, first, 0)
    assert not fleet.lines("start", worker=second)
    fleet.leave()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_one_that_stands_still_is_succeeded_although_it_holds_its_lock(
    queue: Queue, fleet: Fleet, machine_clock: MachineClock
) -> None:
    gates = {"worker-0002": str(fleet.folder / "gate"), "any": str(fleet.folder / "never")}
    task = await queue.enqueue("hold", gates)
    first = fleet.start(heartbeat=0.5, clock=machine_clock.path)
    await fleet.until("start", worker=first)
    fleet.freeze(first)
    machine_clock.jump(HOUR)
    second = fleet.start(heartbeat=0.2, clock=machine_clock.path)
    await fleet.until("start", worker=second)
    (fleet.folder / "gate").touch()
    done = await queue.wait(task.id, timeout=20)
    assert (done.result, done.lost_leases) == (second, 1)


async def test_a_data_plane_shows_that_it_is_alive(migrated_sqlite: str, tmp_path: Path) -> None:
    """So that the same is true of scans, hashes, deletions and thumbnails: they are leased by the same engine."""
    folder = planes_folder(workers_folder(Path(migrated_sqlite.removeprefix("sqlite:///"))))
    environment = {
        **os.environ,
        "KURABITO_DATABASE": migrated_sqlite,
        "KURABITO_STATE": str(tmp_path / "state"),
        "KURABITO_WORKER_NAME": "plane",
        "KURABITO_HEARTBEAT_SECONDS": "7",
    }
    command = [sys.executable, "-m", "kurabito.cli", "dataplane"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as plane:
        try:
            async with asyncio.timeout(60):
                while heartbeat_of(folder / "plane.lock", unsaid=1.0) != 7.0:
                    assert plane.poll() is None
                    await asyncio.sleep(0.02)
        finally:
            plane.terminate()
    assert not (folder / "plane.lock").exists()
