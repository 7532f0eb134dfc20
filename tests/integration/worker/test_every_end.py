"""However a handler ends: its task is settled, the worker lives, and its neighbours notice nothing."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.runtime import Queue, Registry, TaskRecord, TaskState, Worker

# Read now: a test sees none of the developer's own settings.
ROUNDS = int(os.environ.get("KURABITO_SOAK_ENDS", "20"))


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    # By its name, as a process of its own imports it.
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module("handler_ends")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_every_end_of_a_handler_is_an_outcome(queue: Queue, ends: ModuleType) -> None:
    await check_all(queue, ends.in_loop_and_threads)


async def test_every_end_of_a_process_is_an_outcome(queue: Queue, ends: ModuleType) -> None:
    await check_all(queue, ends.in_processes)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_every_end_again_and_again(queue: Queue, ends: ModuleType) -> None:
    for _ in range(ROUNDS):
        await check_all(queue, lambda registry: ends.in_loop_and_threads(registry) + ends.in_processes(registry))


async def check_all(queue: Queue, register: Callable[[Registry], list[Any]]) -> None:
    registry = Registry()
    cases = register(registry)
    assert len({case.name for case in cases}) == len(cases)

    @registry.task("neighbour")
    async def neighbour(number: int) -> int:
        await asyncio.sleep(0)
        return number

    @registry.task("neighbour in a thread")
    def threaded(number: int) -> int:
        return number

    worker = Worker(queue, registry, concurrency=8, lease=60.0, heartbeat=1.0)
    async with worker:
        tasks = {}
        neighbours = []
        for number, case in enumerate(cases):
            tasks[case.name] = await queue.enqueue(case.name)
            neighbours.append(await queue.enqueue("neighbour", number))
            neighbours.append(await queue.enqueue("neighbour in a thread", number))
        problems = []
        for case in cases:
            problems += await check_one(queue, case, tasks[case.name])
        assert not problems
        for task in neighbours:
            done = await queue.wait(task.id, timeout=PATIENCE)
            assert (done.state, done.attempts, done.lost_leases) == (TaskState.SUCCEEDED, 1, 0)
        last = await queue.enqueue("neighbour", -1)
        assert (await queue.wait(last.id, timeout=PATIENCE)).result == -1
        assert worker.trouble is None
        # Every page of the list can be read, whatever the tasks left in it.
        listed, cursor = 0, None
        while True:
            page = await queue.list(limit=100, cursor=cursor)
            listed += len(page)
            if (cursor := page.next_cursor) is None:
                break
        assert listed >= len(tasks) + len(neighbours)
    assert (await queue.counts_by_state())[TaskState.RUNNING] == 0


async def check_one(queue: Queue, case: Any, task: TaskRecord) -> list[str]:
    try:
        done = await queue.wait(task.id, timeout=PATIENCE)
    except TimeoutError:
        return [f"{case.name}: still {(await queue.get(task.id)).state}"]
    if case.expected not in ("either", done.state.value):
        return [f"{case.name}: {done.state}, {done.last_error!r}"]
    if done.state is TaskState.DEAD and not (done.last_error and done.errors):
        return [f"{case.name}: dead without an error"]
    if case.error and not re.search(case.error, done.last_error or ""):
        return [f"{case.name}: {done.last_error!r} is not {case.error!r}"]
    if len(done.last_error or "") > 11_000 or any(len(error.traceback or "") > 20_000 for error in done.errors):
        return [f"{case.name}: too much is kept"]
    return []


def test_there_are_many_ends(ends: ModuleType) -> None:
    assert len(ends.in_loop_and_threads(Registry())) + len(ends.in_processes(Registry())) >= 60
    assert sys.modules["handler_ends"] is ends
