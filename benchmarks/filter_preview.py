"""How long it takes to say what a filter rule would do to 100,000 links, half of which it excludes."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Final

from downloaders import core
from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.downloads.filters.model import Action, FilterRule
from processes import BenchmarkBroken

MOST_SECONDS: Final = 1.0


def run(options: Options) -> Outcome:
    """One database; the same draft in each round."""
    count = options.size(100_000, quick=1_000)
    seconds = statistics.median(asyncio.run(_measure(count, options)))
    passed = None if options.quick else seconds <= MOST_SECONDS
    row = Row(f"preview over {count:,} links", number(seconds, " s"), "-", "-", f"<= {MOST_SECONDS:g} s", passed)
    return Outcome(
        [row], ["a pattern that is searched in every title; each link has a download that would be cancelled"]
    )


async def _measure(count: int, options: Options) -> list[float]:
    draft = FilterRule(name="no small ones", action=Action.EXCLUDE, pattern=r"monogatari \d+ .*720p")
    async with core([]) as measured:
        await measured.bring(count)
        times = []
        for _ in range(options.rounds):
            if not options.quick:
                wait_for_quiet()
            began = time.perf_counter()
            effect = await measured.downloads.filters.preview(draft)
            times.append(time.perf_counter() - began)
            print(f"  {times[-1]:.3f} s", flush=True)
            if len(effect.excluded) != count // 2:
                raise BenchmarkBroken(f"{len(effect.excluded)} of {count} links were excluded")
    return times


if __name__ == "__main__":
    run_alone("filter_preview", run)
