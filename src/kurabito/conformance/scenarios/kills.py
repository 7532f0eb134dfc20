"""A plane that is killed again and again, at moments that a seed decides; each time another goes on."""

from __future__ import annotations

import random
from functools import partial
from typing import Final

from kurabito.conformance import trees
from kurabito.conformance.stage import ScenarioStage

FILES: Final = 1200
_LOOK_EVERY: Final = 0.005
_LONGEST: Final = 0.4
"""Seconds after a claim: by then such a job is over, on a machine that has nothing else to do."""


def kill(stage: ScenarioStage) -> None:
    """Kill planes in the middle of a scan and of a hash, and let the last one finish."""
    stage.needs("scan", "hash.blake3")
    folder = stage.library(1)
    for number in range(FILES):
        trees.write(folder, f"{number % 30}/{number}".encode(), b"%04d" % (number % 500) * (1 + number % 7))
    chance = random.Random(stage.seed)  # noqa: S311 - the same moments for the same seed
    for kind in ("scan", "hash"):
        stage.job(kind, kind, 1)
        for _ in range(stage.rounds):
            plane = stage.start_plane()
            stage.wait_for(partial(_is_begun, stage, kind), "LEASE-1", f"a claim of {kind!r}", every=_LOOK_EVERY)
            plane.kill_after(chance.uniform(0, _LONGEST))
            _put_back(stage, kind)
        plane = stage.start_plane()
        stage.wait_for_job(kind)
        plane.kill()
        stage.reach(kind)


def _is_begun(stage: ScenarioStage, name: str) -> bool:
    return bool(stage.rows("jobs", "id = :id AND status <> 'pending'", id=name))


def _put_back(stage: ScenarioStage, name: str) -> None:
    """What the control plane does about a plane that is known to be dead."""
    stage.write(
        "UPDATE jobs SET status = 'pending', worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL "
        "WHERE id = :id AND status IN ('running', 'retryable')",
        id=name,
    )
