"""How long 1,000 new links take to three downloaders on loopback, from the first request to the last row written.

The first takes a third of them, the second half of the rest, and the last what is left: three requests in all.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Final

from downloaders import core, downloaders
from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.downloads.tasks import DISPATCH, DispatchTask
from processes import BenchmarkBroken

MOST_SECONDS: Final = 1.5


def run(options: Options) -> Outcome:
    """A new database in each round."""
    count = options.size(1_000, quick=30)
    times = []
    for _ in range(options.rounds):
        if not options.quick:
            wait_for_quiet()
        times.append(asyncio.run(_measure(count)))
        print(f"  {times[-1]:.3f} s", flush=True)
    seconds = statistics.median(times)
    passed = None if options.quick else seconds <= MOST_SECONDS
    row = Row(f"{count:,} links to 3 downloaders", number(seconds, " s"), "-", "-", f"<= {MOST_SECONDS:g} s", passed)
    return Outcome([row], ["one request for each downloader; SQLite with synchronous=FULL"])


async def _measure(count: int) -> float:
    with downloaders() as ports:
        async with core(ports) as measured:
            await measured.bring(count)
            tasks = (await measured.queue.list(task_type=DISPATCH)).items
            began = time.perf_counter()
            for task in tasks:
                await measured.downloads.dispatcher.dispatch(task.payload_as(DispatchTask))
            seconds = time.perf_counter() - began
            if (counts := await measured.counts()) != {"downloading": count}:
                raise BenchmarkBroken(f"{count} links became {counts}")
    return seconds


if __name__ == "__main__":
    run_alone("dispatch", run)
