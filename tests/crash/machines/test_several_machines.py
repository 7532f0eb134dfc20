"""Three machines on one PostgreSQL, two of them with a clock that is an hour off: they are cut off, killed and restarted."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.runtime import Queue, TaskRecord, TaskState

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.conftest import Fleet, MachineClock
    from tests.crash.machines.conftest import Lan, StartOn

MACHINES = (1, 2, 3)
HOUR = 3600.0
SKEW = {1: HOUR, 2: -HOUR, 3: 0.0}
LEASE = 3.0
OPTIONS: dict[str, Any] = {"lease": LEASE, "heartbeat": 0.5, "concurrency": 8, "every": 1.0}


class Park:
    """The workers of the three machines."""

    def __init__(self, fleet: Fleet, lan: Lan, start_on: StartOn, clocks: dict[int, str], each: int) -> None:
        self.fleet = fleet
        self.lan = lan
        self.counts: defaultdict[str, int] = defaultdict(int)
        self._start_on = start_on
        self._clocks = clocks
        self.workers = {machine: [self._start(machine) for _ in range(each)] for machine in MACHINES}

    async def ready(self) -> None:
        """Return when every worker has come up. One that could not, because its machine was cut off, is started again."""
        async with asyncio.timeout(180):
            while {name for names in self.workers.values() for name in names} - self._came_up():
                self._start_ended_again()
                await asyncio.sleep(0.02)

    def _came_up(self) -> set[str]:
        return {line.worker for line in self.fleet.lines("ready")}

    def _start_ended_again(self) -> None:
        for name in self.fleet.take_ended():
            assert name not in self._came_up(), "a worker that had come up ended by itself"
            (machine,) = (machine for machine, names in self.workers.items() if name in names)
            self.workers[machine].remove(name)
            self.workers[machine].append(self._start(machine))
            self.counts["starts while cut off"] += 1

    async def kill(self, machine: int) -> None:
        """Kill a worker, and start another in its place."""
        self._start_ended_again()
        self.fleet.kill(self.workers[machine].pop(0))
        self.workers[machine].append(self._start(machine))
        self.counts["kills"] += 1

    async def cut(self, machine: int, seconds: float) -> None:
        """Let a machine be alone for a while."""
        self.lan.shut(machine)
        await asyncio.sleep(seconds)
        self.lan.open(machine)
        self.counts["partitions"] += 1

    async def roll(self) -> None:
        """Restart every worker, one after the other."""
        await self.ready()
        for machine in MACHINES:
            for name in list(self.workers[machine]):
                await asyncio.to_thread(self.fleet.leave, name)
                self.workers[machine].remove(name)
                self.workers[machine].append(self._start(machine))
                await self.ready()
                self.counts["restarts"] += 1

    def _start(self, machine: int) -> str:
        return self._start_on(machine, clock=self._clocks[machine], **OPTIONS)


@pytest.fixture
def clocks(machine_clock: MachineClock, tmp_path: Path) -> dict[int, str]:
    made = {}
    for machine, ahead in SKEW.items():
        clock = type(machine_clock)(tmp_path / f"clock-{machine}")
        clock.jump(ahead)
        made[machine] = clock.path
    return made


async def test_nothing_is_lost_and_no_late_finish_accepted(
    queue: Queue, fleet: Fleet, lan: Lan, start_on: StartOn, clocks: dict[int, str]
) -> None:
    park = Park(fleet, lan, start_on, clocks, each=1)
    await _torture(queue, park, random.Random(5), tasks=600, rounds=2)


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_nothing_is_lost_among_twenty_thousand_tasks(
    queue: Queue,
    fleet: Fleet,
    lan: Lan,
    start_on: StartOn,
    clocks: dict[int, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    park = Park(fleet, lan, start_on, clocks, each=2)
    summary = await _torture(queue, park, random.Random(2026), tasks=20_000, rounds=40)
    with capsys.disabled():
        sys.stdout.write(f"\nthree machines: {summary}\n")


async def _torture(queue: Queue, park: Park, chance: random.Random, *, tasks: int, rounds: int) -> str:
    began = time.monotonic()
    await park.ready()
    ids = []
    for number in range(rounds):
        batch = [("work", chance.uniform(0.0, 0.03)) for _ in range(tasks // rounds)]
        ids += [task.id for task in await queue.enqueue_many(batch)]
        await asyncio.sleep(chance.uniform(0.0, 0.3))
        machine = chance.choice(MACHINES)
        if number % 2 == 0:
            # Some shorter than the lease, some so long that both ends give their connections up.
            await park.cut(machine, chance.uniform(0.5, 4.0 * LEASE))
        else:
            await park.kill(machine)
        if number == rounds // 2:
            await park.roll()
    given_up: list[TaskRecord] = []
    records = [await _finished(queue, task_id, given_up) for task_id in ids]
    await park.ready()
    park.fleet.leave()
    await _check_counts(queue, records)
    repeated = _check_executions(park.fleet, records)
    await _check_ends(queue, records)
    await _check_ticks(queue)
    done = ", ".join(f"{count} {what}" for what, count in sorted(park.counts.items()))
    return (
        f"{len(records)} tasks, {done} in {time.monotonic() - began:.0f} s; 0 lost, 0 late finishes accepted, "
        f"{sum(record.lost_leases for record in records + given_up)} leases lost, {repeated} executions repeated, "
        f"{len(given_up)} given up after three lost workers and retried"
    )


async def _finished(queue: Queue, task_id: Any, given_up: list[TaskRecord]) -> TaskRecord:
    record = await queue.wait(task_id, timeout=120)
    while record.state is TaskState.DEAD:
        assert (record.last_error or "").startswith("WORKER_LOST"), record.last_error
        given_up.append(record)
        await queue.retry(task_id)
        record = await queue.wait(task_id, timeout=120)
    return record


async def _check_counts(queue: Queue, records: list[TaskRecord]) -> None:
    assert {record.state for record in records} == {TaskState.SUCCEEDED}
    assert {record.attempts for record in records} == {1}, "a lost lease is not the task's failure"
    counts = await queue.counts_by_state()
    ticks = [depth for depth in await queue.depths() if depth.task_type == "tick"]
    others = sum(depth.count for depth in ticks if depth.state is TaskState.SUCCEEDED)
    assert counts[TaskState.SUCCEEDED] == len(records) + others


def _check_executions(fleet: Fleet, records: list[TaskRecord]) -> int:
    """Each result is that of the worker that owned the task in the end, and of its last execution there.

    Not simply of the execution that began last: the answer to a claim may reach a machine that was cut off when the task is
    long done elsewhere. It then begins, and its end must not be accepted.
    """
    started: defaultdict[tuple[str | None, str | None], list[str | None]] = defaultdict(list)
    for line in fleet.lines("start"):
        started[line.task, line.worker].append(line.execution)
    ended = {line.execution for line in fleet.lines("end")}
    for record in records:
        assert record.result["worker"] == record.worker, "a late finish was accepted"
        assert record.result["execution"] == started[str(record.id), record.worker][-1], "a late finish was accepted"
        assert record.result["execution"] in ended, "done means that it ran"
    return sum(len(executions) for executions in started.values()) - len(records)


async def _check_ends(queue: Queue, records: list[TaskRecord]) -> None:
    """Each task was finished once, as its events tell."""

    def look(conn: Any) -> list[Any]:
        facts = conn.execute("SELECT facts FROM task_events WHERE name = 'Succeeded'").fetchall()
        return [fact for (listed,) in facts for fact in (json.loads(listed) if isinstance(listed, str) else listed)]

    ends = Counter(fact[0] for fact in await queue.transact(look))
    assert {ends[record.id.hex] for record in records} == {1}


async def _check_ticks(queue: Queue) -> None:
    """No schedule is ahead of the server, whatever the machines' clocks say, nor behind it."""

    def look(conn: Any) -> Any:
        return conn.execute("SELECT last_tick FROM task_schedules WHERE name = 'ticking'").fetchone()

    (last,) = await queue.transact(look)
    assert abs(last - await queue.work.now()) < 600_000_000
