"""The kit for external workers: the example keeps every rule, and a worker with a fault is told which rule it broke."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.conformance.workers.faults import FAULTS
from typer.testing import CliRunner

from kurabito.cli.commands import app
from kurabito.conformance.outcomes import RuleVerdict
from kurabito.conformance.workers import kit
from kurabito.conformance.workers.exchanges import ENDS, WordExchange
from kurabito.conformance.workers.gateway import Gateway
from kurabito.conformance.workers.kit import WorkerExamination, examine_worker
from kurabito.conformance.workers.scenarios import WORKER_SCENARIOS, worker_rules
from kurabito.errors import InvalidInput

ANYWHERE = "http://127.0.0.1:0"
EXAMPLE = Path(__file__).parents[3] / "examples" / "agent_worker.py"
BROKEN = Path(__file__).with_name("broken_worker.py")
AT_ONCE = ("forgets the result",)
"""Faults that are tried with every run; the others take a while."""


def test_the_example_does_ordinary_work_as_the_rules_ask(tmp_path: Path) -> None:
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "junit")}
    options = ["--worker", ANYWHERE, "--rule", "PROBE", "--rule", "END", "--rule", "FOLLOW", "--rule", "SPEAK-1"]
    written = [text for kind, path in files.items() for text in (f"--{kind}", str(path))]
    result = CliRunner().invoke(app, ["conformance", *options, *written, "--", sys.executable, str(EXAMPLE), "work"])
    assert result.exit_code == 0, result.output
    assert "8 passed, 0 failed, 0 not covered" in result.output
    told = json.loads(files["json"].read_text())
    assert (told["protocol"], {rule["verdict"] for rule in told["rules"]}) == ("1.1", {"passed"})
    suite = ET.fromstring(files["junit"].read_text())
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("worker protocol 1.1", "8", "0")


def test_an_end_counts_as_taken_also_when_its_answer_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    class _LateAnswers(Gateway):
        def _ask(self, exchange: WordExchange, client: socket.socket) -> None:
            late = WordExchange(exchange.method, exchange.path, exchange.headers, exchange.raw)
            super()._ask(late, client)
            if late.word in ENDS:
                # Longer than the kit's looks at the task are apart.
                threading.Event().wait(0.2)
            exchange.answer, exchange.answer_headers = late.answer, late.answer_headers
            exchange.status, exchange.dropped = late.status, late.dropped

    monkeypatch.setattr(kit, "Gateway", _LateAnswers)
    command = (sys.executable, str(EXAMPLE), "work")
    (outcome,) = examine_worker(WorkerExamination(ANYWHERE, command, only=("END-1",)))
    assert (outcome.verdict, outcome.evidence) == (RuleVerdict.PASSED, [])


@pytest.mark.soak
def test_the_example_keeps_every_rule() -> None:
    outcomes = examine_worker(WorkerExamination(ANYWHERE, (sys.executable, str(EXAMPLE), "work"), patience=120.0))
    assert {outcome.rule: outcome.evidence for outcome in outcomes if outcome.evidence} == {}
    assert [outcome.rule for outcome in outcomes if outcome.verdict is RuleVerdict.PASSED] == worker_rules()


@pytest.mark.soak
def test_a_worker_that_is_started_by_hand_is_examined_as_far_as_that_goes() -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(told: str) -> None:
        if told.startswith("start the worker with "):
            given = dict(part.split("=", 1) for part in told.split() if "=" in part)
            started.append(subprocess.Popen([sys.executable, str(EXAMPLE), "work"], env={**os.environ, **given}))

    try:
        outcomes = examine_worker(WorkerExamination(ANYWHERE, only=("PROBE-1", "LOST-2", "STOP-1")), start)
    finally:
        for worker in started:
            worker.kill()
            worker.wait()
    assert {outcome.rule: (outcome.verdict, outcome.gaps) for outcome in outcomes} == {
        "PROBE-1": (RuleVerdict.PASSED, []),
        "LOST-2": (RuleVerdict.PASSED, []),
        "STOP-1": (
            RuleVerdict.NOT_COVERED,
            ["the worker was started by hand, so it can be neither stopped nor killed"],
        ),
    }


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in AT_ONCE else [pytest.mark.soak]) for name in FAULTS]
)
def test_a_fault_is_caught_by_the_rule_that_it_breaks(name: str) -> None:
    rule = FAULTS[name].rule
    command = (sys.executable, str(BROKEN), name)
    (outcome,) = examine_worker(WorkerExamination(ANYWHERE, command, only=(rule,), patience=20.0))
    assert (outcome.rule, outcome.verdict) == (rule, RuleVerdict.FAILED), outcome.gaps
    assert not any("Traceback" in one and rule != "TROUBLE-1" for one in outcome.evidence)


def test_every_rule_has_a_scenario_and_was_seen_failing() -> None:
    looked_at = {rule for scenario in WORKER_SCENARIOS for rule in scenario.rules}
    assert looked_at == set(worker_rules())
    assert looked_at == {each.rule for each in FAULTS.values()}


@pytest.mark.parametrize("address", ["", "127.0.0.1:9000", "http://127.0.0.1", "http://:9000", "http://a:b"])
def test_a_place_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="worker: must be like"):
        examine_worker(WorkerExamination(address))


def test_a_rule_of_the_server_is_not_for_a_worker_to_keep() -> None:
    with pytest.raises(InvalidInput, match="no rule SERVER-1"):
        examine_worker(WorkerExamination(ANYWHERE, only=("SERVER-1",)))
