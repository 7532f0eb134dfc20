"""A worker is woken by what other processes ask for."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.errors import DatabaseUnavailable
from kurabito.runtime import Queue, Registry, TaskContext, TaskState, Worker, open_queue
from kurabito.runtime.sql.adapters import PostgresQueue

Eventually = Callable[[Callable[[], Any]], Awaitable[Any]]

ENQUEUE = """
import asyncio, sys
from kurabito.runtime import open_queue

async def main():
    async with open_queue(sys.argv[1]) as queue:
        await queue.enqueue("greet", delay=float(sys.argv[2]))

asyncio.run(main())
"""


@pytest.mark.parametrize("delay", [0.0, 0.3])
@pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)
async def test_a_task_of_another_process_starts_without_waiting_for_a_heartbeat(
    queue: Queue, url: str, delay: float, eventually: Eventually
) -> None:
    registry, started = Registry(), asyncio.Event()

    @registry.task
    async def greet(_ctx: TaskContext) -> None:
        started.set()

    async with Worker(queue, registry, lease=120.0, heartbeat=60.0) as worker:
        # It has looked once and found nothing.
        await eventually(lambda: worker._dispatcher.is_resting)
        command = [sys.executable, "-c", ENQUEUE, url, str(delay)]
        await asyncio.to_thread(subprocess.run, command, check=True, timeout=PATIENCE)
        await asyncio.wait_for(started.wait(), 10)


def _noting(*task_types: str) -> tuple[Registry, list[str]]:
    """A registry whose handlers note that they ran."""
    registry, ran = Registry(), []

    for task_type in task_types:

        @registry.task(task_type)
        async def note(ctx: TaskContext) -> None:
            ran.append(ctx.task_type)

    return registry, ran


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_workers_of_one_queue_each_get_their_own_of_what_arrives_together(
    queue: Queue, url: str, eventually: Eventually
) -> None:
    parcels, parcels_ran = _noting("parcel")
    letters, letters_ran = _noting("letter")
    async with (
        open_queue(url) as elsewhere,
        Worker(queue, parcels, lease=120.0, heartbeat=60.0),
        Worker(queue, letters, lease=120.0, heartbeat=60.0),
    ):
        for times in range(1, 30):
            # One commit, and so one notification for both.
            await elsewhere.enqueue_many([("parcel",), ("letter",)])
            await eventually(lambda: len(parcels_ran) == len(letters_ran) == times)  # noqa: B023 - awaited at once
    assert (parcels_ran, letters_ran) == (["parcel"] * 29, ["letter"] * 29)


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_worker_at_rest_takes_no_more_than_it_has_room_for(
    queue: Queue, url: str, eventually: Eventually
) -> None:
    """Here and elsewhere are heard of by different ways; together they must not bring too much."""
    registry, running, most, done = Registry(), 0, 0, 0

    @registry.task
    async def parcel(_ctx: TaskContext) -> None:
        nonlocal running, most, done
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        done += 1

    async with open_queue(url) as elsewhere, Worker(queue, registry, concurrency=2, lease=120.0, heartbeat=60.0):
        for times in range(1, 40):
            await asyncio.gather(*(each.enqueue("parcel") for each in (queue, elsewhere) * 3))
            await eventually(lambda: done == 6 * times)  # noqa: B023 - awaited at once
    assert most <= 2
    assert {task.state for task in (await queue.list(limit=200)).items} == {TaskState.SUCCEEDED}


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_worker_tries_itself_when_nothing_could_be_claimed_for_it(
    queue: Queue, url: str, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry, ran = _noting("parcel")
    async with open_queue(url) as elsewhere, Worker(queue, registry, lease=120.0, heartbeat=60.0) as worker:
        await eventually(lambda: worker._dispatcher.is_resting)
        tried: list[bool] = []

        def unreachable(_work: object) -> None:
            tried.append(True)
            raise DatabaseUnavailable("the connection is gone")

        assert isinstance(queue, PostgresQueue)
        monkeypatch.setattr(queue.database, "write_blocking", unreachable)
        await elsewhere.enqueue("parcel")
        await eventually(lambda: tried)
        monkeypatch.undo()
        await eventually(lambda: ran == ["parcel"])


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_what_is_claimed_while_the_worker_leaves_is_put_back(
    queue: Queue, url: str, eventually: Eventually
) -> None:
    async with open_queue(url) as elsewhere:
        for _ in range(30):
            registry, ran = _noting("parcel")
            async with Worker(queue, registry, lease=120.0, heartbeat=60.0) as worker:
                await eventually(lambda: worker._dispatcher.is_resting)
                task = await elsewhere.enqueue("parcel")
            record = await queue.get(task.id)
            assert record.state is (TaskState.SUCCEEDED if ran else TaskState.QUEUED)
            if not ran:
                await queue.cancel(task.id)
