"""SQLite: drain no-op tasks with one worker process, every commit on the disk."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import contenders
import drain
from contenders import Contender
from floors import sqlite_claim_and_finish
from harness import Options, Outcome, Side, Target, against_floor, compare, interleave, run_alone, settings_of


def run(options: Options) -> Outcome:
    """Compare with huey, and with the floor."""
    tasks = options.size(10_000, quick=300)

    def drained_by(contender: Contender) -> Mapping[str, float]:
        with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as folder:
            url = f"sqlite:///{Path(folder) / 'tasks.db'}"
            return drain.measure(contender, url, tasks, 1, prepare=lambda _: None)

    sides = [
        Side(each.name, each.settings, partial(drained_by, each), each.ours)
        for each in (contenders.OURS, contenders.HUEY_SQLITE)
        if each.ours or not options.ours_only
    ]
    # The floor takes its turn in every round too: it is compared with numbers of the same moment.
    floor_side = Side("floor", "bare statements", lambda: {"tasks/s": sqlite_claim_and_finish(tasks)})
    *measured, floor = interleave([*sides, floor_side], options)
    row = compare(f"SQLite (FULL), drain {tasks:,}, 1 process", measured, "tasks/s", "/s", Target(5), options)
    below = against_floor(measured[0], floor, "aim 0.5x")
    return Outcome([row, below], settings_of(measured))


if __name__ == "__main__":
    run_alone("drain_sqlite", run)
