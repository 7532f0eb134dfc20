"""Kurabito's side: the public API as a program would use it, on the standard event loop."""

from __future__ import annotations

import asyncio
import time

from kurabito.runtime import Registry, TaskContext, Worker, open_queue
from processes import Arrivals, Gate, Runs

CONCURRENCY = 100


def registry_for(marks: Runs | Arrivals) -> Registry:
    """A registry whose one handler does nothing but leave its mark."""
    registry = Registry()

    @registry.task("noop")
    async def noop(index: int, ctx: TaskContext) -> None:
        marks.mark(index)

    return registry


def enqueue(url: str, tasks: int) -> float:
    """Create the tables, enqueue all tasks in one call and give the seconds of that call."""
    return asyncio.run(_enqueue(url, tasks))


async def _enqueue(url: str, tasks: int) -> float:
    async with open_queue(url) as queue:
        new = [("noop", index) for index in range(tasks)]
        began = time.perf_counter()
        await queue.enqueue_many(new)
        return time.perf_counter() - began


def serve(url: str, marks: Runs | Arrivals, gate: Gate) -> None:
    """Work until told to stop."""
    asyncio.run(_work(url, marks, gate))


drain = serve


async def _work(url: str, marks: Runs | Arrivals, gate: Gate) -> None:
    async with open_queue(url) as queue:
        await asyncio.to_thread(gate.pass_when_open)
        async with Worker(queue, registry_for(marks), concurrency=CONCURRENCY):
            await asyncio.to_thread(gate.wait_for_close)


def send(url: str, arrivals: Arrivals) -> None:
    """Enqueue one task at a time."""
    asyncio.run(_send(url, arrivals))


async def _send(url: str, arrivals: Arrivals) -> None:
    async with open_queue(url) as queue:
        async for index in arrivals:
            await queue.enqueue("noop", index)
