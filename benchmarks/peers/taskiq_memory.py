"""taskiq's InMemoryBroker on uvloop, as in its own command, without casting arguments.

It has no queue: a task that is sent becomes an asyncio task at once. It is drained from the moment the loop may run them.
"""

from __future__ import annotations

import asyncio
import time

import uvloop
from taskiq import InMemoryBroker

from processes import Arrivals, BenchmarkBroken, Runs


def drain(tasks: int) -> float:
    """Send everything, then give the seconds until everything ran and its result was saved."""
    return uvloop.run(_drain(tasks))


async def _drain(tasks: int) -> float:
    broker, runs = InMemoryBroker(cast_types=False), Runs(tasks)

    @broker.task
    async def noop(index: int) -> None:
        runs.mark(index)

    await broker.startup()
    for index in range(tasks):
        await noop.kiq(index)
    # Sending never gives up the loop, so nothing has run yet; if it had, the clock would start too late.
    if runs.missing() != tasks:
        raise BenchmarkBroken("taskiq ran tasks before the clock was started")
    began = time.perf_counter()
    await broker.wait_all()
    seconds = time.perf_counter() - began
    await broker.shutdown()
    runs.verify()
    return seconds


def latency(samples: int) -> list[float]:
    """Send on the same loop, one at a time, and give the milliseconds each task waited."""
    return uvloop.run(_latency(samples))


async def _latency(samples: int) -> list[float]:
    broker, arrivals = InMemoryBroker(cast_types=False), Arrivals(samples)

    @broker.task
    async def noop(index: int) -> None:
        arrivals.mark(index)

    await broker.startup()
    async for index in arrivals:
        await noop.kiq(index)
    await asyncio.sleep(0.1)
    await broker.shutdown()
    return arrivals.milliseconds()
