"""huey on SQLite: its default durability (WAL, synchronous FULL) and its consumer with worker threads."""

# mypy: disable-error-code="import-untyped, untyped-decorator"

from __future__ import annotations

import time

from huey import SqliteHuey
from huey.consumer import Consumer

from processes import Arrivals, Gate, Runs

WORKERS = 1
# Its own default looks every 0.1 s and, backing off, ever more rarely. The documented option makes it look at once.
POLL_SECONDS = 0.005


def _open(url: str) -> SqliteHuey:
    return SqliteHuey(filename=url.removeprefix("sqlite:///"))


def enqueue(url: str, tasks: int) -> float:
    """Create the tables, enqueue the tasks one by one (there is no bulk call) and give the seconds of the latter."""
    huey = _open(url)

    @huey.task()
    def noop(index: int) -> None: ...

    began = time.perf_counter()
    for index in range(tasks):
        noop(index)
    return time.perf_counter() - began


def serve(url: str, marks: Runs | Arrivals, gate: Gate) -> None:
    """Work until told to stop."""
    huey = _open(url)

    @huey.task()
    def noop(index: int) -> None:
        marks.mark(index)

    consumer: Consumer = huey.create_consumer(
        workers=WORKERS, periodic=False, initial_delay=POLL_SECONDS, max_delay=POLL_SECONDS, backoff=1.0
    )
    gate.pass_when_open()
    consumer.start()
    gate.wait_for_close()
    consumer.stop(graceful=True)


drain = serve


def send(url: str, arrivals: Arrivals) -> None:
    """Enqueue one task at a time."""
    huey = _open(url)

    @huey.task()
    def noop(index: int) -> None: ...

    for index in arrivals:
        noop(index)
