"""The second implementation, `examples/plane-node`: a data plane that shares no line with ours keeps the same rules."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from kurabito.conformance.kit import Examination, examine
from kurabito.conformance.outcomes import RuleVerdict

EXAMPLE = Path(__file__).parents[3] / "examples" / "plane-node"
KEPT = ("VER", "REG", "LEASE", "JOB", "PROGRESS", "PATH", "SCAN", "IGNORE", "MOVE", "CAND", "HASH", "DELETE", "TRASH")
"""The families of rules about what it does."""
NOT_ITS_OWN = frozenset({"no check looks at it yet"})


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The command that starts it, in a copy with what its lock names installed."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("there is no Node.js on this machine")
    folder = tmp_path_factory.mktemp("node") / "plane-node"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules"))
    installed = subprocess.run(
        ["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True, timeout=1200, check=False
    )
    if installed.returncode != 0:
        pytest.skip(f"npm cannot install what the plane needs: {installed.stderr[-500:]}")
    return ("node", str(folder / "plane.js"))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_the_plane_in_node_keeps_the_rules_of_what_it_does(plane: tuple[str, ...], postgres_dsn: str) -> None:
    outcomes = examine(Examination(plane, postgres=postgres_dsn, long=True, rounds=2, patience=300.0))
    assert {outcome.rule: outcome.evidence for outcome in outcomes if outcome.evidence} == {}
    open_rules = {
        outcome.rule: outcome.gaps
        for outcome in outcomes
        if outcome.rule.partition("-")[0] in KEPT
        and outcome.verdict is not RuleVerdict.PASSED
        and not NOT_ITS_OWN.issuperset(outcome.gaps)
    }
    assert open_rules == {}


def test_the_lock_names_no_registry() -> None:
    """Where packages come from is for the machine to say that installs them."""
    packages = json.loads((EXAMPLE / "package-lock.json").read_text())["packages"]
    assert packages
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []
