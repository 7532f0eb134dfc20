"""How much runs at once, and for how long."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.runtime import Queue, Registry, TaskContext, TaskState, Worker


class Gauge:
    """How many are inside at once, by type, and the most there ever were."""

    def __init__(self) -> None:
        self.most: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self.enter("all")

    def __exit__(self, *_: object) -> None:
        self.leave("all")

    def enter(self, kind: str) -> None:
        with self._lock:
            self._inside[kind] += 1
            self.most[kind] = max(self.most[kind], self._inside[kind])

    def leave(self, kind: str) -> None:
        with self._lock:
            self._inside[kind] -= 1

    async def stay(self, kind: str, count: int) -> None:
        """Stay inside until so many were inside at once, and let others come in meanwhile."""
        while self.most[kind] < count:
            await asyncio.sleep(0)
        await asyncio.sleep(0)


async def wait_all(queue: Queue, tasks: list[str]) -> list[TaskState]:
    return [(await queue.wait(task, timeout=PATIENCE)).state for task in tasks]


async def test_a_worker_runs_as_many_at_once_as_it_may_and_no_more(queue: Queue) -> None:
    registry, gauge = Registry(), Gauge()

    @registry.task
    async def some() -> None:
        with gauge:
            await gauge.stay("all", 3)

    tasks = [str(task.id) for task in await queue.enqueue_many([("some",)] * 40)]
    async with Worker(queue, registry, concurrency=3):
        assert set(await wait_all(queue, tasks)) == {TaskState.SUCCEEDED}
    assert gauge.most["all"] == 3


async def test_a_type_runs_as_many_at_once_as_it_may_while_others_go_on(queue: Queue) -> None:
    registry, gauge = Registry(), Gauge()

    async def work(kind: str, count: int) -> None:
        gauge.enter(kind)
        await gauge.stay(kind, count)
        gauge.leave(kind)

    @registry.task("narrow", concurrency=2)
    async def narrow() -> None:
        await work("narrow", 2)

    @registry.task("wide")
    async def wide() -> None:
        await work("wide", 3)

    wanted = [("narrow",)] * 20 + [("wide",)] * 20
    tasks = [str(task.id) for task in await queue.enqueue_many(wanted)]
    async with Worker(queue, registry, concurrency=8):
        assert set(await wait_all(queue, tasks)) == {TaskState.SUCCEEDED}
    assert gauge.most["narrow"] == 2
    assert gauge.most["wide"] > 2


@pytest.mark.parametrize("limited", ["worker", "type"])
async def test_the_next_task_starts_when_the_one_before_ends_and_not_at_the_next_heartbeat(
    queue: Queue, limited: str
) -> None:
    registry = Registry()

    @registry.task("one", concurrency=1 if limited == "type" else None)
    async def one() -> None:
        await asyncio.sleep(0)

    tasks = [str(task.id) for task in await queue.enqueue_many([("one",)] * 10)]
    started = time.monotonic()
    async with Worker(queue, registry, concurrency=1 if limited == "worker" else 4, lease=60, heartbeat=30):
        await wait_all(queue, tasks)
    assert time.monotonic() - started < 10


async def test_plain_functions_run_in_threads_beside_one_another_and_the_loop(queue: Queue) -> None:
    registry, together = Registry(), threading.Barrier(3)

    @registry.task
    def blocking() -> str:
        together.wait(timeout=PATIENCE)
        return threading.current_thread().name

    tasks = [await queue.enqueue("blocking") for _ in range(2)]
    async with Worker(queue, registry, concurrency=2):
        # Neither handler goes on before the other runs too, and this loop is free to be the third.
        await asyncio.to_thread(together.wait, PATIENCE)
        names = {(await queue.wait(task.id, timeout=PATIENCE)).result for task in tasks}
    assert len(names) == 2
    assert threading.main_thread().name not in names


async def test_an_async_handler_that_runs_too_long_is_cancelled_and_fails(queue: Queue) -> None:
    registry, clock, running = Registry(), ManualClock(), asyncio.Event()
    cancelled = []

    @registry.task("endless", time_limit=60.0, max_attempts=1)
    async def endless(ctx: TaskContext) -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(ctx.task_id)
            raise

    task = await queue.enqueue("endless")
    async with Worker(queue, registry, lease=600.0, clock=clock):
        await running.wait()
        clock.advance(59.9)
        assert (await queue.get(task.id)).state is TaskState.RUNNING
        clock.advance(0.1)
        done = await queue.wait(task.id, timeout=PATIENCE)
    assert (done.state, cancelled) == (TaskState.DEAD, [task.id])
    assert done.last_error == "TimeoutError: ran longer than its time limit of 60.0 s"


async def test_a_plain_function_that_runs_too_long_is_told_and_fails(queue: Queue) -> None:
    registry, clock, running = Registry(), ManualClock(), threading.Event()

    @registry.task("endless", time_limit=60.0, max_attempts=1)
    def endless(ctx: TaskContext) -> str:
        running.set()
        while not ctx.cancelled:
            # A plain function is told nothing; it looks.
            time.sleep(0.005)
        return "too late"

    task = await queue.enqueue("endless")
    async with Worker(queue, registry, lease=600.0, clock=clock):
        await asyncio.to_thread(running.wait, PATIENCE)
        clock.advance(60.0)
        done = await queue.wait(task.id, timeout=PATIENCE)
    assert (done.state, done.result) == (TaskState.DEAD, None)
    assert done.last_error == "TimeoutError: ran longer than its time limit of 60.0 s"


async def test_a_handlers_own_timeout_is_not_taken_for_the_limit(queue: Queue) -> None:
    registry = Registry()

    @registry.task("waits", time_limit=30.0, max_attempts=1)
    async def waits() -> None:
        raise TimeoutError("the server does not answer")

    task = await queue.enqueue("waits")
    async with Worker(queue, registry):
        done = await queue.wait(task.id, timeout=PATIENCE)
    assert done.last_error == "TimeoutError: the server does not answer"


async def test_what_was_claimed_ahead_is_put_back_when_handlers_turn_slow(
    queue: Queue, eventually: Callable[[Callable[[], Any]], Awaitable[Any]]
) -> None:
    registry, gate = Registry(), asyncio.Event()
    started: list[str] = []

    @registry.task
    async def quick() -> None:
        """Ends at once, so that the worker claims ahead."""

    @registry.task
    async def slow(ctx: TaskContext) -> None:
        started.append(str(ctx.task_id))
        await gate.wait()

    await queue.enqueue_many([("quick",)] * 3000 + [("slow",)] * 10)
    async with Worker(queue, registry, concurrency=1):
        await eventually(lambda: started)
        assert (await queue.counts_by_state())[TaskState.RUNNING] > 1, "it did not claim ahead"
        async with Worker(queue, registry, concurrency=9):
            await eventually(lambda: len(started) == 10)
            gate.set()
            await eventually(lambda: _all_done(queue))
    assert len(set(started)) == 10


async def _all_done(queue: Queue) -> bool:
    return (await queue.counts_by_state())[TaskState.SUCCEEDED] == 3010
