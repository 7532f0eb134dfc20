"""Plays scenarios with a worker, and gathers what became of each rule."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from kurabito.conformance.errors import ScenarioStuck
from kurabito.conformance.outcomes import RuleOutcome
from kurabito.conformance.workers.gateway import Gateway
from kurabito.conformance.workers.scenarios import WORKER_SCENARIOS, WorkerScenario, worker_rules
from kurabito.conformance.workers.server import ExaminationServer
from kurabito.conformance.workers.stage import WorkerStage
from kurabito.errors import InvalidInput
from kurabito.settings import PREFIX

_MOST_EVIDENCE: Final = 5
"""Of one rule in one scenario: what else it found looks the same."""

_BY_HAND: Final = "the worker was started by hand, so it can be neither stopped nor killed"

TellStep = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class WorkerExamination:
    """Which worker is examined, and by which rules."""

    address: str
    """Where the worker finds the server, like `http://127.0.0.1:9000`; port 0 is any that is free."""
    command: Sequence[str] = ()
    """How the worker is started; without it, one that was started by hand is waited for."""
    only: Sequence[str] = ()
    """Rules, or sections of them (`LOST`); all when empty."""
    patience: float = 60.0

    def wants(self, rule: str) -> bool:
        """Whether a rule is asked about."""
        return not self.only or any(rule == word or rule.startswith(f"{word}-") for word in self.only)

    def place(self) -> tuple[str, int]:
        """Host and port to listen on; raises InvalidInput when the address is none."""
        problem = InvalidInput("worker", f"must be like http://127.0.0.1:9000, got {self.address!r}")
        try:
            parts = urlsplit(self.address)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise problem from None
        if parts.scheme != "http" or not host or port is None:
            raise problem
        return host, port


def examine_worker(examination: WorkerExamination, tell: TellStep = lambda _: None) -> list[RuleOutcome]:
    """Examine a worker; what became of each rule that is asked about, in the order of the page. Raises InvalidInput."""
    host, port = examination.place()
    outcomes = {rule: RuleOutcome(rule) for rule in worker_rules() if examination.wants(rule)}
    if not outcomes:
        raise InvalidInput("rules", f"the protocol of workers has no rule {', '.join(examination.only)}")
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="kurabito-conformance-")))
        server = ExaminationServer(folder / "state")
        held.callback(server.stop)
        server.start()
        gateway = Gateway(host, port)
        held.callback(gateway.close)
        gateway.upstream = server.port
        if not examination.command:
            tell(f"start the worker with {PREFIX}URL={gateway.address} {PREFIX}API_KEY={server.key}")
        for scenario in WORKER_SCENARIOS:
            if any(rule in outcomes for rule in scenario.rules):
                if scenario.handles_process and not examination.command:
                    _note_gap(scenario, outcomes, _BY_HAND)
                    continue
                tell(scenario.name)
                stage = WorkerStage(
                    server,
                    gateway,
                    folder / scenario.name.replace(" ", "-"),
                    examination.command,
                    examination.patience,
                )
                _play(scenario, stage, outcomes)
    return list(outcomes.values())


def _note_gap(scenario: WorkerScenario, outcomes: Mapping[str, RuleOutcome], why: str) -> None:
    for rule in scenario.rules:
        if rule in outcomes:
            outcomes[rule].gaps.append(why)


def _play(scenario: WorkerScenario, stage: WorkerStage, outcomes: Mapping[str, RuleOutcome]) -> None:
    gap: str | None = None
    try:
        scenario.play(stage)
    except ScenarioStuck as stuck:
        gap = f"{scenario.name}: the worker did not come to the end of it"
        stage.broken.append((stuck.rule, stuck.evidence))
    finally:
        stage.close()
    for rule in scenario.rules:
        if rule not in outcomes:
            continue
        evidence = [f"{scenario.name}: {text}" for broken, text in stage.broken if broken == rule]
        outcomes[rule].evidence.extend(evidence[:_MOST_EVIDENCE])
        if gap is not None and not evidence:
            outcomes[rule].gaps.append(gap)
        else:
            outcomes[rule].checked_in.append(scenario.name)
