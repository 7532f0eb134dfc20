"""In memory: drain no-op tasks in one process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import contenders
from contenders import Contender
from floors import memory_heap
from harness import Options, Outcome, Side, Target, against_floor, compare, interleave, run_alone, settings_of
from processes import in_fresh_process


def run(options: Options) -> Outcome:
    """Compare with the best of three, and with the floor."""
    tasks = options.size(100_000, quick=1_000)

    def drained_by(contender: Contender) -> Mapping[str, float]:
        seconds: float = in_fresh_process(contender.module, "drain", tasks)
        return {"tasks/s": tasks / seconds}

    peers = (contenders.HUEY_MEMORY, contenders.PGQUEUER_MEMORY, contenders.TASKIQ_MEMORY)
    sides = [
        Side(each.name, each.settings, partial(drained_by, each), each.ours)
        for each in (contenders.OURS_MEMORY, *peers)
        if each.ours or not options.ours_only
    ]
    floor_side = Side("floor", "a heap and 100 coroutines", lambda: {"tasks/s": memory_heap(tasks)})
    *measured, floor = interleave([*sides, floor_side], options, turns=3)
    row = compare(f"memory, drain {tasks:,}", measured, "tasks/s", "/s", Target(2), options)
    below = against_floor(measured[0], floor, "-")
    return Outcome([row, below], settings_of(measured))


if __name__ == "__main__":
    run_alone("drain_memory", run)
