"""The floors: what the stores give when nothing is around them, so that the runtime's own cost can be seen.

The tables are the runtime's own, filled and drained by plain statements: each transaction finishes the last hundred tasks
and claims the next hundred. In memory it is a heap and a hundred coroutines. A worker that claims ahead has larger batches, so
on PostgreSQL it can be above this "floor".
"""

from __future__ import annotations

import asyncio
import heapq
import sqlite3
import tempfile
import time
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Final

import psycopg

import postgres
from harness import Options, Outcome, Row, Side, interleave, run_alone
from processes import BenchmarkBroken, Child, Gate, Runs

BATCH: Final = 100

_SQLITE_CLAIM: Final = """
    UPDATE tasks SET state = 'running', worker_id = :owner, worker_heartbeat_at = :now, lease_expires_at = :now + 30000000,
                     updated_at = :now, attempts = attempts + 1, started_at = :now
    WHERE seq IN (SELECT seq FROM tasks INDEXED BY ix_tasks_ready WHERE state = 'queued' AND task_type = 'noop'
                  ORDER BY priority DESC, seq LIMIT :limit)
    RETURNING seq, payload
"""
_SQLITE_FINISH: Final = """
    UPDATE tasks SET state = 'succeeded', finished_at = ?, updated_at = ?, worker_heartbeat_at = ?, lease_expires_at = NULL
    WHERE seq = ? AND state = 'running' AND worker_id = ?
"""
_SQLITE_INSERT: Final = """
    INSERT INTO tasks (id, task_type, state, content_type, payload, created_at, updated_at)
    VALUES (?, 'noop', 'queued', 'application/json', ?, ?, ?)
"""
_POSTGRES_CLAIM: Final = """
    WITH picked AS MATERIALIZED (
        SELECT seq FROM tasks WHERE state = 'queued' AND task_type = 'noop'
        ORDER BY priority DESC, seq LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    )
    UPDATE tasks AS t SET state = 'running', worker_id = %(owner)s, worker_heartbeat_at = %(now)s,
                          lease_expires_at = %(now)s + 30000000, updated_at = %(now)s, attempts = attempts + 1,
                          started_at = %(now)s
    FROM picked WHERE t.seq = picked.seq RETURNING t.seq, t.payload
"""
_POSTGRES_FINISH: Final = """
    WITH locked AS MATERIALIZED (
        SELECT seq FROM tasks WHERE seq = ANY(%(keys)s) AND state = 'running' AND worker_id = %(owner)s
        ORDER BY seq FOR UPDATE
    )
    UPDATE tasks AS t SET state = 'succeeded', finished_at = %(now)s, updated_at = %(now)s, worker_heartbeat_at = %(now)s,
                          lease_expires_at = NULL
    FROM locked WHERE t.seq = locked.seq
"""
_POSTGRES_INSERT: Final = """
    INSERT INTO tasks (id, task_type, state, content_type, payload, created_at, updated_at)
    SELECT gen_random_uuid(), 'noop', 'queued', 'application/json', number::text::bytea, %(now)s, %(now)s
    FROM generate_series(0, %(tasks)s - 1) AS number
"""
_SETTLED: Final = "SELECT count(*) FROM tasks WHERE state = 'succeeded'"


def tables(dialect: str) -> str:
    """The statements that create the runtime's tables."""
    folder = files("kurabito.db").joinpath("migrations", dialect, "runtime")
    return folder.joinpath("0001_tasks.sql").read_text(encoding="utf-8")


def sqlite_claim_and_finish(tasks: int) -> float:
    """Tasks per second of one thread with bare statements, synchronous=FULL."""
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as folder:
        connection = sqlite3.connect(Path(folder) / "floor.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(tables("sqlite"))
        now = time.time_ns() // 1000
        connection.execute("BEGIN")
        connection.executemany(_SQLITE_INSERT, ((b"%016d" % index, b"%d" % index, now, now) for index in range(tasks)))
        connection.execute("COMMIT")
        runs, owner = Runs(tasks), "floor#1"
        claimed: list[tuple[int, bytes]] = []
        began = time.perf_counter()
        while True:
            now = time.time_ns() // 1000
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_SQLITE_FINISH, [(now, now, now, key, owner) for key, _ in claimed])
            claimed = connection.execute(_SQLITE_CLAIM, {"owner": owner, "now": now, "limit": BATCH}).fetchall()
            connection.execute("COMMIT")
            if not claimed:
                break
            for _, payload in claimed:
                runs.mark(int(payload))
        seconds = time.perf_counter() - began
        settled = connection.execute(_SETTLED).fetchone()[0]
        connection.close()
    return _verified(runs, settled, tasks) / seconds


def postgres_claim_and_finish(server_url: str, tasks: int, workers: int) -> float:
    """Tasks per second of processes with bare statements."""
    with postgres.fresh_database(server_url) as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(tables("postgres"))
        connection.execute(_POSTGRES_INSERT, {"now": time.time_ns() // 1000, "tasks": tasks})
        postgres.settle_down(url)
        runs, gate = Runs(tasks), Gate()
        with ExitStack() as stack:
            children = [
                stack.enter_context(Child("floors", "drain_postgres", url, runs, gate, f"floor#{number}"))
                for number in range(workers)
            ]
            gate.wait_until_ready(children)
            began = gate.open()
            ended: list[float] = [child.result() for child in children]
            seconds = max(ended) - began
        row = connection.execute(_SETTLED).fetchone()
        assert row is not None
        return _verified(runs, row[0], tasks) / seconds


def drain_postgres(url: str, runs: Runs, gate: Gate, owner: str) -> float:
    """One process: claim and finish until nothing is left; gives the moment it was done."""
    with psycopg.connect(url) as connection:
        claimed: list[tuple[int, bytes]] = []
        gate.pass_when_open()
        while True:
            now = time.time_ns() // 1000
            if claimed:
                keys = [key for key, _ in claimed]
                connection.execute(_POSTGRES_FINISH, {"keys": keys, "owner": owner, "now": now})
            claimed = connection.execute(_POSTGRES_CLAIM, {"owner": owner, "now": now, "limit": BATCH}).fetchall()
            connection.commit()
            if not claimed:
                return time.perf_counter()
            for _, payload in claimed:
                runs.mark(int(payload))


def memory_heap(tasks: int) -> float:
    """Tasks per second of a hundred coroutines that take from a heap."""
    return asyncio.run(_memory_heap(tasks))


async def _memory_heap(tasks: int) -> float:
    runs = Runs(tasks)
    heap = [(0, index) for index in range(tasks)]
    heapq.heapify(heap)

    async def noop(index: int) -> None:
        runs.mark(index)

    async def work() -> None:
        while heap:
            _, index = heapq.heappop(heap)
            await noop(index)
            await asyncio.sleep(0)  # a real handler gives up the loop at least once

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(BATCH)))
    seconds = time.perf_counter() - began
    runs.verify()
    return tasks / seconds


def _verified(runs: Runs, settled: int, tasks: int) -> int:
    runs.verify()
    if settled != tasks:
        raise BenchmarkBroken(f"{settled} of {tasks} tasks are settled")
    return tasks


def run(options: Options) -> Outcome:
    """Measure all three."""
    few, many = options.size(10_000, quick=500), options.size(100_000, quick=1_000)
    with postgres.server() as server_url:
        sides = [
            Side("SQLite", "", lambda: {"tasks/s": sqlite_claim_and_finish(few)}),
            Side("PostgreSQL", "", lambda: {"tasks/s": postgres_claim_and_finish(server_url, many, 2)}),
            Side("memory", "", lambda: {"tasks/s": memory_heap(many)}),
        ]
        measured = interleave(sides, options)
    sizes = {"SQLite": f"{few:,}, 1 process", "PostgreSQL": f"{many:,}, 2 processes", "memory": f"{many:,}"}
    rows = [
        Row(f"floor: {name}, drain {sizes[name]}", "-", f"{result.median('tasks/s'):,.0f}/s", "-", "-", None)
        for result in measured
        for name in [result.side.name]
    ]
    return Outcome(
        rows, ["Floors: bare statements on the runtime's own tables, finish 100 and claim 100 per transaction."]
    )


if __name__ == "__main__":
    run_alone("floors", run)
