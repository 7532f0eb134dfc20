"""Ordinary tasks with every kind of end, long ones, and clocks that differ."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from kurabito.conformance.workers.exchanges import ENDS, WordExchange
from kurabito.conformance.workers.gateway import Bend
from kurabito.conformance.workers.scenarios.answers import rewrite
from kurabito.conformance.workers.scenarios.registry import scenario
from kurabito.conformance.workers.server import LEASE_SECONDS
from kurabito.conformance.workers.stage import WorkerStage
from kurabito.protocol.external import LARGEST
from kurabito.protocol.external.version import HEADER

_RESULT: Final = {"ü": [1, None, 0.5], "": {}}
_LATER: Final = "conformance.later"
_VERSION: Final = re.compile(r"[0-9]+\.[0-9]+")
# Half of a lease is the rule; what the machine takes is not for the worker to answer for.
_LONGEST_GAP: Final = LEASE_SECONDS * 0.75


@scenario(
    "ordinary work",
    *("PROBE-1", "SPEAK-1", "SPEAK-5", "KEEP-3", "END-1", "END-2", "END-3", "END-4", "END-5", "FOLLOW-1"),
)
def do_ordinary_work(stage: WorkerStage) -> None:
    """One task after the other, each with another end."""
    stage.let_work()
    _complete(stage)
    _follow(stage)
    _fail(stage)
    _snooze(stage)
    _send_too_much(stage)
    _misread(stage)
    _look_at_all_words(stage)


def _complete(stage: WorkerStage) -> None:
    task_id = stage.probe(steps=3, seconds=0.05, notes=True, result=_RESULT)
    early: list[Any] = []

    def compare(exchange: WordExchange) -> None:
        done = exchange.body.get("done") if exchange.task_id == task_id else None
        if isinstance(done, int) and done > len(stage.notes(task_id)):
            early.append(done)

    stage.gateway.bend(before=compare)
    task = stage.finish("PROBE-1", task_id)
    stage.gateway.bend()
    stage.expect(
        "PROBE-1",
        (task["state"], task["result"]) == ("succeeded", _RESULT),
        f"a task is {task['state']} with the result {task['result']!r} instead of {_RESULT!r}",
    )
    stage.expect(
        "PROBE-1", stage.notes(task_id) == [1, 2, 3], f"the steps {stage.notes(task_id)} were noted, not 1 to 3"
    )
    stage.expect("KEEP-3", not early, f"step {early} was reported before it was done")


def _follow(stage: WorkerStage) -> None:
    before = len(stage.tasks_of(_LATER))
    orders = [{"task_type": _LATER, "payload": {"n": 1}}, {"task_type": _LATER, "delay": 3600.0}]
    stage.finish("FOLLOW-1", stage.probe(follow_ups=orders))
    made = len(stage.tasks_of(_LATER)) - before
    stage.expect("FOLLOW-1", made == 2, f"there are {made} follow-ups instead of 2")
    own = [one for one in stage.gateway.exchanges if one.method == "POST" and one.path == "/api/v1/tasks"]
    stage.expect("FOLLOW-1", not own, f"a task was enqueued by a request of its own: {own[:1]}")


def _fail(stage: WorkerStage) -> None:
    for end, state in (("fail", "retry_scheduled"), ("give up", "dead")):
        task = stage.finish("END-3", stage.probe(end=end, error=f"told to {end}: é"))
        stage.expect(
            "END-3",
            (task["state"], task["last_error"]) == (state, f"told to {end}: é"),
            f"after {end!r} a task is {task['state']} with the error {task['last_error']!r}",
        )


def _snooze(stage: WorkerStage) -> None:
    task_id = stage.probe(steps=2, snooze=1, notes=True)
    task = stage.finish("END-5", task_id, also=("retry_scheduled",))
    snoozes = [one.body.get("seconds") for one in stage.words("snooze", task_id=task_id)]
    stage.expect("END-5", snoozes == [1], f"a task that was to be snoozed for 1 second was snoozed for {snoozes}")
    stage.expect(
        "END-5",
        (task["state"], task["attempts"]) == ("succeeded", 1),
        f"a task that was snoozed is {task['state']} after {task['attempts']} attempts instead of 1",
    )


def _send_too_much(stage: WorkerStage) -> None:
    task_id = stage.probe(letters=LARGEST + 1)
    task = stage.finish("END-2", task_id)
    refused = [one.raw for one in stage.words(task_id=task_id) if one.status == 413]
    stage.expect("END-2", len(refused) == len(set(refused)), "a result that was too large was sent again as it was")
    stage.expect(
        "END-2",
        task["state"] in ("dead", "succeeded"),
        f"a task whose result is too large is {task['state']}, to be done again in vain",
    )


def _misread(stage: WorkerStage) -> None:
    task = stage.finish("END-4", stage.probe("no object"))
    stage.expect("END-4", task["state"] == "dead", f"a task whose payload cannot be read is {task['state']}")
    after = stage.finish("END-4", stage.probe(result="goes on"))
    stage.expect("END-4", after["state"] == "succeeded", f"the task after it is {after['state']}")


def _look_at_all_words(stage: WorkerStage) -> None:
    for word in stage.words():
        said = word.headers.get(HEADER.lower(), "")
        stage.expect("SPEAK-1", _VERSION.fullmatch(said), f"{HEADER} is {said!r} in {word}")
        kind = word.headers.get("content-type", "")
        is_json = kind.partition(";")[0].strip().lower() == "application/json" and word.body
        stage.expect("SPEAK-5", is_json and word.status not in (400, 422), f"{kind}: {word}")
    for claim in stage.words("claim"):
        for task in claim.claimed():
            ends = [one for one in stage.words(task_id=task["id"]) if one.token == task["lease_token"]]
            taken = [one.word for one in ends if one.word in ENDS and one.status == 200]
            sent = [one.word for one in ends if one.word in ENDS and one.status != 413]
            stage.expect("END-1", len(taken) == len(sent) == 1, f"task {task['id']} was ended with {sent}")


@scenario("clocks", "KEEP-1", "KEEP-2")
def differ_in_time(stage: WorkerStage) -> None:
    """The clocks of server and worker are hours apart, and a task takes longer than its lease."""
    stage.let_work()
    _work_at(stage, hours=-9, seconds=0.3)
    task_id = _work_at(stage, hours=9, seconds=LEASE_SECONDS * 1.4)
    moments = [one.asked_at for one in (stage.claims_of(task_id)[0], *stage.words(task_id=task_id))]
    longest = max(late - early for early, late in pairwise([*moments, moments[-1]]))
    stage.expect(
        "KEEP-1",
        longest <= _LONGEST_GAP and stage.task(task_id)["lost_leases"] == 0,
        f"{longest:.1f} s passed without a heartbeat; the lease has {LEASE_SECONDS:g} s",
    )


def _work_at(stage: WorkerStage, *, hours: int, seconds: float) -> str:
    stage.gateway.bend(after=_moved_by(hours))
    task_id = stage.probe(steps=1, seconds=seconds)
    task = stage.finish("KEEP-2", task_id)
    stage.expect(
        "KEEP-2",
        task["state"] == "succeeded" and task["lost_leases"] == 0 and len(stage.claims_of(task_id)) == 1,
        f"with a clock that is {hours} hours off, a task is {task['state']}, and lost {task['lost_leases']} workers",
    )
    return task_id


def _moved_by(hours: int) -> Bend:
    def move(fields: dict[str, Any]) -> None:
        for holder in (fields, *fields.get("tasks", ())):
            if holder.get("lease_expires_at"):
                ends = datetime.fromisoformat(holder["lease_expires_at"]) + timedelta(hours=hours)
                holder["lease_expires_at"] = ends.isoformat()

    return rewrite(move)
