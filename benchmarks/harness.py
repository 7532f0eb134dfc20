"""What every benchmark shares: rounds that alternate between the sides, medians, verdicts and the table.

The machine's speed drifts, so the sides are measured in turn (A B, B A, …) within one run. A ratio is the median of the
rounds' own; their range shows how far to trust it.
"""

# mypy: disable-error-code="import-untyped"

from __future__ import annotations

import argparse
import os
import platform
import shlex
import signal
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import psutil

QUICK_ROUNDS: Final = 1
ROUNDS: Final = 3
QUIET_PERCENT: Final = 10.0


@dataclass(frozen=True)
class Options:
    """How to run: as given on the command line."""

    rounds: int = ROUNDS
    quick: bool = False
    """Tiny numbers, to see that everything works. No verdicts."""
    ours_only: bool = False
    """Leave the peers out, for an environment that does not have them."""

    def size(self, full: int, quick: int) -> int:
        """A number of tasks, rows or samples."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Side:
    """One of the things compared in a benchmark; `measure` gives one number for each named figure."""

    name: str
    settings: str
    measure: Callable[[], Mapping[str, float]]
    ours: bool = False


@dataclass
class Measured:
    """The figures of one side, a number per round."""

    side: Side
    figures: dict[str, list[float]] = field(default_factory=dict)
    disturbed: int = 0
    """How many of the measurements began while the machine was busy with something else."""

    def median(self, figure: str) -> float:
        return statistics.median(self.figures[figure])


def interleave(sides: Sequence[Side], options: Options, *, turns: int = 1) -> list[Measured]:
    """Measure every side `turns` times per round, there and back again: no side always goes first, or after another."""
    rounds = options.rounds * (1 if options.quick else turns)
    measured = [Measured(side) for side in sides]
    for turn in range(rounds):
        for result in measured[:: -1 if turn % 2 else 1]:
            if not options.quick and not wait_for_quiet():
                result.disturbed += 1
            began = time.monotonic()
            figures = result.side.measure()
            for figure, value in figures.items():
                result.figures.setdefault(figure, []).append(value)
            shown = ", ".join(f"{number(value, '')} {figure}" for figure, value in figures.items())
            print(
                f"  round {turn + 1}/{rounds}  {result.side.name:<22} {shown}  ({time.monotonic() - began:.1f} s)",
                flush=True,
            )
    return measured


def wait_for_quiet(seconds: float = 60.0) -> bool:
    """Wait until the machine has little else to do; false, and a warning, when that never came."""
    deadline = time.monotonic() + seconds
    while (busy := psutil.cpu_percent(interval=0.5)) > QUIET_PERCENT:
        if time.monotonic() > deadline:
            print(f"  the machine is busy with something else ({busy:.0f} %): do not trust the next number", flush=True)
            return False
    return True


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    workload: str
    ours: str
    other: str
    """The peer's number, or what we compare ourselves with."""
    ratio: str
    target: str
    passed: bool | None
    """None when there is nothing to pass: the line is for information."""

    @property
    def verdict(self) -> str:
        return "-" if self.passed is None else "pass" if self.passed else "**FAIL**"


@dataclass(frozen=True)
class Outcome:
    """What a benchmark found."""

    rows: list[Row]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Target:
    """The ratio to reach: at least `bound` when more is better, at most `bound` when less is better."""

    bound: float
    more_is_better: bool = True
    aim: float | None = None

    def met(self, ratio: float) -> bool:
        return ratio >= self.bound if self.more_is_better else ratio <= self.bound

    def __str__(self) -> str:
        sign = "≥" if self.more_is_better else "≤"
        return f"{sign} {self.bound:g}x" + (f" (aim {self.aim:g}x)" if self.aim else "")


def compare(
    workload: str, measured: Sequence[Measured], figure: str, unit: str, target: Target, options: Options
) -> Row:
    """Our median beside the best peer's; the ratio is the median of the rounds' own.

    The machine's speed moves from minute to minute, so only what ran in the same round is divided.
    """
    ours = next(result for result in measured if result.side.ours)
    peers = [result for result in measured if not result.side.ours]
    mine = ours.median(figure)
    if not peers:
        return Row(workload, number(mine, unit), "not run", "-", str(target), None)
    best = (max if target.more_is_better else min)(peers, key=lambda peer: peer.median(figure))
    theirs = best.median(figure)
    by_round = [a / b for a, b in zip(ours.figures[figure], best.figures[figure], strict=True)]
    ratio = statistics.median(by_round)
    shown = f"{ratio:.2f}x" + (f" ({min(by_round):.2f}-{max(by_round):.2f})" if len(by_round) > 1 else "")
    passed = None if options.quick else target.met(ratio)
    return Row(workload, number(mine, unit), f"{number(theirs, unit)} ({best.side.name})", shown, str(target), passed)


def against_floor(ours: Measured, floor: Measured, aim: str) -> Row:
    """How much of what the bare store gives is left with the runtime around it."""
    mine, lowest = ours.median("tasks/s"), floor.median("tasks/s")
    return Row(
        "- against the floor", number(mine, "/s"), f"{number(lowest, '/s')} (floor)", f"{mine / lowest:.2f}x", aim, None
    )


def settings_of(measured: Sequence[Measured]) -> list[str]:
    """A note per side with its settings, so that a reader can judge whether the comparison is fair."""
    return [
        f"{result.side.name}: {result.side.settings}"
        + "".join(f"; {number(result.median(figure), '')} {figure}" for figure in result.figures if "CPU" in figure)
        + disturbance(result)
        for result in measured
    ]


def disturbance(result: Measured) -> str:
    """A warning when the machine was not ours alone."""
    return f"; **the machine was busy at {result.disturbed} of the measurements**" if result.disturbed else ""


def number(value: float, unit: str) -> str:
    """A figure as the table shows it."""
    if value >= 100:
        return f"{value:,.0f}{unit}"
    return f"{value:.3g}{unit}"


def table(rows: Sequence[Row]) -> str:
    """The rows as a markdown table."""
    lines = ["| workload | ours | other | ratio (range of rounds) | target | |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {row.workload} | {row.ours} | {row.other} | {row.ratio} | {row.target} | {row.verdict} |" for row in rows
    ]
    return "\n".join(lines)


def environment() -> str:
    """The machine and the versions, without anything that names the machine."""
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}"
    )


def repeat_command(names: Sequence[str], options: Options) -> str:
    """The command that repeats this run."""
    words = ["python", "benchmarks/run.py", *names, "--rounds", str(options.rounds)]
    words += ["--quick"] * options.quick + ["--ours"] * options.ours_only
    return shlex.join(words)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that every program takes."""
    parser.add_argument("--rounds", type=int, help=f"how often each side is measured (default {ROUNDS})")
    parser.add_argument("--quick", action="store_true", help="tiny numbers, to see that everything works; no verdicts")
    parser.add_argument("--ours", action="store_true", help="leave the peers out")


def end_in_good_order() -> None:
    """Have a request to terminate unwind the program, so that the PostgreSQL it started is stopped too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def options_from(arguments: argparse.Namespace) -> Options:
    """The options as given, with the number of rounds that fits."""
    rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else ROUNDS)
    return Options(rounds=rounds, quick=arguments.quick, ours_only=arguments.ours)


def run_alone(name: str, run: Callable[[Options], Outcome]) -> None:
    """The command line of a single program: run it and print what it found."""
    end_in_good_order()
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    add_arguments(parser)
    options = options_from(parser.parse_args())
    outcome = run(options)
    print(f"\n{table(outcome.rows)}\n")
    for note in outcome.notes:
        print(f"- {note}")
    print(f"\n{environment()}\nrepeat with: {repeat_command([name], options)}")
    if any(row.passed is False for row in outcome.rows):
        sys.exit(1)
