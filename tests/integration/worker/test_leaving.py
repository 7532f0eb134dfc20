"""A worker that stops, in good order or not, leaves nothing running."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.runtime import Queue, Registry, TaskContext, TaskState, Worker


async def test_leaving_waits_for_running_handlers_and_keeps_their_results(queue: Queue) -> None:
    registry, running, gate = Registry(), asyncio.Event(), asyncio.Event()

    @registry.task
    async def short() -> str:
        running.set()
        await gate.wait()
        return "kept"

    task = await queue.enqueue("short")
    async with Worker(queue, registry):
        await running.wait()
        # In the next turn of the loop, when leaving has begun.
        asyncio.get_running_loop().call_soon(gate.set)
    done = await queue.get(task.id)
    assert (done.state, done.result) == (TaskState.SUCCEEDED, "kept")


async def test_leaving_puts_back_what_does_not_end_within_the_grace_and_gives_the_attempt_back(queue: Queue) -> None:
    registry, told = Registry(), []
    running = asyncio.Event()

    @registry.task
    async def endless() -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append(True)
            raise

    task = await queue.enqueue("endless")
    waiting = [await queue.enqueue("endless") for _ in range(5)]
    async with Worker(queue, registry, concurrency=1, grace=0.05):
        await running.wait()
    assert told == [True]
    found = await queue.get(task.id)
    assert (found.state, found.attempts, found.lost_leases, found.errors) == (TaskState.QUEUED, 0, 0, ())
    assert (await queue.counts_by_state())[TaskState.QUEUED] == 1 + len(waiting)


@pytest.mark.parametrize("threaded", [True, False])
async def test_leaving_puts_back_even_what_does_not_obey(queue: Queue, threaded: bool) -> None:
    registry = Registry()
    running, gate, ended = threading.Event(), threading.Event(), threading.Event()

    def deaf() -> None:
        running.set()
        gate.wait(PATIENCE)
        ended.set()

    async def deaf_async() -> None:
        running.set()
        while not gate.is_set():
            try:
                # The gate is a thread's, so it is looked at.
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                continue
        ended.set()

    registry.task("deaf")(deaf if threaded else deaf_async)
    task = await queue.enqueue("deaf")
    async with Worker(queue, registry, grace=0.0):
        await asyncio.to_thread(running.wait, PATIENCE)
    found = await queue.get(task.id)
    assert (found.state, found.attempts) == (TaskState.QUEUED, 0)
    gate.set()
    await asyncio.to_thread(ended.wait, PATIENCE)
    assert (await queue.get(task.id)).state is TaskState.QUEUED


async def test_a_plain_function_that_looks_returns_and_its_task_is_put_back(queue: Queue) -> None:
    registry = Registry()
    running, returned = threading.Event(), threading.Event()

    @registry.task
    def polite(ctx: TaskContext) -> None:
        running.set()
        while not ctx.cancelled:
            returned.wait(0.005)
        returned.set()

    task = await queue.enqueue("polite")
    async with Worker(queue, registry, grace=0.0):
        await asyncio.to_thread(running.wait, PATIENCE)
    assert returned.is_set()
    found = await queue.get(task.id)
    assert (found.state, found.attempts) == (TaskState.QUEUED, 0), "it said nothing of having done its work"


async def test_a_plain_function_that_ends_in_the_last_moment_without_being_told_is_done(queue: Queue) -> None:
    registry, running, gate = Registry(), threading.Event(), threading.Event()

    @registry.task
    def busy() -> str:
        running.set()
        gate.wait(PATIENCE)
        return "whole"

    task = await queue.enqueue("busy")
    # On a clock that stands still: its last moment lasts until it ends.
    async with Worker(queue, registry, grace=0.0, clock=ManualClock()) as worker:
        await asyncio.to_thread(running.wait, PATIENCE)
        worker._dispatcher.stop()
        while not any(ctx.told_to_stop for ctx, _, _ in worker._dispatcher.slots._running.values()):
            await asyncio.sleep(0)
        gate.set()
    done = await queue.get(task.id)
    assert (done.state, done.result) == (TaskState.SUCCEEDED, "whole")


async def test_a_worker_that_left_takes_nothing_new_and_is_no_longer_listed(queue: Queue) -> None:
    registry = Registry()

    @registry.task
    async def easy() -> None:
        """Ends at once."""

    async with Worker(queue, registry, name="leaving"):
        assert [worker.name for worker in await queue.workers()] == ["leaving"]
        await queue.wait((await queue.enqueue("easy")).id, timeout=PATIENCE)
    assert await queue.workers() == []
    late = await queue.enqueue("easy")
    assert (late.state, late.no_worker) == (TaskState.QUEUED, True)


async def test_stopping_twice_is_harmless(queue: Queue) -> None:
    worker = Worker(queue, Registry())
    async with worker:
        await worker.stop()
    await worker.stop()


class SlowClaims:
    """A queue, and its worker's side too, whose answers to a claim take their time to arrive."""

    instant = None

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self.work: Any = self
        self.claimed, self.gate = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue if hasattr(self._queue, name) else self._queue.work, name)

    async def claim(self, *args: Any, **options: Any) -> Any:
        claimed = await self._queue.work.claim(*args, **options)
        if claimed.tasks:
            self.claimed.set()
            await self.gate.wait()
        return claimed


@pytest.mark.parametrize("cancelled", ["program", "dispatcher"])
async def test_a_worker_cancelled_in_the_middle_of_a_claim_leaves_nothing_running(queue: Queue, cancelled: str) -> None:
    registry, slow = Registry(), SlowClaims(queue)
    ran = []

    @registry.task
    async def endless() -> None:
        ran.append(True)
        await asyncio.Event().wait()

    await queue.enqueue_many([("endless",)] * 5)
    worker = Worker(slow, registry, grace=0.0, name="cancelled")
    program = asyncio.create_task(worker.run())
    await slow.claimed.wait()
    for task in asyncio.all_tasks():
        if task is program or (cancelled == "dispatcher" and task.get_name() == "cancelled dispatcher"):
            task.cancel()
    # The cancellation arrives within a few turns of the loop, and the answer to the claim after it.
    for _ in range(10):
        await asyncio.sleep(0)
    slow.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await program
    counts = await queue.counts_by_state()
    assert (counts[TaskState.QUEUED], counts[TaskState.RUNNING]) == (5, 0)
    assert {task.attempts for task in await queue.list()} == {0}


async def test_an_error_in_the_programs_own_block_still_leaves_in_good_order(queue: Queue) -> None:
    registry, running = Registry(), asyncio.Event()

    @registry.task
    async def endless() -> None:
        running.set()
        await asyncio.Event().wait()

    async def fail() -> None:
        async with Worker(queue, registry, grace=0.0):
            await running.wait()
            raise LookupError("mine")

    task = await queue.enqueue("endless")
    with pytest.raises(LookupError, match="mine"):
        await fail()
    assert (await queue.get(task.id)).state is TaskState.QUEUED
