"""Who may take a task from whom: the dead are succeeded at once, the living never, and the late change nothing."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.runtime import Queue, TaskRecord, TaskState
from kurabito.runtime.worker.supervisor import Supervisor

if TYPE_CHECKING:
    from tests.crash.conftest import Fleet

QUICK: dict[str, Any] = {"lease": 1.0, "heartbeat": 0.2}


@pytest.fixture
async def held(queue: Queue, fleet: Fleet) -> TaskRecord:
    """A task whose handler returns in the worker whose gate is open."""
    gates = {f"worker-{number:04}": str(fleet.folder / f"gate-{number}") for number in (1, 2)}
    return await queue.enqueue("hold", {**gates, "any": str(fleet.folder / "gate")})


async def test_the_late_finish_of_a_worker_that_was_succeeded_changes_nothing(
    queue: Queue, fleet: Fleet, held: TaskRecord
) -> None:
    first = fleet.start(**QUICK)
    await fleet.until("start", worker=first)
    fleet.freeze(first)
    second = fleet.start(**QUICK)
    await fleet.until("start", worker=second)

    (fleet.folder / "gate-1").touch()
    fleet.signal(first, signal.SIGCONT)
    await fleet.until("end", worker=first)
    # Leaving in good order, it settles whatever it believes to have.
    fleet.leave(first)
    found = await queue.get(held.id)
    assert (found.state, found.worker, found.result) == (TaskState.RUNNING, second, None)

    (fleet.folder / "gate-2").touch()
    done = await queue.wait(held.id, timeout=20)
    assert (done.state, done.result, done.lost_leases, done.attempts) == (TaskState.SUCCEEDED, second, 1, 1)
    fleet.leave()


async def test_a_worker_that_stood_still_for_less_than_its_lease_keeps_its_task(
    queue: Queue, fleet: Fleet, held: TaskRecord
) -> None:
    first = fleet.start(lease=20.0, heartbeat=0.2)
    await fleet.until("start", worker=first)
    second = fleet.start(lease=20.0, heartbeat=0.2)
    await fleet.until("ready", worker=second)
    fleet.freeze(first)
    await _look_around(queue, second)
    fleet.signal(first, signal.SIGCONT)
    (fleet.folder / "gate-1").touch()
    done = await queue.wait(held.id, timeout=20)
    assert (done.result, done.lost_leases) == (first, 0)
    assert not fleet.lines("start", worker=second)
    fleet.leave()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_task_runs_again_within_two_seconds_of_its_workers_death_on_the_same_file(
    fleet: Fleet, held: TaskRecord, queue: Queue
) -> None:
    first = fleet.start()
    await fleet.until("start", worker=first)
    second = fleet.start()
    await fleet.until("ready", worker=second)
    fleet.kill(first)
    again = await fleet.until("start", task=str(held.id), worker=second)
    assert again.at - fleet.died[first] < 2e9
    (fleet.folder / "gate-2").touch()
    done = await queue.wait(held.id, timeout=20)
    assert (done.result, done.attempts, done.lost_leases) == (second, 1, 1)
    fleet.leave()


async def test_a_task_runs_again_within_two_seconds_of_its_workers_death_under_a_supervisor(
    queue: Queue, fleet: Fleet, held: TaskRecord
) -> None:
    async with Supervisor(queue.work, fleet.command(), count=2, stop_limit=10.0):
        first = await fleet.until("start", task=str(held.id))
        await fleet.until("ready", count=2)
        killed = time.time_ns()
        # Its pid as it wrote it: the supervisor started it, and finds out by reaping it.
        os.kill(first.pid, signal.SIGKILL)
        again = await fleet.until("start", task=str(held.id), count=2)
        assert again.at - killed < 2e9
        assert again.worker != first.worker
        (fleet.folder / "gate").touch()
        done = await queue.wait(held.id, timeout=20)
    assert (done.result, done.attempts, done.lost_leases) == (again.worker, 1, 1)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_worker_in_another_pid_namespace_is_left_alone_while_it_lives_and_succeeded_when_it_dies(
    fleet: Fleet, held: TaskRecord, queue: Queue
) -> None:
    apart = ["unshare", "--pid", "--fork", "--kill-child"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user may not make pid namespaces")
    first = fleet.start(within=apart, heartbeat=0.2)
    started = await fleet.until("start", worker=first)
    assert started.pid == 1
    second = fleet.start(heartbeat=0.2)
    await fleet.until("ready", worker=second)
    await _look_around(queue, second)
    assert not fleet.lines("start", worker=second)
    assert (await queue.get(held.id)).lost_leases == 0
    fleet.kill(first)
    again = await fleet.until("start", worker=second)
    assert again.at - fleet.died[first] < 2e9
    (fleet.folder / "gate-2").touch()
    assert (await queue.wait(held.id, timeout=20)).result == second
    fleet.leave()


async def _look_around(queue: Queue, worker: str) -> None:
    """Wait until a worker has had ample opportunity to find stale leases and dead peers."""
    beats: set[datetime] = set()
    until = time.monotonic() + 20
    # It looks for stale leases with each beat of 0.2 s, and for dead peers every half second.
    while len(beats) < 8:
        assert time.monotonic() < until
        beats |= {known.heartbeat_at for known in await queue.workers() if known.name == worker}
        await asyncio.sleep(0.02)
