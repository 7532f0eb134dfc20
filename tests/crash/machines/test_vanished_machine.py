"""A machine that vanishes in the midst of a transaction keeps nothing from the others for long."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.runtime import Queue, TaskState

if TYPE_CHECKING:
    from tests.crash.conftest import Fleet
    from tests.crash.machines.conftest import Lan, StartOn

PROGRAM = Path(__file__).with_name("vanishing_program.py")
LEASE = 2.0
# Eight seconds of silence, the lease, and a slow machine. Without anybody who looks it takes two hours.
LIMIT = 60.0
ROUNDS = 10


@pytest.mark.parametrize("how", ["claiming", "transact"])
async def test_rows_and_events_that_a_vanished_machine_held_go_on(
    how: str, queue: Queue, fleet: Fleet, lan: Lan, start_on: StartOn, reached_from_machines: str
) -> None:
    start_on(2, lease=LEASE, heartbeat=0.3)
    await _vanish(how, queue, fleet, lan, reached_from_machines)
    fleet.leave()


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("how", ["claiming", "transact"])
async def test_they_go_on_within_the_lease_and_ten_seconds(
    how: str,
    queue: Queue,
    fleet: Fleet,
    lan: Lan,
    start_on: StartOn,
    reached_from_machines: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    start_on(2, lease=LEASE, heartbeat=0.3)
    took = [await _vanish(how, queue, fleet, lan, reached_from_machines) for _ in range(ROUNDS)]
    fleet.leave()
    with capsys.disabled():
        sys.stdout.write(f"\n{how}: {ROUNDS} cuts, all done {min(took):.1f} to {max(took):.1f} s after the cut\n")
    assert max(took) < LEASE + 10


async def _vanish(how: str, queue: Queue, fleet: Fleet, lan: Lan, url: str) -> float:
    """Cut a machine off in the midst of a transaction; how many seconds until everything was done without it."""
    await fleet.until("ready")
    # Not yet to be run: they wait for a moment that the holder does not survive.
    tasks = await queue.enqueue_many([("held back", 0.0)] * 50)
    mark = fleet.folder / f"held-{time.monotonic_ns()}"
    command = [*lan.within(1), sys.executable, str(PROGRAM), how, url, str(mark)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as holder:
        try:
            async with asyncio.timeout(30):
                while not mark.exists():
                    assert holder.poll() is None
                    await asyncio.sleep(0.01)
            lan.shut(1)
            cut = time.monotonic()
            events = queue.events()
            after = await queue.enqueue("work", 0.0)
            async with asyncio.timeout(LIMIT):
                await queue.transact(lambda conn: conn.execute("UPDATE tasks SET task_type = 'work'"))
                # The rows were locked until now. Workers look with every heartbeat.
                done = [await queue.wait(task.id) for task in [*tasks, after]]
                # The stream passes no transaction that is open.
                while (await anext(events)).task_id != after.id:
                    pass
            took = time.monotonic() - cut
        finally:
            holder.kill()
            lan.open(1)
    assert {task.state for task in done} == {TaskState.SUCCEEDED}
    return took
