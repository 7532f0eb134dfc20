"""Idle latency: from just before the enqueue call until the handler starts, with a worker that has nothing else to do.

On SQLite and PostgreSQL the enqueuer is another process than the worker; in memory both share one, as they must. Tasks
arrive one at a time, 15 to 45 ms apart. Beside it stands what the worker's process costs while it mostly waits.

The three slowest of a round's 300 samples say more about the machine than about who was measured, so the p99 is that of the
samples of all rounds together.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import contenders
import postgres
from contenders import Contender
from harness import Measured, Options, Outcome, Row, Side, Target, compare, disturbance, interleave, run_alone
from processes import Arrivals, BenchmarkBroken, Child, Gate, in_fresh_process

Store = Callable[[], AbstractContextManager[str]]
Figures = Mapping[str, float]


def run(options: Options) -> Outcome:
    """Compare with the best peer on each store."""
    samples = options.size(300, quick=10)
    memory = (contenders.OURS_MEMORY, contenders.TASKIQ_MEMORY, contenders.PGQUEUER_MEMORY, contenders.HUEY_MEMORY)
    sqlite = (contenders.OURS, contenders.HUEY_SQLITE)
    postgresql = (contenders.OURS, contenders.HUEY_POSTGRES, contenders.PGQUEUER, contenders.PROCRASTINATE)
    with postgres.server() as server_url:
        on = {
            "memory": _measure(memory, partial(_in_one_process, samples), options),
            "SQLite": _measure(sqlite, partial(_between_processes, samples, _sqlite_file), options),
            "PostgreSQL": _measure(
                postgresql,
                partial(_between_processes, samples, partial(postgres.fresh_database, server_url)),
                options,
            ),
        }
    rows: list[Row] = []
    notes: list[str] = []
    for store, measured in on.items():
        for figure in ("p50 ms", "p99 ms"):
            workload = f"{store}, idle latency {figure.removesuffix(' ms')}"
            rows.append(compare(workload, measured, figure, " ms", Target(1.0, more_is_better=False), options))
        notes += [f"{store}, {_summary(result)}" for result in measured]
    return Outcome(rows, notes)


def _measure(
    sides: Sequence[Contender], measure: Callable[[Contender], tuple[list[float], Figures]], options: Options
) -> list[Measured]:
    seen: dict[str, list[float]] = {each.name: [] for each in sides}

    def figures(contender: Contender) -> Figures:
        milliseconds, others = measure(contender)
        seen[contender.name] += milliseconds
        return {"p50 ms": statistics.median(milliseconds), "p99 ms": _p99(milliseconds), **others}

    chosen = [
        Side(each.name, each.settings, partial(figures, each), each.ours)
        for each in sides
        if each.ours or not options.ours_only
    ]
    measured = interleave(chosen, options, turns=2)
    for result in measured:
        result.figures["p99 ms"] = [_p99(seen[result.side.name])]
    return measured


def _summary(result: Measured) -> str:
    figures = ", ".join(
        f"{figure} {result.median(figure):.3g}" for figure in ("p50 ms", "p99 ms", "CPU %") if figure in result.figures
    )
    return f"{result.side.name} ({result.side.settings}): {figures}{disturbance(result)}"


@contextmanager
def _sqlite_file() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as folder:
        yield f"sqlite:///{Path(folder) / 'tasks.db'}"


def _in_one_process(samples: int, contender: Contender) -> tuple[list[float], Figures]:
    return in_fresh_process(contender.module, "latency", samples), {}


def _between_processes(samples: int, store: Store, contender: Contender) -> tuple[list[float], Figures]:
    with store() as url:
        in_fresh_process(contender.module, "enqueue", url, 0)
        arrivals, gate = Arrivals(samples), Gate()
        with Child(contender.module, "serve", url, arrivals, gate) as worker:
            gate.wait_until_ready([worker])
            gate.open()
            time.sleep(0.5)  # the worker has started and found nothing
            before, began = worker.cpu_seconds(), time.monotonic()
            in_fresh_process(contender.module, "send", url, arrivals)
            _wait_for_last(arrivals, worker)
            busy = (worker.cpu_seconds() - before) / (time.monotonic() - began)
            gate.close()
            worker.result()
        return arrivals.milliseconds(), {"CPU %": 100 * busy}


def _wait_for_last(arrivals: Arrivals, worker: Child, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while arrivals.missing():
        worker.check()
        if time.monotonic() > deadline:
            raise BenchmarkBroken(f"{arrivals.missing()} tasks did not start within {seconds:.0f} s")
        time.sleep(0.01)


def _p99(milliseconds: list[float]) -> float:
    return statistics.quantiles(milliseconds, n=100)[98]


if __name__ == "__main__":
    run_alone("latency", run)
