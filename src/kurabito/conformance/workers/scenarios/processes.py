"""An idle worker, two of them, one that is killed, one that is asked to end."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Final

from kurabito.conformance.errors import ScenarioStuck
from kurabito.conformance.workers.exchanges import CLAIM
from kurabito.conformance.workers.scenarios.registry import scenario
from kurabito.conformance.workers.server import LEASE_SECONDS
from kurabito.conformance.workers.stage import WorkerStage

_WATCH_SECONDS: Final = 2.5
# A little less than the second of the rule: the gateway sees requests later than they were sent, some more than others.
_BETWEEN_CLAIMS: Final = 0.9
_TASKS: Final = 8


@scenario("idle", "CLAIM-3")
def rest(stage: WorkerStage) -> None:
    """There is nothing to do."""
    stage.let_work()
    stage.wait_until("CLAIM-3", "a first claim", lambda: list(stage.words(CLAIM)))
    time.sleep(_WATCH_SECONDS)
    for first, second in pairwise(stage.words(CLAIM)):
        wait = second.asked_at - first.asked_at
        if not first.claimed() and wait < _BETWEEN_CLAIMS:
            stage.expect("CLAIM-3", False, f"a claim that brought nothing was followed by the next after {wait:.2f} s")
            return


@scenario("two workers", "CLAIM-1", "CLAIM-2", handles_process=True)
def share(stage: WorkerStage) -> None:
    """Two of them share tasks that take a while."""
    stage.start_worker()
    stage.start_worker()
    tasks = [stage.probe(steps=2, seconds=LEASE_SECONDS / 8) for _ in range(_TASKS)]
    for task_id in tasks:
        task = stage.finish("CLAIM-2", task_id)
        claims = stage.claims_of(task_id)
        stage.expect(
            "CLAIM-2",
            task["state"] == "succeeded" and task["lost_leases"] == 0 and len(claims) == 1,
            f"a task is {task['state']} and was claimed {len(claims)} times",
        )
        first = next(stage.words(task_id=task_id)).asked_at - claims[0].asked_at
        stage.expect("CLAIM-2", first < LEASE_SECONDS * 0.75, f"a task was claimed {first:.1f} s before its first word")
    names = {claim.body.get("worker") for claim in stage.words(CLAIM)}
    stage.expect("CLAIM-1", len(names) == 2, f"two workers called themselves {sorted(map(str, names))}")


@scenario("killed", "KEEP-4", handles_process=True)
def be_killed(stage: WorkerStage) -> None:
    """The worker is killed in the middle of a task, and another takes over."""
    first = stage.start_worker()
    task_id = stage.probe(steps=8, seconds=0.15, notes=True)
    stage.step("KEEP-4", task_id, 3)
    first.kill()
    noted = len(stage.notes(task_id))
    stage.start_worker()
    stage.wait_until("KEEP-4", "a second claim", lambda: len(stage.claims_of(task_id)) == 2)
    task = stage.finish("KEEP-4", task_id)
    (known,) = [one["progress"]["done"] for one in stage.claims_of(task_id)[1].claimed()]
    again = [step for step in stage.notes(task_id)[noted:] if step <= known]
    stage.expect(
        "KEEP-4", not again, f"the claim said that {known} steps are done, and the steps {again} were done again"
    )
    stage.expect("KEEP-4", task["state"] == "succeeded", f"the task is {task['state']}")


@scenario("asked to end", "STOP-1", handles_process=True)
def be_asked_to_end(stage: WorkerStage) -> None:
    """The worker gets SIGTERM in the middle of a task, while others wait."""
    worker = stage.start_worker()
    task_id = stage.probe(steps=30, seconds=0.1)
    stage.step("STOP-1", task_id, 2)
    stage.probe()
    asked_at = time.monotonic()
    worker.ask_to_end()
    if worker.wait(stage.patience) is None:
        raise ScenarioStuck("STOP-1", f"it did not end within {stage.patience:g} s")
    task = stage.task(task_id)
    stage.expect(
        "STOP-1",
        task["state"] in ("queued", "retry_scheduled", "succeeded") and not task["lost_leases"] and not task["errors"],
        f"it ended, and its task is {task['state']}, lost {task['lost_leases']} workers, with {task['last_error']!r}",
    )
    late = [one for one in stage.words(CLAIM) if one.asked_at > asked_at and one.claimed()]
    stage.expect("STOP-1", not late, "it was asked to end, and claimed another task")
