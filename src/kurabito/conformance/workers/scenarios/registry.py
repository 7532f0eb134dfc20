"""Which scenarios there are, and which rules each of them looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kurabito.conformance.workers.stage import WorkerStage
from kurabito.protocol.external import PROMISES, WORKERS

PlayWorker = Callable[[WorkerStage], None]


@dataclass(frozen=True, slots=True)
class WorkerScenario:
    """What happens to a worker."""

    name: str
    rules: tuple[str, ...]
    """Those that it looks at."""
    play: PlayWorker
    handles_process: bool
    """It starts, signals or kills the worker, and so needs to know how it is started."""


WORKER_SCENARIOS: Final[list[WorkerScenario]] = []
"""In the order in which they are played."""


def scenario(name: str, *rules: str, handles_process: bool = False) -> Callable[[PlayWorker], PlayWorker]:
    """Register a scenario for some rules."""
    if unknown := set(rules) - WORKERS.rules.keys():
        raise ValueError(f"{unknown} are no rules for workers")

    def register(play: PlayWorker) -> PlayWorker:
        WORKER_SCENARIOS.append(WorkerScenario(name, rules, play, handles_process))
        return play

    return register


def worker_rules() -> list[str]:
    """The rules that bind a worker, in the order of the page."""
    return [rule.id for rule in WORKERS.rules.values() if rule.section != PROMISES]
