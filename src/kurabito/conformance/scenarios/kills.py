"""A plane that is killed again and again, at moments that a seed decides; each time another goes on."""

from __future__ import annotations

import random
from functools import partial
from typing import Any, Final

from kurabito.conformance import trees
from kurabito.conformance.recording import Row
from kurabito.conformance.scenarios.removals import delete, step_between
from kurabito.conformance.stage import ScenarioStage

FILES: Final = 1200
_CONTENTS: Final = 500
"""Several files have each of them, so that a plan has something to remove."""
STEPS: Final = 150
"""Files that a plan removes."""
_LOOK_EVERY: Final = 0.005
_LONGEST: Final = 0.4
"""Seconds after a claim: by then such a job is over, on a machine that has nothing else to do."""


def kill(stage: ScenarioStage) -> None:
    """Kill planes in the middle of a scan, of a hash and of a removal, and let the last one finish."""
    stage.needs("scan", "hash.blake3")
    folder = stage.library(1)
    for path, content in planted().items():
        trees.write(folder, path.encode(), content)
    chance = random.Random(stage.seed)  # noqa: S311 - the same moments for the same seed
    for kind in ("scan", "hash"):
        stage.job(kind, kind, 1)
        _kill_during(stage, kind, chance)
    if "delete.trash" in stage.capabilities:
        stage.insert("deletion_policy", id=1, allow_delete=1, updated_at=stage.now())
        delete(stage, "delete", {"plan": stage.plan("trash", _steps(stage))})
        _kill_during(stage, "delete", chance)


def planted() -> dict[str, bytes]:
    """The content of each file, by its path."""
    contents = {number: b"%04d" % number * (1 + number % 7) for number in range(_CONTENTS)}
    return {f"{number % 30}/{number}": contents[number % _CONTENTS] for number in range(FILES)}


def _kill_during(stage: ScenarioStage, name: str, chance: random.Random) -> None:
    for _ in range(stage.rounds):
        plane = stage.start_plane()
        stage.wait_for(partial(_is_begun, stage, name), "LEASE-1", f"a claim of {name!r}", every=_LOOK_EVERY)
        plane.kill_after(chance.uniform(0, _LONGEST))
        _put_back(stage, name)
    plane = stage.start_plane()
    stage.wait_for_job(name)
    plane.kill()
    stage.reach(name)


def _steps(stage: ScenarioStage) -> list[dict[str, Any]]:
    """Of each content all but the first file go."""
    kept: dict[str, Row] = {}
    rows = stage.rows("library_files", "content_hash IS NOT NULL")
    pairs = [(row, kept.setdefault(row["content_hash"], row)) for row in rows]
    return [step_between(row, first) for row, first in pairs if row is not first][:STEPS]


def _is_begun(stage: ScenarioStage, name: str) -> bool:
    return bool(stage.rows("jobs", "id = :id AND status <> 'pending'", id=name))


def _put_back(stage: ScenarioStage, name: str) -> None:
    """What the control plane does about a plane that is known to be dead."""
    stage.write(
        "UPDATE jobs SET status = 'pending', worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL "
        "WHERE id = :id AND status IN ('running', 'retryable')",
        id=name,
    )
