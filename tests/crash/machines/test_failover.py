"""PostgreSQL goes, comes back, stands by, or is another: work goes on as soon as some server takes writes."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from kurabito.errors import DatabaseUnavailable
from kurabito.runtime import Queue, Registry, TaskState, Worker, open_queue

if TYPE_CHECKING:
    from tests.crash.machines.conftest import Cluster, MakeCluster

ROUNDS = 8
PATIENCE = 90.0


class Pair:
    """A server that takes writes, and one that stands by with everything that was committed."""

    def __init__(self, make: MakeCluster) -> None:
        self.writable, self.standby = make(), make()
        self.writable.create(listen="")
        self.writable.start()
        self.add_standby()

    @property
    def url(self) -> str:
        """Both, in whatever order."""
        hosts = sorted(str(cluster.folder) for cluster in (self.writable, self.standby))
        return f"postgresql://postgres@/postgres?host={','.join(hosts)}&port=5432,5432"

    def fail_over(self) -> None:
        """The one that takes writes is gone from one moment to the next, and the other is promoted."""
        self.writable.stop("immediate")
        self.standby.promote()
        self.writable, self.standby = self.standby, self.writable

    def add_standby(self) -> None:
        self.standby.copy_of(self.writable)
        # Only the one that takes writes waits for another, so that nothing that was accepted is lost with it.
        self.standby.configure(synchronous_standby_names="''")
        self.standby.start()
        self.writable.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.writable.ask("SELECT pg_reload_conf()")


@pytest.fixture
def pair(make_cluster: MakeCluster) -> Pair:
    return Pair(make_cluster)


@pytest.fixture(scope="module")
def single(make_cluster: MakeCluster) -> Cluster:
    cluster = make_cluster()
    cluster.create(listen="")
    cluster.start()
    return cluster


def registry() -> Registry:
    registry = Registry()

    @registry.task
    async def work(number: int) -> int:
        await asyncio.sleep(0.01)
        return number

    return registry


class Asking:
    """A program that keeps asking for tasks, and asks again when that was refused."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self.asked: dict[UUID, int] = {}
        self.refused = 0
        self.enough = False

    async def run(self) -> None:
        number = 0
        while not self.enough:
            try:
                # Under a key: a commit whose answer was lost with its server may have been one.
                task = await self._queue.enqueue("work", number, unique_key=f"n{number}", delay=1.0)
                self.asked[task.id] = number
                number += 1
            except DatabaseUnavailable:
                self.refused += 1
            await asyncio.sleep(0.005)


@asynccontextmanager
async def at_work(url: str) -> AsyncIterator[tuple[Queue, Asking]]:
    async with (
        open_queue(url) as queue,
        open_queue(url) as other,
        Worker(queue, registry(), lease=3.0, heartbeat=0.5),
        Worker(other, registry(), lease=3.0, heartbeat=0.5),
    ):
        asking = Asking(queue)
        task = asyncio.create_task(asking.run())
        try:
            await until_done_after(queue, asking)
            yield queue, asking
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def until_done_after(queue: Queue, asking: Asking) -> float:
    """Wait for a task that was asked for from now on; how many seconds it took."""
    began, before = time.monotonic(), len(asking.asked)
    async with asyncio.timeout(PATIENCE):
        while len(asking.asked) == before:
            await asyncio.sleep(0.01)
    await queue.wait(list(asking.asked)[-1], timeout=PATIENCE)
    return time.monotonic() - began


async def check_all_done(queue: Queue, asking: Asking) -> None:
    asking.enough = True
    for task_id, number in list(asking.asked.items()):
        done = await queue.wait(task_id, timeout=PATIENCE)
        assert (done.state, done.result) == (TaskState.SUCCEEDED, number)


async def test_work_goes_on_at_the_standby_that_was_promoted(pair: Pair) -> None:
    async with at_work(pair.url) as (queue, asking):
        await asyncio.to_thread(pair.fail_over)
        await until_done_after(queue, asking)
        await check_all_done(queue, asking)


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_work_goes_on_however_often_another_is_promoted(pair: Pair, capsys: pytest.CaptureFixture[str]) -> None:
    took = []
    async with at_work(pair.url) as (queue, asking):
        for _ in range(ROUNDS):
            await asyncio.to_thread(pair.fail_over)
            took.append(await until_done_after(queue, asking))
            await asyncio.to_thread(pair.add_standby)
            await until_done_after(queue, asking)
        await check_all_done(queue, asking)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{ROUNDS} failovers, {len(asking.asked)} tasks accepted and done, {asking.refused} refused; "
            f"{min(took):.1f} to {max(took):.1f} s from the promotion to the next task's end\n"
        )


async def test_work_goes_on_when_a_read_only_server_takes_writes_again(single: Cluster) -> None:
    async with at_work(single.socket) as (queue, asking):
        single.ask("ALTER SYSTEM SET default_transaction_read_only = on")
        single.ask("SELECT pg_reload_conf()")
        async with asyncio.timeout(PATIENCE):
            while not asking.refused:
                await asyncio.sleep(0.01)
        assert (await queue.counts_by_state())[TaskState.SUCCEEDED], "reading goes on"
        # The workers of a real server are refused for longer than their lease.
        await asyncio.sleep(3.0)
        single.ask("ALTER SYSTEM RESET default_transaction_read_only")
        single.ask("SELECT pg_reload_conf()")
        await until_done_after(queue, asking)
        await check_all_done(queue, asking)


async def test_work_goes_on_after_a_restart_of_the_server(single: Cluster) -> None:
    async with at_work(single.socket) as (queue, asking):
        await asyncio.to_thread(single.stop, "fast")
        # Longer than a connection is waited for.
        async with asyncio.timeout(PATIENCE):
            while not asking.refused:
                await asyncio.sleep(0.05)
        await asyncio.to_thread(single.start)
        await until_done_after(queue, asking)
        await check_all_done(queue, asking)


async def test_a_standby_is_read_refuses_writes_and_works_once_it_is_promoted(pair: Pair) -> None:
    async with open_queue(pair.writable.socket) as queue:
        task = await queue.enqueue("work", 1)
    standby = pair.standby
    async with open_queue(standby.socket) as queue:
        assert (await queue.get(task.id)).state is TaskState.QUEUED
        with pytest.raises(DatabaseUnavailable, match="takes no writes"):
            await queue.enqueue("work", 2)
        await asyncio.to_thread(pair.fail_over)
        async with Worker(queue, registry()):
            assert (await queue.wait(task.id, timeout=PATIENCE)).result == 1
