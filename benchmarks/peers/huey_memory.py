"""huey in memory: MemoryHuey and its consumer with one worker thread."""

# mypy: disable-error-code="import-untyped, untyped-decorator"

from __future__ import annotations

import time

from huey import MemoryHuey
from huey.consumer import Consumer

from processes import Arrivals, BenchmarkBroken, Runs

WORKERS = 1
POLL_SECONDS = 0.005


def _consumer(huey: MemoryHuey) -> Consumer:
    return huey.create_consumer(
        workers=WORKERS, periodic=False, initial_delay=POLL_SECONDS, max_delay=POLL_SECONDS, backoff=1.0
    )


def drain(tasks: int) -> float:
    """Enqueue, start the consumer, and give the seconds until everything ran."""
    huey, runs = MemoryHuey(), Runs(tasks)

    @huey.task()
    def noop(index: int) -> None:
        runs.mark(index)

    for index in range(tasks):
        noop(index)
    consumer = _consumer(huey)
    began = time.perf_counter()
    consumer.start()
    while runs.missing():
        time.sleep(0.001)
    seconds = time.perf_counter() - began
    consumer.stop(graceful=True)
    runs.verify()
    if huey.pending_count():
        raise BenchmarkBroken("tasks are left in the queue")
    return seconds


def latency(samples: int) -> list[float]:
    """Enqueue from the main thread, one at a time, and give the milliseconds each task waited."""
    huey, arrivals = MemoryHuey(), Arrivals(samples)

    @huey.task()
    def noop(index: int) -> None:
        arrivals.mark(index)

    consumer = _consumer(huey)
    consumer.start()
    for index in arrivals:
        noop(index)
    time.sleep(0.1)
    consumer.stop(graceful=True)
    return arrivals.milliseconds()
