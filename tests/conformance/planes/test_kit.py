"""The conformance kit: our own data plane keeps every rule that it looks at, and a plane with a fault is told which rule it broke."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.conformance.planes.faults import FAULTS
from typer.testing import CliRunner

from kurabito.cli.commands import app
from kurabito.conformance import report, trees
from kurabito.conformance.checks import CHECKS, unchecked_rules
from kurabito.conformance.kit import Examination, examine
from kurabito.conformance.outcomes import RuleOutcome, RuleVerdict
from kurabito.conformance.scenarios import LONG, SCENARIOS
from kurabito.errors import InvalidInput
from kurabito.protocol.rules import rules
from kurabito.protocol.version import Capability

OWN = (sys.executable, "-m", "kurabito.cli", "dataplane")
BROKEN = Path(__file__).with_name("broken_plane.py")
EXAMPLE = Path(__file__).parents[3] / "examples" / "foreign_worker.py"
AT_ONCE = ("registers another version", "indexes the trash")
"""Faults that are tried with every run; the others take a while."""
ELSEWHERE = {"PLANE-7", "DELETE-13"}
"""Rules that need more than SQLite: a server, or a pool that can be mounted."""


def failures(outcomes: list[RuleOutcome]) -> dict[str, list[str]]:
    return {outcome.rule: outcome.evidence for outcome in outcomes if outcome.evidence}


def test_our_own_plane_keeps_the_rules() -> None:
    outcomes = examine(Examination(OWN))
    assert failures(outcomes) == {}
    passed = {outcome.rule for outcome in outcomes if outcome.verdict is RuleVerdict.PASSED}
    assert {check.rule for check in CHECKS} - passed <= ELSEWHERE


def test_the_example_keeps_the_rules() -> None:
    """A plane that only hashes is asked about less, and is none the worse for it."""
    asked = (
        "REG-2",
        "PLANE-8",
        "LEASE-3",
        "LEASE-4",
        "LEASE-6",
        "LEASE-8",
        "LEASE-9",
        "HASH-2",
        "HASH-3",
        "HASH-7",
        "HASH-8",
        "HASH-9",
        "HASH-10",
        "PATH-3",
        "PATH-5",
    )
    *outcomes, scan = examine(Examination((sys.executable, str(EXAMPLE)), only=(*asked, "TRASH-2")))
    assert failures(outcomes) == {}
    assert {outcome.verdict for outcome in outcomes} == {RuleVerdict.PASSED}
    assert (scan.rule, scan.verdict, scan.gaps) == (
        "TRASH-2",
        RuleVerdict.NOT_COVERED,
        ["the plane does not list scan"],
    )


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(3))
def test_our_own_plane_keeps_the_rules_when_it_is_killed(postgres_dsn: str, seed: int) -> None:
    outcomes = examine(Examination(OWN, postgres=postgres_dsn, long=True, seed=seed, rounds=8, patience=300.0))
    assert failures(outcomes) == {}
    (resumed,) = [outcome for outcome in outcomes if outcome.rule == "SCAN-7"]
    assert {"killed on SQLite", "killed on PostgreSQL"} <= set(resumed.checked_in)


def seen_in(name: str, postgres: str | None = None) -> str:
    """What the kit says about a plane with a fault, asked about the rule that it breaks."""
    fault = FAULTS[name]
    scenarios = {fault.scenario} - {""}
    if not scenarios and all(looking := [check.scenarios for check in CHECKS if check.name == fault.check]):
        scenarios.update(*looking)
    outcomes = examine(
        Examination(
            (sys.executable, str(BROKEN), name),
            postgres=postgres,
            only=(fault.rule,),
            patience=60.0,
            capabilities=frozenset(Capability),
            stops_early=True,
            scenarios=frozenset(scenarios),
            long=not LONG.isdisjoint(scenarios),
        )
    )
    (outcome,) = [each for each in outcomes if each.rule == fault.rule]
    if any("a row that was to be there" in one for one in outcome.evidence):
        return "a row that was to be there is not"
    if outcome.verdict is not RuleVerdict.FAILED:
        return f"{outcome.verdict}: {outcome.gaps}"
    if fault.check and fault.check not in outcome.failed_checks:
        return f"seen by {outcome.failed_checks}, and not by what is to see it: {outcome.evidence}"
    return outcome.rule


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in AT_ONCE else [pytest.mark.soak]) for name in FAULTS]
)
def test_a_fault_is_caught_by_the_rule_that_it_breaks(name: str, request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue("postgres_dsn") if FAULTS[name].on_postgres else None
    assert seen_in(name, server) == FAULTS[name].rule


def test_every_rule_was_seen_failing() -> None:
    assert {check.rule for check in CHECKS} - {each.rule for each in FAULTS.values()} == set()


def test_every_check_was_seen_failing() -> None:
    """A check that cannot fail says nothing: where a rule has several, a fault says which one has to see it."""
    seen = {fault.check for fault in FAULTS.values()}
    for fault in FAULTS.values():
        of_the_rule = {check.name for check in CHECKS if check.rule == fault.rule}
        assert not fault.check or fault.check in of_the_rule
        seen |= of_the_rule if len(of_the_rule) == 1 else set()
    assert {check.name for check in CHECKS} - seen == set()


def test_a_check_looks_at_scenarios_that_exist() -> None:
    assert {name for check in CHECKS for name in check.scenarios} <= set(SCENARIOS)


def test_every_rule_for_data_planes_has_a_check() -> None:
    assert {rules()[rule].section for rule in unchecked_rules()} == {"control"}


OUTCOMES = [
    RuleOutcome("SCAN-4", ["scanning on SQLite"], ["scanning on SQLite: 'link.mkv' has a row"]),
    RuleOutcome("HASH-2", ["hashing on SQLite"]),
    RuleOutcome("CKPT-1", gaps=["the plane does not list checkpoint"]),
]


def test_a_report_names_each_rule() -> None:
    assert report.summary(OUTCOMES) == "1 passed, 1 failed, 1 not covered"
    assert [line.split() for line in report.lines(OUTCOMES[1])] == [["HASH-2", "passed"]]
    assert "link.mkv" in list(report.lines(OUTCOMES[0]))[1]
    found = json.loads(report.as_json(OUTCOMES))["rules"]
    assert [(row["rule"], row["verdict"]) for row in found] == [
        ("SCAN-4", "failed"),
        ("HASH-2", "passed"),
        ("CKPT-1", "not covered"),
    ]
    assert found[0]["text"] == rules()["SCAN-4"].text


def test_a_report_is_read_by_a_ci_system() -> None:
    suite = ET.fromstring(report.as_junit(OUTCOMES))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert [(case.get("name"), [child.tag for child in case]) for case in suite] == [
        ("SCAN-4", ["failure"]),
        ("HASH-2", []),
        ("CKPT-1", ["skipped"]),
    ]


def test_large_holes_lie_where_reading_them_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plane that maps files filled all of a machine's memory, where temporary files are in memory."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or trees.holes_stay(memory):
        pytest.skip("no folder of this machine is in memory")
    monkeypatch.setattr(tempfile, "tempdir", str(memory))
    place = trees.place_for_holes()
    assert place == memory or trees.holes_stay(place)
    assert place != memory or not trees.holes_stay(Path("/var/tmp"))


def test_a_program_that_is_no_plane_fails(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app,
        ["conformance", "--rule", "REG-1", "--patience", "1", "--json", str(tmp_path / "out.json"), "--", "true"],
    )
    assert result.exit_code == 1
    assert "REG-1       failed" in result.output
    assert json.loads((tmp_path / "out.json").read_text())["rules"][0]["verdict"] == "failed"


def test_a_plane_that_stands_still_fails_whatever_it_is_asked_about() -> None:
    result = CliRunner().invoke(app, ["conformance", "--rule", "SCAN-4", "--patience", "1", "--", "true"])
    assert result.exit_code == 1
    assert "REG-1       failed" in result.output
    assert "SCAN-4      not covered" in result.output


def test_what_cannot_be_examined_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no rule NONE-1"):
        examine(Examination(OWN, only=("NONE-1",)))
    with pytest.raises(InvalidInput, match="name the program"):
        examine(Examination(()))
