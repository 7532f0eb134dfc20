"""Draining: all tasks are enqueued first; the clock runs from the signal to connected workers until all are settled.

Settled is read from the tables through a connection of our own, for every side alike, and each handler marks its index,
so a task that was lost, ran twice or was only counted fails the benchmark.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import psycopg

import postgres
from contenders import Contender
from processes import BenchmarkBroken, Child, Gate, Runs, in_fresh_process


def measure(
    contender: Contender, url: str, tasks: int, workers: int, prepare: Callable[[str], None]
) -> Mapping[str, float]:
    """Drain `tasks` no-op tasks with `workers` processes: tasks per second, and the processor time each task took.

    The latter counts the workers and, where we can see it, the database server. It says more than the former when
    something else keeps the machine busy.
    """
    in_fresh_process(contender.module, "enqueue", url, tasks)
    prepare(url)
    runs, gate = Runs(tasks), Gate()
    with ExitStack() as stack:
        count_settled = stack.enter_context(_settled(contender, url, tasks))
        children = [stack.enter_context(Child(contender.module, "drain", url, runs, gate)) for _ in range(workers)]
        gate.wait_until_ready(children)
        busy = _cpu_seconds(children, url)
        began = gate.open()
        _wait_until_none(runs.missing, "not run", children)
        _wait_until_none(lambda: tasks - count_settled(), "not settled", children)
        seconds = time.perf_counter() - began
        busy = _cpu_seconds(children, url) - busy
        gate.close()
        for child in children:
            child.result()
        runs.verify()
        if (settled := count_settled()) != tasks:
            raise BenchmarkBroken(f"{contender.name} settled {settled} of {tasks} tasks")
    return {"tasks/s": tasks / seconds, "µs of CPU/task": 1e6 * busy / tasks}


def _cpu_seconds(children: list[Child], url: str) -> float:
    server = postgres.cpu_seconds(url) if url.startswith("postgresql://") else 0.0
    return server + sum(child.cpu_seconds() for child in children)


def _wait_until_none(left: Callable[[], int], what: str, children: list[Child], seconds: float = 240.0) -> None:
    deadline = time.monotonic() + seconds
    while (count := left()) > 0:
        for child in children:
            child.check()
        if time.monotonic() > deadline:
            raise BenchmarkBroken(f"{count:,} tasks are {what} after {seconds:.0f} s")
        time.sleep(0.001)


@contextmanager
def _settled(contender: Contender, url: str, tasks: int) -> Iterator[Callable[[], int]]:
    statement = contender.settled.format(tasks=tasks)
    connection: sqlite3.Connection | psycopg.Connection
    if url.startswith("postgresql://"):
        connection = psycopg.connect(url, autocommit=True)
    else:
        connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)

    def count() -> int:
        row = connection.execute(statement).fetchone()
        assert row is not None
        return int(row[0])

    try:
        yield count
    finally:
        connection.close()
