"""How long a poll of 10,000 downloads at three downloaders takes, when there is something new about each of them."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Final

from downloaders import Core, core, downloaders
from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.downloads.tasks import DISPATCH, DispatchTask
from processes import BenchmarkBroken

MOST_SECONDS: Final = 2.0


def run(options: Options) -> Outcome:
    """One database, polled in each round."""
    count = options.size(10_000, quick=300)
    seconds = statistics.median(asyncio.run(_measure(count, options)))
    passed = None if options.quick else seconds <= MOST_SECONDS
    row = Row(f"poll of {count:,} downloads", number(seconds, " s"), "-", "-", f"<= {MOST_SECONDS:g} s", passed)
    return Outcome([row], ["3 downloaders, every row written, 2,000 in a transaction; SQLite with synchronous=FULL"])


async def _measure(count: int, options: Options) -> list[float]:
    with downloaders() as ports:
        async with core(ports) as measured:
            await _fill(measured, count)
            times = []
            for _ in range(options.rounds):
                if not options.quick:
                    wait_for_quiet()
                began = time.perf_counter()
                polled = await measured.downloads.scheduler.poll()
                times.append(time.perf_counter() - began)
                print(f"  {times[-1]:.3f} s", flush=True)
                if polled.changed != count:
                    raise BenchmarkBroken(f"of {count} downloads {polled.changed} changed")
    return times


async def _fill(measured: Core, count: int) -> None:
    await measured.bring(count)
    for task in (await measured.queue.list(task_type=DISPATCH)).items:
        await measured.downloads.dispatcher.dispatch(task.payload_as(DispatchTask))


if __name__ == "__main__":
    run_alone("poll", run)
