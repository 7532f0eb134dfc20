"""Kurabito's side in memory: enqueuer and worker share a process, as they must."""

from __future__ import annotations

import asyncio
import time

from kurabito.runtime import TaskState, Worker, open_queue
from ours import CONCURRENCY, registry_for
from processes import Arrivals, BenchmarkBroken, Runs


def drain(tasks: int) -> float:
    """Enqueue, start the worker, and give the seconds until everything ran and was settled."""
    return asyncio.run(_drain(tasks))


async def _drain(tasks: int) -> float:
    runs = Runs(tasks)
    async with open_queue("memory://") as queue:
        await queue.enqueue_many([("noop", index) for index in range(tasks)])
        began = time.perf_counter()
        async with Worker(queue, registry_for(runs), concurrency=CONCURRENCY):
            while runs.missing() or (await queue.counts_by_state())[TaskState.SUCCEEDED] < tasks:
                await asyncio.sleep(0.001)
            seconds = time.perf_counter() - began
        runs.verify()
        if (settled := (await queue.counts_by_state())[TaskState.SUCCEEDED]) != tasks:
            raise BenchmarkBroken(f"settled {settled} of {tasks} tasks")
    return seconds


def latency(samples: int) -> list[float]:
    """Enqueue on the worker's own loop, one at a time, and give the milliseconds each task waited."""
    return asyncio.run(_latency(samples))


async def _latency(samples: int) -> list[float]:
    arrivals = Arrivals(samples)
    async with open_queue("memory://") as queue, Worker(queue, registry_for(arrivals), concurrency=CONCURRENCY):
        async for index in arrivals:
            await queue.enqueue("noop", index)
        await asyncio.sleep(0.2)
    return arrivals.milliseconds()
