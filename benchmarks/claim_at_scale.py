"""Claiming among a million waiting and a million finished tasks, against claiming from an otherwise empty table.

The samples of the three cases alternate one by one, so that they share whatever the machine does. A fresh task has a type
of its own, for which nothing else waits; a task from the backlog is the next of the million. What is timed is `claim` of
the port, commit included; enqueuing before it and settling after it are not.

On PostgreSQL both tables are vacuumed and analysed between samples, as autovacuum would. What happens before it first comes
has a row of its own: a plan that was cached while the table was tiny can stay in use while the table grows.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

import backlog
import postgres
from harness import Options, Outcome, Row, Target, number, run_alone, wait_for_quiet
from kurabito.runtime import Queue, open_queue
from kurabito.runtime.outcomes import Success
from processes import BenchmarkBroken

FRESH: Final = "fresh"
UPKEEP_EVERY: Final = 50
MOST_DRIFT: Final = 2.0
BOUNDS: Final = {"SQLite": {"fresh": 1.3, "backlog": 1.3}, "PostgreSQL": {"fresh": 1.3, "backlog": 1.8}}


@dataclass
class Case:
    """Where claims are made, and how long each took, in milliseconds."""

    queue: Queue
    task_type: str
    took: list[float] = field(default_factory=list)

    async def sample(self, size: int) -> None:
        """One claim of `size` tasks."""
        if self.task_type == FRESH:
            await self.queue.enqueue_many([(FRESH, index) for index in range(size)])
        began = time.perf_counter()
        claimed = await self.queue.work.claim("bench", {self.task_type: size}, size)
        self.took.append(1000 * (time.perf_counter() - began))
        if len(claimed.tasks) != size or {claim.task_type for claim in claimed.tasks} != {self.task_type}:
            raise BenchmarkBroken(f"claimed {len(claimed.tasks)} of {size} tasks of type {self.task_type}")
        if lost := await self.queue.work.settle([(claim, Success()) for claim in claimed.tasks]):
            raise BenchmarkBroken(f"{len(lost)} claims were lost before they could be settled")

    def median(self) -> float:
        return statistics.median(self.took)

    def drift(self) -> float:
        """How much slower the last quarter of the claims was than the first."""
        quarter = max(1, len(self.took) // 4)
        return statistics.median(self.took[-quarter:]) / statistics.median(self.took[:quarter])


def run(options: Options) -> Outcome:
    """Both stores, claims of 1 and of 100."""
    rows, waiting = [], options.size(1_000_000, quick=20_000)
    samples = options.size(500, quick=5)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kurabito-bench-")))
        server_url = stack.enter_context(postgres.server())
        urls = {
            "SQLite": (f"sqlite:///{folder / 'empty.db'}", f"sqlite:///{folder / 'full.db'}"),
            "PostgreSQL": (
                stack.enter_context(postgres.fresh_database(server_url)),
                stack.enter_context(postgres.fresh_database(server_url)),
            ),
        }
        for store, (empty, full) in urls.items():
            rows += asyncio.run(_measure(store, empty, full, waiting, samples, options))
        unknown = stack.enter_context(postgres.fresh_database(server_url))
        rows.append(asyncio.run(_before_statistics(unknown, samples)))
    note = (
        f"{waiting:,} waiting and {waiting:,} finished tasks; medians of {samples} claims, one by one in turn; "
        "the other column is the same claim in a table without anything else."
    )
    return Outcome(rows, [note])


async def _measure(store: str, empty: str, full: str, waiting: int, samples: int, options: Options) -> list[Row]:
    async with AsyncExitStack() as stack:
        small = await stack.enter_async_context(open_queue(empty))
        large = await stack.enter_async_context(open_queue(full))
        began = time.monotonic()
        backlog.fill(full, waiting=waiting, finished=waiting)
        if store == "PostgreSQL":
            postgres.settle_down(full)
        print(f"  {store}: filled in {time.monotonic() - began:.0f} s", flush=True)
        rows = []
        for size in (1, 100):
            if not options.quick:
                wait_for_quiet()
            base, fresh, old = Case(small, FRESH), Case(large, FRESH), Case(large, backlog.WAITING_TYPE)
            for place in range(samples):
                if store == "PostgreSQL" and place % UPKEEP_EVERY == 0:
                    postgres.settle_down(empty)
                    postgres.settle_down(full)
                for case in (base, fresh, old):
                    await case.sample(size)
            # A base that grows slower on its own would make any full table look good.
            if not options.quick and base.drift() > MOST_DRIFT:
                raise BenchmarkBroken(f"{store}: claims from the empty table became {base.drift():.1f}x slower")
            for name, case in (("fresh", fresh), ("backlog", old)):
                rows.append(_row(store, size, name, case, base, options))
    return rows


async def _before_statistics(url: str, samples: int) -> Row:
    """Claims of 100 in a new database that was never analysed, after some claims of 1 while it was tiny."""
    async with open_queue(url) as queue:
        # Autovacuum comes when it likes within a minute; without it the row shows the same thing every time.
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER TABLE tasks SET (autovacuum_enabled = false)")
        case = Case(queue, FRESH)
        for _ in range(samples // 2):
            await case.sample(1)
        case.took.clear()
        for _ in range(samples):
            await case.sample(100)
    quarter = max(1, samples // 4)
    first, last = statistics.median(case.took[:quarter]), statistics.median(case.took[-quarter:])
    return Row(
        f"PostgreSQL, claim of 100, new database without statistics, last quarter of {samples}",
        number(last, " ms"),
        f"{number(first, ' ms')} (first quarter)",
        f"{last / first:.2f}x",
        "-",
        None,
    )


def _row(store: str, size: int, name: str, case: Case, base: Case, options: Options) -> Row:
    target = Target(BOUNDS[store][name], more_is_better=False)
    ratio = case.median() / base.median()
    where = "fresh" if name == "fresh" else "from the backlog"
    print(f"  {store}, claim {size} {where}: {case.median():.3f} ms, empty table {base.median():.3f} ms", flush=True)
    return Row(
        f"{store}, claim of {size}, {where}, full table",
        number(case.median(), " ms"),
        f"{number(base.median(), ' ms')} (empty table)",
        f"{ratio:.2f}x",
        str(target),
        None if options.quick else target.met(ratio),
    )


if __name__ == "__main__":
    run_alone("claim_at_scale", run)
