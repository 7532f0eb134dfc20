"""procrastinate on PostgreSQL: async tasks, concurrency 100, a pool that can serve them."""

from __future__ import annotations

import asyncio
import logging
import time

from procrastinate import App, PsycopgConnector
from procrastinate.types import JSONDict

from processes import Arrivals, Gate, Runs

CONCURRENCY = 100
POOL = 20
BATCH = 1_000


def _app(url: str) -> App:
    logging.getLogger("procrastinate").setLevel(logging.WARNING)
    return App(connector=PsycopgConnector(conninfo=url, min_size=POOL, max_size=POOL))


def enqueue(url: str, tasks: int) -> float:
    """Create the tables, defer all tasks in batches and give the seconds of the latter."""
    return asyncio.run(_enqueue(url, tasks))


async def _enqueue(url: str, tasks: int) -> float:
    app = _app(url)

    @app.task(name="noop")
    async def noop(index: int) -> None: ...

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        began = time.perf_counter()
        for start in range(0, tasks, BATCH):
            batch: list[JSONDict] = [{"index": index} for index in range(start, min(start + BATCH, tasks))]
            await noop.batch_defer_async(*batch)
        return time.perf_counter() - began


def serve(url: str, marks: Runs | Arrivals, gate: Gate) -> None:
    """Work until told to stop."""
    asyncio.run(_work(url, marks, gate))


drain = serve


async def _work(url: str, marks: Runs | Arrivals, gate: Gate) -> None:
    app = _app(url)

    @app.task(name="noop")
    async def noop(index: int) -> None:
        marks.mark(index)

    async with app.open_async():
        await asyncio.to_thread(gate.pass_when_open)
        running = asyncio.create_task(app.run_worker_async(concurrency=CONCURRENCY, install_signal_handlers=False))
        closing = asyncio.create_task(asyncio.to_thread(gate.wait_for_close))
        done, _ = await asyncio.wait({running, closing}, return_when=asyncio.FIRST_COMPLETED)
        if running in done:
            await running
        running.cancel()
        await asyncio.wait({running})


def send(url: str, arrivals: Arrivals) -> None:
    """Defer one task at a time."""
    asyncio.run(_send(url, arrivals))


async def _send(url: str, arrivals: Arrivals) -> None:
    app = _app(url)

    @app.task(name="noop")
    async def noop(index: int) -> None: ...

    async with app.open_async():
        async for index in arrivals:
            await noop.defer_async(index=index)
