"""A worker is woken by what other processes ask for."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from kurabito.runtime import Queue, Registry, TaskContext, Worker

ENQUEUE = """
import asyncio, sys
from kurabito.runtime import open_queue

async def main():
    async with open_queue(sys.argv[1]) as queue:
        await queue.enqueue("greet", delay=float(sys.argv[2]))

asyncio.run(main())
"""


@pytest.mark.parametrize("delay", [0.0, 0.3])
@pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)
async def test_a_task_of_another_process_starts_without_waiting_for_a_heartbeat(
    queue: Queue, url: str, delay: float
) -> None:
    registry, started = Registry(), asyncio.Event()

    @registry.task
    async def greet(_ctx: TaskContext) -> None:
        started.set()

    async with Worker(queue, registry, lease=120.0, heartbeat=60.0):
        # Idle: it has looked once, found nothing, and sleeps.
        await asyncio.sleep(0.1)
        command = [sys.executable, "-c", ENQUEUE, url, str(delay)]
        await asyncio.to_thread(subprocess.run, command, check=True, timeout=60)
        await asyncio.wait_for(started.wait(), 10)
