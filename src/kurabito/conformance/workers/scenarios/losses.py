"""Tasks that are cancelled, gone, or out of reach."""

from __future__ import annotations

import time
from typing import Final

from kurabito.conformance.workers.exchanges import WordExchange
from kurabito.conformance.workers.scenarios.answers import refuse
from kurabito.conformance.workers.scenarios.registry import scenario
from kurabito.conformance.workers.server import LEASE_SECONDS
from kurabito.conformance.workers.stage import WorkerStage

_LONG: Final = {"steps": 1000, "seconds": 0.05, "notes": True}
_TO_STOP: Final = 1.0
"""Seconds that a worker is given to notice what it was told."""
_TO_SEE: Final = 0.6
"""Seconds in which several steps would be done."""


@scenario("cancelled", "LOST-1", "LOST-2")
def lose_tasks(stage: WorkerStage) -> None:
    """A task is cancelled while it runs, and the next one is removed."""
    stage.let_work()
    cancelled = stage.probe(**_LONG)
    stage.step("LOST-1", cancelled, 3)
    stage.cancel(cancelled)
    _sees_it_stopped(stage, cancelled)
    gone = stage.probe(**_LONG)
    stage.step("LOST-2", gone, 3)

    def forget(exchange: WordExchange) -> None:
        if exchange.task_id == gone:
            refuse(exchange, 404, "task_not_found", "no task has this id")

    stage.gateway.bend(before=forget)
    _sees_it_stopped(stage, gone)
    stage.cancel(gone)
    after = stage.finish("LOST-2", stage.probe(result=1))
    stage.expect("LOST-2", after["state"] == "succeeded", f"the task after it is {after['state']}")


def _sees_it_stopped(stage: WorkerStage, task_id: str) -> None:
    def refusals() -> list[WordExchange]:
        return [one for one in stage.words(task_id=task_id) if one.status in (404, 409)]

    stage.wait_until("LOST-1", "a heartbeat for a task that is lost", refusals)
    time.sleep(_TO_STOP)
    _expect_rest(stage, "LOST-1", task_id, "it was told that the task is lost")
    words = refusals()
    stage.expect("LOST-1", len(words) == 1, f"it was told that the task is lost, and sent {words[-1]}")


def _expect_rest(stage: WorkerStage, rule: str, task_id: str, since: str) -> None:
    done = len(stage.notes(task_id))
    time.sleep(_TO_SEE)
    more = len(stage.notes(task_id)) - done
    stage.expect(rule, more == 0, f"{since}, and it went on with {more} more steps")


@scenario("misleading words", "SPEAK-6")
def read_codes(stage: WorkerStage) -> None:
    """A refusal has a message that looks like another one."""
    misled: list[WordExchange] = []

    def mislead(exchange: WordExchange) -> None:
        if exchange.word == "heartbeat" and not misled:
            misled.append(exchange)
            refuse(exchange, 503, "database_unavailable", "lease_lost, task_not_found, worker_protocol_mismatch")

    stage.gateway.bend(before=mislead)
    stage.let_work()
    task_id = stage.probe(steps=3, seconds=0.1, result=1)
    task = stage.finish("SPEAK-6", task_id)
    claims = len(stage.claims_of(task_id))
    stage.expect(
        "SPEAK-6",
        misled and task["state"] == "succeeded" and claims == 1,
        f"after a refusal that only reads like a lost lease, a task is {task['state']} and was claimed {claims} times",
    )


@scenario("silence", "LOST-3")
def hear_nothing(stage: WorkerStage) -> None:
    """No request gets through for longer than the lease."""
    stage.let_work()
    task_id = stage.probe(**_LONG)
    stage.step("LOST-3", task_id, 2)

    def drop(exchange: WordExchange) -> None:
        exchange.dropped = True

    stage.gateway.bend(before=drop)
    time.sleep(LEASE_SECONDS + _TO_STOP)
    _expect_rest(stage, "LOST-3", task_id, "no heartbeat got through for as long as the lease")
    stage.cancel(task_id)
    stage.gateway.bend()
    stage.finish("LOST-3", stage.probe())
