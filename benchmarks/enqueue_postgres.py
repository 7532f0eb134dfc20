"""PostgreSQL: enqueue many tasks in one call, the way each tool offers for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import psycopg

import contenders
import postgres
from contenders import Contender
from harness import Options, Outcome, Side, Target, compare, interleave, run_alone, settings_of
from processes import BenchmarkBroken, in_fresh_process

_CALL = {
    contenders.OURS: "`queue.enqueue_many`, which gives back every task's record",
    contenders.PGQUEUER: "`Queries.enqueue` with lists on asyncpg and uvloop, which gives back every job's id",
}
_WAITING = {
    contenders.OURS: "SELECT count(*) FROM tasks WHERE state = 'queued'",
    contenders.PGQUEUER: "SELECT count(*) FROM pgqueuer WHERE status = 'queued'",
}


def run(options: Options) -> Outcome:
    """Compare with pgqueuer."""
    tasks = options.size(100_000, quick=500)
    with postgres.server() as server_url:

        def enqueued_by(contender: Contender) -> Mapping[str, float]:
            with postgres.fresh_database(server_url) as url:
                seconds: float = in_fresh_process(contender.module, "enqueue", url, tasks)
                _verify(url, contender, tasks)
                return {"tasks/s": tasks / seconds}

        sides = [
            Side(each.name, _CALL[each], partial(enqueued_by, each), each.ours)
            for each in _CALL
            if each.ours or not options.ours_only
        ]
        measured = interleave(sides, options)
    workload = f"PostgreSQL, enqueue {tasks:,} in one call"
    row = compare(workload, measured, "tasks/s", "/s", Target(1.0, aim=3), options)
    return Outcome([row], settings_of(measured))


def _verify(url: str, contender: Contender, tasks: int) -> None:
    with psycopg.connect(url) as connection:
        row = connection.execute(_WAITING[contender]).fetchone()
    if row is None or row[0] != tasks:
        raise BenchmarkBroken(f"{contender.name} stored {row and row[0]} of {tasks} tasks")


if __name__ == "__main__":
    run_alone("enqueue_postgres", run)
