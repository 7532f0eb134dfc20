"""`counts_by_state` over two million tasks, as a page that shows the queue asks for it."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import backlog
import postgres
from harness import Options, Outcome, Row, number, run_alone
from kurabito.runtime import TaskState, open_queue
from processes import BenchmarkBroken

LIMIT_MS: Final = 300.0


def run(options: Options) -> Outcome:
    """Both stores."""
    half, samples = options.size(1_000_000, quick=10_000), options.size(15, quick=2)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kurabito-bench-")))
        server_url = stack.enter_context(postgres.server())
        urls = {
            "SQLite": f"sqlite:///{folder / 'full.db'}",
            "PostgreSQL": stack.enter_context(postgres.fresh_database(server_url)),
        }
        rows = []
        for store, url in urls.items():
            median = asyncio.run(_measure(url, half, samples))
            print(f"  {store}: {median:.1f} ms", flush=True)
            rows.append(
                Row(
                    f"{store}, counts_by_state of {2 * half:,} tasks",
                    number(median, " ms"),
                    "-",
                    "-",
                    f"≤ {LIMIT_MS:.0f} ms",
                    None if options.quick else median <= LIMIT_MS,
                )
            )
    return Outcome(rows, [f"Medians of {samples} calls."])


async def _measure(url: str, half: int, samples: int) -> float:
    took = []
    async with open_queue(url) as queue:
        backlog.fill(url, waiting=half, finished=half)
        if url.startswith("postgresql://"):
            postgres.settle_down(url)
        for _ in range(samples):
            began = time.perf_counter()
            counts = await queue.counts_by_state()
            took.append(1000 * (time.perf_counter() - began))
            if counts[TaskState.QUEUED] != half or counts[TaskState.SUCCEEDED] != half:
                raise BenchmarkBroken(f"wrong counts: {counts}")
    return statistics.median(took)


if __name__ == "__main__":
    run_alone("counts_at_scale", run)
