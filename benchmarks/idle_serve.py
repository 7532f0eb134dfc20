"""What `kurabito serve` costs while nothing happens: control plane and data plane together.

Memory is PSS, in which what processes share counts in parts. Linux only.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from processes import BenchmarkBroken

MOST_MEMORY: Final = 150.0
MOST_CPU: Final = 2.0
_SETTLES: Final = 15
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PARTS: Final = ("control plane", "data plane")


class Cost(NamedTuple):
    """What one process takes."""

    megabytes: float
    percent: float


def run(options: Options) -> Outcome:
    """A server of its own, looked at for half a minute in each round."""
    seconds = options.size(30, quick=2)
    rounds = [_measure(seconds, options) for _ in range(options.rounds)]
    memory = statistics.median(sum(cost.megabytes for cost in costs) for costs in rounds)
    percent = statistics.median(sum(cost.percent for cost in costs) for costs in rounds)
    rows = [
        _row("idle serve, memory", memory, " MB", MOST_MEMORY, options),
        _row("idle serve, share of one core", percent, " %", MOST_CPU, options),
    ]
    notes = [
        f"{part}: {statistics.median(costs[place].megabytes for costs in rounds):.1f} MB PSS, "
        f"{statistics.median(costs[place].percent for costs in rounds):.2f} % of one core over {seconds} s"
        for place, part in enumerate(_PARTS)
    ]
    return Outcome(rows, notes)


def _row(workload: str, value: float, unit: str, most: float, options: Options) -> Row:
    return Row(workload, number(value, unit), "-", "-", f"< {most:g}{unit}", None if options.quick else value < most)


def _measure(seconds: int, options: Options) -> list[Cost]:
    """The cost of each part, the control plane first."""
    if not options.quick:
        wait_for_quiet()
    with _serving() as serve:
        time.sleep(options.size(_SETTLES, quick=2))
        processes = [serve.pid, *_children(serve.pid)]
        if len(processes) != len(_PARTS):
            raise BenchmarkBroken(f"serve has {len(processes)} processes instead of {len(_PARTS)}")
        before, began = [_cpu_seconds(pid) for pid in processes], time.monotonic()
        time.sleep(seconds)
        lasted = time.monotonic() - began
        used = [_cpu_seconds(pid) - earlier for pid, earlier in zip(processes, before, strict=True)]
        costs = [Cost(_megabytes(pid), 100 * cpu / lasted) for pid, cpu in zip(processes, used, strict=True)]
    for part, cost in zip(_PARTS, costs, strict=True):
        print(f"  {part}: {cost.megabytes:.1f} MB PSS, {cost.percent:.2f} % of one core", flush=True)
    return costs


@contextmanager
def _serving() -> Iterator[subprocess.Popen[str]]:
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as state:
        environment = {**os.environ, "KURABITO_STATE": state, "KURABITO_LOG_LEVEL": "warning"}
        command = [sys.executable, "-m", "kurabito.cli", "serve", "--port", "0"]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise BenchmarkBroken("serve did not start")
            yield process
        finally:
            process.terminate()
            process.wait(30)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


if __name__ == "__main__":
    run_alone("idle_serve", run)
