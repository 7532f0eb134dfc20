"""pgqueuer's in-memory adapter: uvloop and batches of 100, as on PostgreSQL."""

from __future__ import annotations

import asyncio
import time

import uvloop
from pgqueuer import PgQueuer
from pgqueuer.models import Job

from processes import Arrivals, BenchmarkBroken, Runs

BATCH = 100


def _register(pgq: PgQueuer, marks: Runs | Arrivals) -> None:
    @pgq.entrypoint("noop")
    async def noop(job: Job) -> None:
        assert job.payload is not None
        marks.mark(int(job.payload))


def drain(tasks: int) -> float:
    """Enqueue, start the worker, and give the seconds until everything ran and its status was logged."""
    return uvloop.run(_drain(tasks))


async def _drain(tasks: int) -> float:
    pgq, runs = PgQueuer.in_memory(), Runs(tasks)
    _register(pgq, runs)
    queries = pgq.qm.queries
    payloads: list[bytes | None] = [b"%d" % index for index in range(tasks)]
    await queries.enqueue(["noop"] * tasks, payloads, [0] * tasks)
    began = time.perf_counter()
    running = asyncio.create_task(pgq.run(batch_size=BATCH))
    while runs.missing() or await queries.queue_size():
        if running.done():
            await running
        await asyncio.sleep(0.001)
    seconds = time.perf_counter() - began
    pgq.shutdown.set()
    await running
    runs.verify()
    logged = sum(line.count for line in await queries.log_statistics(None) if line.status == "successful")
    if logged != tasks:
        raise BenchmarkBroken(f"pgqueuer logged {logged} of {tasks} tasks as successful")
    return seconds


def latency(samples: int) -> list[float]:
    """Enqueue on the worker's own loop, one at a time, and give the milliseconds each task waited."""
    return uvloop.run(_latency(samples))


async def _latency(samples: int) -> list[float]:
    pgq, arrivals = PgQueuer.in_memory(), Arrivals(samples)
    _register(pgq, arrivals)
    running = asyncio.create_task(pgq.run(batch_size=BATCH))
    async for index in arrivals:
        await pgq.qm.queries.enqueue("noop", b"%d" % index)
    await asyncio.sleep(0.2)
    pgq.shutdown.set()
    await running
    return arrivals.milliseconds()
