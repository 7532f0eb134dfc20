"""A worker is either working or gone: what its store, its handlers or its own parts do to it."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.errors import DatabaseUnavailable
from kurabito.runtime import Queue, Registry, TaskContext, TaskState, Worker
from kurabito.runtime.errors import WorkerFailed
from kurabito.runtime.model import Progress
from kurabito.runtime.outcomes import Claim
from kurabito.runtime.port import WorkQueue

Eventually = Callable[[Callable[[], Any]], Awaitable[Any]]


def registry_of_short_tasks() -> Registry:
    registry = Registry()

    @registry.task
    async def short() -> None:
        await asyncio.sleep(0)

    return registry


async def all_done(queue: Queue, tasks: list[Any]) -> bool:
    return {(await queue.wait(task.id, timeout=PATIENCE)).state for task in tasks} == {TaskState.SUCCEEDED}


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_worker_waits_until_a_read_only_server_takes_writes_again(
    queue: Queue, url: str, eventually: Eventually
) -> None:
    worker = Worker(queue, registry_of_short_tasks(), concurrency=4, lease=30.0, heartbeat=0.5)
    async with worker:
        assert await all_done(queue, [await queue.enqueue("short")])
        tasks = list(await queue.enqueue_many([("short",)] * 200))
        with read_only(url):
            # What it hears first may be that its connections were cut.
            await eventually(lambda: "read-only" in (worker.trouble or ""))
        assert await all_done(queue, tasks)
        await eventually(lambda: worker.trouble is None)


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_worker_outlives_transactions_that_the_server_ends_for_idling(queue: Queue, url: str) -> None:
    async with Worker(queue, registry_of_short_tasks(), concurrency=4, lease=30.0, heartbeat=0.1):
        idle_limit(url, "1ms")
        cut(url)
        for _ in range(20):
            # A busy machine lets a transaction lie for more than a millisecond now and then.
            await asyncio.to_thread(burn, 0.02)
            try:
                await queue.enqueue("short")
            except DatabaseUnavailable:
                continue
        idle_limit(url, "0")
        cut(url)
        last = await enqueue_patiently(queue)
        assert await all_done(queue, [last])


class With:
    """A queue whose worker's side is another."""

    def __init__(self, queue: Queue, work: Any) -> None:
        self.work = work
        self._queue = queue

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


class Poisoned:
    """A worker's side that refuses one outcome, as a database refuses what it cannot store."""

    instant = None
    """Asked in turn, so that it can refuse."""

    def __init__(self, work: WorkQueue, poison: str) -> None:
        self._work = work
        self._poison = poison
        self.refused = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    async def claim(self, *args: Any, settling: Any = (), **options: Any) -> Any:
        self._check(settling)
        return await self._work.claim(*args, settling=settling, **options)

    async def settle(self, settling: Any) -> list[Claim]:
        self._check(settling)
        return await self._work.settle(settling)

    def _check(self, settling: Any) -> None:
        for _, outcome in settling:
            if self._poison in repr(outcome):
                self.refused += 1
                raise ValueError(f"cannot store {self._poison}")


@pytest.mark.parametrize(
    ("poison", "ends", "said"),
    [
        (
            "p\u00f6ison",
            "raises",
            r"LookupError: p\xf6ison (it could not be stored: ValueError: cannot store p\xf6ison)",
        ),
        ("poison", "raises", "the handler failed, and its error could not be stored"),
        ("poison", "returns", "the handler did its work, but its result could not be stored"),
    ],
)
async def test_an_outcome_that_cannot_be_written_is_settled_alone(
    queue: Queue, poison: str, ends: str, said: str
) -> None:
    registry, poisoned = registry_of_short_tasks(), Poisoned(queue.work, poison)

    @registry.task("bad", max_attempts=1)
    async def bad() -> str:
        if ends == "raises":
            raise LookupError(poison)
        return poison

    tasks = list(await queue.enqueue_many([*[("short",)] * 20, ("bad",), *[("short",)] * 20]))
    worker = Worker(With(queue, poisoned), registry, concurrency=8, lease=60.0, heartbeat=1.0)
    async with worker:
        done = await queue.wait(tasks[20].id, timeout=PATIENCE)
        assert await all_done(queue, tasks[:20] + tasks[21:])
        assert await all_done(queue, [await queue.enqueue("short")])
        assert worker.trouble is None
    assert poisoned.refused
    assert (done.state, done.attempts, done.last_error) == (TaskState.DEAD, 1, said)


class Broken:
    """A worker's side that fails from some moment on, in a way that nobody thought of."""

    instant = None
    """Asked in turn, so that it can fail."""

    def __init__(self, work: WorkQueue) -> None:
        self._work = work
        self.broken = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    async def claim(self, *args: Any, **options: Any) -> Any:
        if self.broken:
            raise ZeroDivisionError("a fault of the queue")
        return await self._work.claim(*args, **options)


@pytest.mark.parametrize("how", ["block", "run"])
async def test_a_worker_whose_queue_stays_broken_ends_loudly(queue: Queue, how: str) -> None:
    broken = Broken(queue.work)
    worker = Worker(With(queue, broken), registry_of_short_tasks(), lease=0.5, heartbeat=0.1, name="loud")

    async def block() -> None:
        async with worker:
            broken.broken = True
            worker._dispatcher.look_again()
            await asyncio.Event().wait()

    async def run() -> None:
        broken.broken = True
        await worker.run()

    with pytest.raises(WorkerFailed, match=r"worker loud stopped working: .*ZeroDivisionError: a fault of the queue"):
        async with asyncio.timeout(PATIENCE):
            await (block() if how == "block" else run())
    current = asyncio.current_task()
    assert current is not None
    assert not current.cancelling(), "the cancellation that interrupted the block was not taken back"
    assert await queue.workers() == []


@pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)
async def test_an_idle_worker_whose_table_is_gone_ends_loudly(queue: Queue, url: str) -> None:
    async def lose_the_table() -> None:
        async with Worker(queue, registry_of_short_tasks(), lease=1.0, heartbeat=0.2):
            assert await all_done(queue, [await queue.enqueue("short")])
            if url.startswith("sqlite"):
                with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
                    file.execute("DROP TABLE tasks")
            else:
                with psycopg.connect(url, autocommit=True) as server:
                    server.execute("DROP TABLE tasks CASCADE")
            await asyncio.Event().wait()

    with pytest.raises(WorkerFailed, match="tasks"):
        async with asyncio.timeout(PATIENCE):
            await lose_the_table()


async def test_a_program_that_is_cancelled_itself_is_cancelled(queue: Queue) -> None:
    broken = Broken(queue.work)

    async def block() -> None:
        async with Worker(With(queue, broken), registry_of_short_tasks(), lease=0.3, heartbeat=0.1):
            broken.broken = True
            try:
                await asyncio.Event().wait()
            finally:
                # Somebody else cancels the program in the very moment in which the worker fails.
                program.cancel()

    program = asyncio.create_task(block())
    with pytest.raises(asyncio.CancelledError):
        await program


async def test_a_worker_that_loses_its_dispatcher_or_a_loop_ends_loudly(queue: Queue) -> None:
    async def work_without(lost: str) -> None:
        async with asyncio.timeout(PATIENCE), Worker(queue, registry_of_short_tasks()) as worker:
            victim = worker._dispatching if lost == "dispatcher" else worker._maintenance._loops[0]
            assert victim is not None
            victim.cancel()
            await asyncio.Event().wait()

    for lost in ("dispatcher", "loop"):
        with pytest.raises(WorkerFailed):
            await work_without(lost)


async def test_a_worker_whose_heart_stops_ends_loudly(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(**_options: Any) -> None:
        raise SystemExit

    worker = Worker(queue, registry_of_short_tasks(), lease=30.0, heartbeat=0.1)
    monkeypatch.setattr(worker._heartbeat, "_beat_safely", stop)
    with pytest.raises(WorkerFailed, match="its heartbeat stopped: SystemExit"):
        async with asyncio.timeout(PATIENCE):
            await worker.run()


async def test_a_worker_that_would_not_notice_a_lost_lease_ends_loudly(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail() -> None:
        raise RuntimeError("a fault")

    worker = Worker(queue, registry_of_short_tasks(), lease=30.0, heartbeat=0.1)
    monkeypatch.setattr(worker._heartbeat, "_fences_itself", True)
    monkeypatch.setattr(worker._heartbeat, "_fence", fail)
    with pytest.raises(WorkerFailed, match="after a lost lease has ended: RuntimeError: a fault"):
        async with asyncio.timeout(20):
            await worker.run()


async def test_progress_that_cannot_be_stored_does_not_cost_the_leases_of_others(
    queue: Queue, url: str, eventually: Eventually, caplog: pytest.LogCaptureFixture
) -> None:
    registry, gate = Registry(), asyncio.Event()
    started: list[str] = []

    @registry.task("odd")
    async def odd(ctx: TaskContext) -> None:
        started.append("odd")
        # As a fault of ours would: the context itself refuses it.
        ctx._news = Progress(2**70)
        ctx._tell_news()
        await gate.wait()

    @registry.task("good")
    async def good() -> str:
        started.append("good")
        await gate.wait()
        return "kept"

    tasks = [await queue.enqueue("odd"), await queue.enqueue("good")]
    with caplog.at_level(logging.WARNING, "kurabito.runtime"):
        async with Worker(queue, registry, lease=30.0, heartbeat=0.2):
            await eventually(lambda: len(started) == 2)
            if url != "memory://":
                await eventually(lambda: "progress_not_storable" in caplog.text)
            gate.set()
            assert await all_done(queue, tasks)
    assert "heartbeat_failed" not in caplog.text


async def test_a_plain_function_over_its_limit_gives_its_slot_back_and_its_late_result_is_dropped(
    queue: Queue, eventually: Eventually
) -> None:
    registry = registry_of_short_tasks()
    gate, late = threading.Event(), threading.Event()

    @registry.task("deaf", time_limit=0.1, max_attempts=1)
    def deaf(ctx: TaskContext) -> str:
        gate.wait(PATIENCE)
        _ = ctx.enqueue("short")
        _ = ctx.report(7, 7)
        late.set()
        return "too late"

    task = await queue.enqueue("deaf")
    worker = Worker(queue, registry, concurrency=1, lease=30.0, heartbeat=0.2)
    async with worker:
        done = await queue.wait(task.id, timeout=PATIENCE)
        assert done.last_error == "TimeoutError: ran longer than its time limit of 0.1 s"
        assert worker.abandoned == 1
        # The only slot is free again, although the function is still at work.
        assert await all_done(queue, [await queue.enqueue("short")])
        gate.set()
        await asyncio.to_thread(late.wait, PATIENCE)
        await eventually(lambda: worker.abandoned == 0)
    after = await queue.get(task.id)
    assert (after.state, after.result, after.progress) == (TaskState.DEAD, None, None)
    assert len(await queue.list(task_type="short")) == 1


@pytest.mark.parametrize("threaded", [True, False])
async def test_too_many_handlers_that_cannot_be_stopped_end_the_worker(
    queue: Queue, threaded: bool, eventually: Eventually
) -> None:
    registry, gate = Registry(), threading.Event()

    def deaf() -> None:
        gate.wait(PATIENCE)

    async def deaf_async() -> None:
        while not gate.is_set():
            try:
                # The gate is a thread's, so it is looked at.
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    registry.task("deaf", time_limit=0.05, max_attempts=1)(deaf if threaded else deaf_async)
    await queue.enqueue_many([("deaf",)] * 10)
    worker = Worker(queue, registry, concurrency=2, lease=30.0, heartbeat=0.5, grace=0.0)
    try:
        with pytest.raises(WorkerFailed, match="3 handlers are over their time limit and cannot be stopped"):
            async with asyncio.timeout(PATIENCE):
                await worker.run()
    finally:
        gate.set()
    await eventually(lambda: not worker._heartbeat._thread.is_alive())


async def test_a_worker_that_is_cancelled_again_and_again_beats_no_more(queue: Queue, eventually: Eventually) -> None:
    registry, gate, started = Registry(), threading.Event(), asyncio.Event()

    @registry.task("deaf", max_attempts=1)
    async def deaf() -> None:
        started.set()
        while not gate.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)

    await queue.enqueue("deaf")
    worker = Worker(queue, registry, concurrency=1, lease=30.0, heartbeat=0.5, grace=0.0)
    running = asyncio.create_task(worker.run())
    await asyncio.wait_for(started.wait(), PATIENCE)
    try:
        while not running.done():
            running.cancel()
            await asyncio.sleep(0)
    finally:
        gate.set()
    await eventually(lambda: not worker._heartbeat._thread.is_alive())


async def test_a_worker_whose_event_loop_stands_still_does_not_say_that_it_lives(queue: Queue) -> None:
    registry, clock, told = Registry(), ManualClock(), threading.Event()
    beats_on: list[bool] = []

    @registry.task("selfish", time_limit=60.0, max_attempts=1)
    async def selfish() -> None:
        # Past its time, what is left for it to heed that, and what an event loop that moves would need.
        clock.advance(60.0 + 1.0 + 10.1)
        assert told.wait(PATIENCE)
        worker._heartbeat._thread.join(PATIENCE)
        beats_on.append(worker._heartbeat._thread.is_alive())

    worker = Worker(queue, registry, lease=600.0, heartbeat=5.0, clock=clock)
    worker.on_standstill = lambda _why: told.set()
    await queue.enqueue("selfish")
    with pytest.raises(WorkerFailed, match="holds the event loop, and its time limit is over"):
        async with asyncio.timeout(PATIENCE):
            await worker.run()
    assert beats_on == [False], "nothing may be renewed then"


@contextmanager
def read_only(url: str) -> Iterator[None]:
    """Have the database refuse every write, as one that is being failed over does."""
    name = urlsplit(url).path[1:]
    with psycopg.connect(url, autocommit=True, options="-c default_transaction_read_only=off") as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        cut(url)
        try:
            yield
        finally:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
            cut(url)


def idle_limit(url: str, limit: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        name = urlsplit(url).path[1:]
        connection.execute(f"ALTER DATABASE \"{name}\" SET idle_in_transaction_session_timeout = '{limit}'")


def cut(url: str) -> None:
    """End our own connections to this database: the next ones have its new settings."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name LIKE 'kurabito%' AND pid <> pg_backend_pid()"
        )


def burn(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


async def enqueue_patiently(queue: Queue) -> Any:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await queue.enqueue("short")
            except DatabaseUnavailable:
                # A real server comes back when it does.
                await asyncio.sleep(0.05)
