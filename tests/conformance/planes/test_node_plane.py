"""The second implementation, `examples/plane-node`: a data plane that shares no line with ours keeps the same rules."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kurabito.conformance import trees
from kurabito.conformance.databases import postgres_databases, sqlite_databases
from kurabito.conformance.kit import Examination, examine
from kurabito.conformance.outcomes import RuleVerdict
from kurabito.conformance.recording import Row
from kurabito.conformance.stage import ScenarioStage
from kurabito.conformance.subject import Subject
from kurabito.protocol.deletion import TRASH_FOLDER

EXAMPLE = Path(__file__).parents[3] / "examples" / "plane-node"
KEPT = ("VER", "REG", "LEASE", "JOB", "PROGRESS", "PATH", "SCAN", "IGNORE", "MOVE", "CAND", "HASH", "DELETE", "TRASH")
"""The families of rules about what it does."""
LEFT_OUT = frozenset({"REG-5", "REG-6", "SCAN-11", "DELETE-14", "TRASH-6"})
"""What a plane may do and this one does not, as its README says."""
NOT_ITS_OWN = frozenset({"no check looks at it yet"})
OURS = (sys.executable, "-m", "kurabito.cli", "dataplane")
PAIRS = 60
KILLS = 8


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
        and outcome.rule not in LEFT_OUT
        and outcome.verdict is not RuleVerdict.PASSED
        and not NOT_ITS_OWN.issuperset(outcome.gaps)
    }
    assert open_rules == {}


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_both_planes_mend_what_the_other_left_of_a_removal(
    plane: tuple[str, ...], postgres_dsn: str, tmp_path: Path, kind: str, seed: int
) -> None:
    """Killed at any moment, one plane after the other: each file is where it was, or in the trash and listed there."""
    making = sqlite_databases(tmp_path) if kind == "sqlite" else postgres_databases(postgres_dsn)
    with making as new, new() as (database, url):
        stage = ScenarioStage(database, url, tmp_path / "stage", plane, patience=300.0)
        folder = _plan_removals(stage)
        chance = random.Random(seed)
        kills = 0
        for turn in range(KILLS):
            command = plane if turn % 2 == 0 else OURS
            killed = Subject(command, url, stage.state, tmp_path / f"{turn}.log")
            done = len(stage.rows("deletion_log", "state = 'done'"))
            stage.wait_for(partial(_is_in_the_middle, stage, done), "DELETE-7", "an intent", every=0.0005)
            killed.kill_after(chance.uniform(0, 0.004))
            kills += bool(stage.rows("jobs", "id = 'remove' AND status = 'running'"))
            stage.write(
                "UPDATE jobs SET status = 'pending', worker_id = NULL, worker_heartbeat_at = NULL, "
                "lease_expires_at = NULL WHERE id = 'remove' AND status IN ('running', 'retryable')"
            )
        assert kills > 1, "the plan was over before both planes were killed in the middle of it"
        stage.start_plane()
        stage.wait_for_job("remove")
        _see_that_nothing_is_lost(stage, folder)
        stage.close()


def _plan_removals(stage: ScenarioStage) -> Path:
    folder = stage.library(1)
    for number in range(PAIRS):
        for side in ("go", "keep"):
            trees.write(folder, f"{side}/{number}".encode(), b"%03d" % number * (20_000 + number))
    for work in ("scan", "hash"):
        stage.job(work, work, 1)
        stage.let_reference_work()
    files = {row["relative_path"]: row for row in stage.rows("library_files")}
    steps = [_step(files[f"go/{number}"], files[f"keep/{number}"]) for number in range(PAIRS)]
    plan = stage.plan("trash", steps)
    stage.insert("deletion_policy", id=1, allow_delete=1, updated_at=stage.now())
    stage.job("remove", "delete", None, payload=json.dumps({"plan": plan}), dry_run=0)
    return folder


def _step(goes: Row, stays: Row) -> dict[str, Any]:
    named = ("library_id", "relative_path", "size_bytes", "mtime_ns", "hash_algorithm")
    return {
        "file_id": goes["id"],
        **{name: goes[name] for name in named},
        "content_hash": bytes.fromhex(goes["content_hash"]),
        "kept_file_id": stays["id"],
        "kept_library_id": stays["library_id"],
        "kept_path": stays["relative_path"],
        "kept_mtime_ns": stays["mtime_ns"],
        "reason": "kept_is_older",
    }


def _is_in_the_middle(stage: ScenarioStage, before: int) -> bool:
    """Whether a step is begun behind those that were done before, and the one that was mended; or the plan is over."""
    states = [row["state"] for row in stage.rows("deletion_log")]
    return states.count("done") == PAIRS or ("intent" in states and states.count("done") > before)


def _see_that_nothing_is_lost(stage: ScenarioStage, folder: Path) -> None:
    assert {(row["status"], row["error_message"]) for row in stage.rows("jobs", "id = 'remove'")} == {
        ("completed", None)
    }
    log = stage.rows("deletion_log")
    assert [(row["state"], row["error_message"]) for row in log] == [("done", None)] * PAIRS
    entries = {row["relative_path"]: row for row in stage.rows("trash_entries")}
    for number in range(PAIRS):
        kept, gone = folder / f"keep/{number}", folder / f"go/{number}"
        trashed = folder / entries[f"go/{number}"]["trash_path"]
        assert not gone.exists()
        assert kept.read_bytes() == trashed.read_bytes() == b"%03d" % number * (20_000 + number)
        assert json.loads(trashed.with_name(f"{trashed.name}.json").read_text())["path"] == f"go/{number}"
    assert len(list((folder / TRASH_FOLDER).iterdir())) == 2 * PAIRS


def test_the_lock_names_no_registry() -> None:
    """Where packages come from is for the machine to say that installs them."""
    packages = json.loads((EXAMPLE / "package-lock.json").read_text())["packages"]
    assert packages
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []
