"""pgqueuer on PostgreSQL: asyncpg and uvloop as in its own command, batches of 100, `pgq autovac` applied."""

# mypy: disable-error-code="import-untyped, untyped-decorator"

from __future__ import annotations

import asyncio
import time

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

from processes import Arrivals, Gate, Runs

BATCH = 100


def enqueue(url: str, tasks: int) -> float:
    """Create the tables, enqueue all tasks in one call and give the seconds of that call."""
    return uvloop.run(_enqueue(url, tasks))


async def _enqueue(url: str, tasks: int) -> float:
    connection = await asyncpg.connect(url)
    queries = Queries(AsyncpgDriver(connection))
    await queries.install()
    await queries.optimize_autovacuum()
    payloads: list[bytes | None] = [b"%d" % index for index in range(tasks)]
    began = time.perf_counter()
    await queries.enqueue(["noop"] * tasks, payloads, [0] * tasks)
    seconds = time.perf_counter() - began
    await connection.close()
    return seconds


def drain(url: str, runs: Runs, gate: Gate) -> None:
    """Work in its drain mode, which writes what it still buffers as soon as the queue is empty."""
    uvloop.run(_work(url, runs, gate, QueueExecutionMode.drain))


def serve(url: str, arrivals: Arrivals, gate: Gate) -> None:
    """Work until told to stop."""
    uvloop.run(_work(url, arrivals, gate, QueueExecutionMode.continuous))


async def _work(url: str, marks: Runs | Arrivals, gate: Gate, mode: QueueExecutionMode) -> None:
    connection = await asyncpg.connect(url)
    pgq = PgQueuer(AsyncpgDriver(connection))

    @pgq.entrypoint("noop")
    async def noop(job: Job) -> None:
        assert job.payload is not None
        marks.mark(int(job.payload))

    await asyncio.to_thread(gate.pass_when_open)
    running = asyncio.create_task(pgq.run(batch_size=BATCH, mode=mode))
    closing = asyncio.create_task(asyncio.to_thread(gate.wait_for_close))
    await asyncio.wait({running, closing}, return_when=asyncio.FIRST_COMPLETED)
    if mode is QueueExecutionMode.continuous:
        pgq.shutdown.set()
    await running
    await closing
    await connection.close()


def send(url: str, arrivals: Arrivals) -> None:
    """Enqueue one task at a time."""
    uvloop.run(_send(url, arrivals))


async def _send(url: str, arrivals: Arrivals) -> None:
    connection = await asyncpg.connect(url)
    queries = Queries(AsyncpgDriver(connection))
    async for index in arrivals:
        await queries.enqueue("noop", b"%d" % index)
    await connection.close()
