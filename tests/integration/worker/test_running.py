"""While a task runs: progress, cancellation, the lease, and what a handler may leave behind."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.runtime import Queue, Registry, TaskContext, TaskState, Worker, open_queue
from kurabito.runtime.model import Progress
from kurabito.runtime.outcomes import Released
from kurabito.runtime.port import Beat

Eventually = Callable[[Callable[[], Any]], Awaitable[Any]]

UNHURRIED: dict[str, Any] = {"lease": 60.0, "heartbeat": 30.0}
"""Nothing here may wait for a heartbeat."""


async def test_progress_can_be_seen_while_the_handler_runs(queue: Queue, eventually: Eventually) -> None:
    registry, gate = Registry(), asyncio.Event()

    @registry.task
    async def counting(ctx: TaskContext) -> None:
        for done in range(4):
            _ = ctx.report(done, 10)
        await gate.wait()
        await ctx.report(10, 10)

    task = await queue.enqueue("counting")
    async with Worker(queue, registry, **UNHURRIED):

        async def seen() -> Progress | None:
            return (await queue.get(task.id)).progress

        assert await eventually(seen) == Progress(3, 10)
        assert (await queue.get(task.id)).state is TaskState.RUNNING
        gate.set()
        await queue.wait(task.id, timeout=PATIENCE)


async def test_an_execution_goes_on_from_the_progress_of_a_lost_one(queue: Queue) -> None:
    registry = Registry()
    seen = []

    @registry.task
    async def counting(ctx: TaskContext) -> None:
        seen.append((ctx.progress, ctx.attempt))

    task = await queue.enqueue("counting")
    claimed = await queue.work.claim("lost", {"counting": 1}, 1)
    await asyncio.to_thread(queue.work.heartbeat, [Beat(claimed.tasks[0], Progress(7, 9))])
    await queue.work.expire_worker("lost")
    assert await queue.work.recover() == 1
    async with Worker(queue, registry):
        done = await queue.wait(task.id, timeout=PATIENCE)
    assert seen == [(Progress(7, 9), 1)]
    assert done.lost_leases == 1


async def test_one_that_may_take_its_worker_down_starts_when_others_like_it_were_given_back(queue: Queue) -> None:
    registry = Registry()
    beside: list[int] = []

    @registry.task
    async def deadly(ctx: TaskContext) -> None:
        # Were this the end of the worker, every task that is running now would have lost its third.
        beside.append((await queue.counts_by_state())[TaskState.RUNNING])

    tasks = [await queue.enqueue("deadly") for _ in range(4)]
    for _ in range(2):
        assert len((await queue.work.claim("lost", {"deadly": 4}, 4)).tasks) == 4
        await queue.work.expire_worker("lost")
        assert await queue.work.recover() == 4
    async with Worker(queue, registry, concurrency=4):
        for task in tasks:
            await queue.wait(task.id, timeout=PATIENCE)
    assert beside == [1, 1, 1, 1]


async def test_while_one_runs_that_may_take_its_worker_down_no_other_like_it_is_claimed(queue: Queue) -> None:
    registry, gate, started = Registry(), asyncio.Event(), asyncio.Event()

    @registry.task
    async def deadly() -> None:
        started.set()
        await gate.wait()

    @registry.task
    async def harmless() -> None:
        pass

    both = [await queue.enqueue("deadly") for _ in range(2)]
    for _ in range(2):
        assert len((await queue.work.claim("lost", {"deadly": 2}, 2)).tasks) == 2
        await queue.work.expire_worker("lost")
        assert await queue.work.recover() == 2
    (elsewhere,) = (await queue.work.claim("another", {"deadly": 1}, 1)).tasks
    async with Worker(queue, registry, concurrency=4, **UNHURRIED):
        await started.wait()
        assert await queue.work.settle([(elsewhere, Released())]) == []
        for _ in range(3):
            await queue.wait((await queue.enqueue("harmless")).id, timeout=PATIENCE)
            # Had it been claimed, even to be given back, it would be lost with this worker if that ended now.
            assert (await queue.get(elsewhere.id)).state is TaskState.QUEUED
        gate.set()
        for task in both:
            assert (await queue.wait(task.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED


async def test_an_async_handler_is_cancelled_at_once(queue: Queue, eventually: Eventually) -> None:
    registry, told = Registry(), []
    running = asyncio.Event()

    @registry.task
    async def endless(ctx: TaskContext) -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append(ctx.cancelled)
            raise

    task = await queue.enqueue("endless")
    async with Worker(queue, registry, **UNHURRIED):
        await running.wait()
        began = time.monotonic()
        assert (await queue.cancel(task.id)).state is TaskState.CANCELLED
        await eventually(lambda: told)
        assert time.monotonic() - began < 2
    assert told == [True]
    assert (await queue.get(task.id)).state is TaskState.CANCELLED


async def test_a_plain_function_is_told_at_once_and_its_result_is_not_kept(
    queue: Queue, eventually: Eventually
) -> None:
    registry = Registry()
    running, returned = threading.Event(), threading.Event()

    @registry.task
    def endless(ctx: TaskContext) -> str:
        running.set()
        while not ctx.cancelled:
            # A plain function is told nothing; it looks.
            time.sleep(0.005)
        returned.set()
        return "too late"

    task = await queue.enqueue("endless")
    async with Worker(queue, registry, **UNHURRIED):
        await asyncio.to_thread(running.wait, PATIENCE)
        began = time.monotonic()
        await queue.cancel(task.id)
        await eventually(returned.is_set)
        assert time.monotonic() - began < 2
    done = await queue.get(task.id)
    assert (done.state, done.result) == (TaskState.CANCELLED, None)


# A notification tells of it on PostgreSQL; on SQLite the next heartbeat finds out.
@pytest.mark.parametrize(("url", "heartbeat"), [("sqlite", 0.5), ("postgres", 30.0)], indirect=["url"])
async def test_a_handler_is_cancelled_by_another_program_within_a_heartbeat(
    queue: Queue, url: str, eventually: Eventually, heartbeat: float
) -> None:
    registry, told = Registry(), []
    running = asyncio.Event()

    @registry.task
    async def endless() -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            told.append(True)

    task = await queue.enqueue("endless")
    async with Worker(queue, registry, lease=60.0, heartbeat=heartbeat), open_queue(url) as elsewhere:
        await running.wait()
        began = time.monotonic()
        await elsewhere.cancel(task.id)
        await eventually(lambda: told)
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("stopped_by", ["cancel", "time limit"])
async def test_a_handler_that_ignores_its_cancellation_does_not_poison_the_next(
    queue: Queue, eventually: Eventually, stopped_by: str
) -> None:
    registry = Registry()
    running = asyncio.Event()

    @registry.task("stubborn", time_limit=0.05 if stopped_by == "time limit" else None, max_attempts=1)
    async def stubborn() -> str:
        running.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass
        await asyncio.sleep(0)
        return "done anyway"

    async def fail() -> None:
        raise ValueError("one of a group")

    @registry.task
    async def gentle() -> str:
        # A group takes a cancellation that was left over for its own and raises that instead of its member's error.
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
                await asyncio.Event().wait()
        except* ValueError:
            pass
        return "well"

    task = await queue.enqueue("stubborn")
    async with Worker(queue, registry, concurrency=1, **UNHURRIED):
        await running.wait()
        if stopped_by == "cancel":
            await queue.cancel(task.id)
        nexts = [await queue.enqueue("gentle") for _ in range(3)]
        assert [(await queue.wait(one.id, timeout=PATIENCE)).result for one in nexts] == ["well"] * 3
    ended = TaskState.CANCELLED if stopped_by == "cancel" else TaskState.SUCCEEDED
    assert (await queue.get(task.id)).state is ended


LEFT_BEHIND: ContextVar[str] = ContextVar("left_behind", default="clean")


@pytest.mark.parametrize("threaded", [True, False])
async def test_what_a_handler_sets_in_its_context_is_gone_for_the_next(queue: Queue, threaded: bool) -> None:
    registry = Registry()

    def look_and_leave() -> str:
        seen = LEFT_BEHIND.get()
        LEFT_BEHIND.set("dirty")
        return seen

    async def look_and_leave_async() -> str:
        return look_and_leave()

    registry.task("leaving")(look_and_leave if threaded else look_and_leave_async)
    tasks = [await queue.enqueue("leaving") for _ in range(5)]
    async with Worker(queue, registry, concurrency=1):
        assert {(await queue.wait(task.id, timeout=PATIENCE)).result for task in tasks} == {"clean"}


@contextmanager
def recovering(url: str) -> Iterator[list[int]]:
    """Another program that recovers stale tasks all the time, on a loop of its own; gives what it recovered."""
    recovered: list[int] = []
    stop = threading.Event()

    async def recover() -> None:
        async with open_queue(url) as queue:
            while not stop.is_set():
                recovered.append(await queue.work.recover())
                # It stands for another program, which goes on in real time.
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=lambda: asyncio.run(recover()))
    thread.start()
    try:
        yield recovered
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)
async def test_a_handler_that_blocks_the_loop_for_longer_than_its_lease_keeps_it(queue: Queue, url: str) -> None:
    registry = Registry()
    executions = []

    @registry.task
    async def rude(ctx: TaskContext) -> None:
        executions.append(ctx.attempt)
        # Real time: the lease is the database's, and PostgreSQL goes by its own clock.
        time.sleep(2.5)

    task = await queue.enqueue("rude")
    with recovering(url) as recovered:
        async with Worker(queue, registry, lease=1.0, heartbeat=0.1):
            done = await queue.wait(task.id, timeout=PATIENCE)
    assert sum(recovered) == 0
    assert len(recovered) > 10
    assert (executions, done.lost_leases, done.attempts) == ([1], 0, 1)


async def test_a_task_that_another_worker_took_is_stopped_here(queue: Queue, eventually: Eventually) -> None:
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
    async with Worker(queue, registry, name="first", lease=60.0, heartbeat=0.1, concurrency=1) as worker:
        await running.wait()
        async with asyncio.timeout(PATIENCE):
            # A beat of the first may renew the lease before it is recovered; then it is ended once more.
            while not (await queue.work.claim("second", {"endless": 1}, 1)).tasks:
                await queue.work.expire_worker(worker.name)
                await queue.work.recover()
        await eventually(lambda: told)
        found = await queue.get(task.id)
        assert (found.state, found.worker) == (TaskState.RUNNING, "second")


async def test_a_task_that_comes_back_to_the_worker_that_lost_it_is_finished_by_the_second_run(
    queue: Queue, eventually: Eventually
) -> None:
    registry = Registry()
    gates = [threading.Event(), threading.Event()]
    begun: list[int] = []
    ended: list[int] = []

    @registry.task
    def stubborn() -> int:
        begun.append(number := len(begun))
        assert gates[number].wait(PATIENCE)
        ended.append(number)
        return number

    task = await queue.enqueue("stubborn")
    async with Worker(queue, registry, concurrency=2, **UNHURRIED) as worker:
        await eventually(lambda: begun == [0])
        await queue.work.expire_worker(worker.name)
        assert await queue.work.recover() == 1
        await eventually(lambda: begun == [0, 1])
        # A thread cannot be interrupted: the first ends while the second is at work, and changes nothing.
        gates[0].set()
        await eventually(lambda: ended == [0])
        assert (await queue.get(task.id)).state is TaskState.RUNNING
        gates[1].set()
        done = await queue.wait(task.id, timeout=PATIENCE)
    assert (done.state, done.result, done.lost_leases) == (TaskState.SUCCEEDED, 1, 1)
