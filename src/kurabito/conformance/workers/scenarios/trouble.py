"""A server that is restarted, answers slowly, or whose answer is lost; a wrong key."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Final

from kurabito.conformance.workers.exchanges import WordExchange
from kurabito.conformance.workers.scenarios.answers import refuse
from kurabito.conformance.workers.scenarios.registry import scenario
from kurabito.conformance.workers.server import LEASE_SECONDS
from kurabito.conformance.workers.stage import WorkerStage

# A little less than a tenth of a second: the gateway sees requests later than they were sent, some more than others.
_SHORTEST_WAIT: Final = 0.07
_SLOW: Final = {"claim": LEASE_SECONDS * 0.4, "heartbeat": LEASE_SECONDS * 0.25}
_WATCH_SECONDS: Final = 2.5


@scenario("restarted server", "TROUBLE-1")
def survive_a_restart(stage: WorkerStage) -> None:
    """The server goes down while a task runs, and comes back."""
    stage.let_work()
    task_id = stage.probe(steps=12, seconds=0.1, notes=True)
    stage.step("TROUBLE-1", task_id, 2)
    stage.gateway.upstream = None
    stage.server.stop()
    stage.server.start()
    stage.gateway.upstream = stage.server.port
    task = stage.finish("TROUBLE-1", task_id)
    stage.expect(
        "TROUBLE-1", task["state"] == "succeeded", f"after a restart of the server, the task is {task['state']}"
    )
    in_vain = [one for one in stage.words() if one.dropped]
    for first, second in pairwise(in_vain):
        wait = second.asked_at - first.asked_at
        if (first.path, first.raw) == (second.path, second.raw) and wait < _SHORTEST_WAIT:
            stage.expect("TROUBLE-1", False, f"a request without an answer was sent again after {wait:.3f} s: {second}")
            return


@scenario("lost answer", "TROUBLE-2")
def lose_an_answer(stage: WorkerStage) -> None:
    """A completion takes effect, and its answer does not arrive."""
    lost: list[WordExchange] = []

    def lose(exchange: WordExchange) -> None:
        if exchange.word == "complete" and not lost:
            lost.append(exchange)
            exchange.dropped, exchange.status = True, None

    stage.gateway.bend(after=lose)
    stage.let_work()
    task_id = stage.probe(result=1)
    stage.wait_until("TROUBLE-2", "a completion", lambda: lost)
    stage.finish("TROUBLE-2", stage.probe())
    said = [one.word for one in stage.words(task_id=task_id) if one.word != "heartbeat"]
    stage.expect(
        "TROUBLE-2", said[:2] == ["complete"] * 2, f"the answer to its completion was lost, and it said {said}"
    )
    stage.expect("TROUBLE-2", "fail" not in said, f"it reported a task as failed that succeeded: {said}")


@scenario("slow answers", "TROUBLE-3")
def wait_for_answers(stage: WorkerStage) -> None:
    """Answers take a while."""

    def dawdle(exchange: WordExchange) -> None:
        if exchange.word != "claim" or exchange.claimed():
            time.sleep(_SLOW.get(exchange.word or "", 0.0))

    stage.gateway.bend(after=dawdle)
    stage.let_work()
    task_id = stage.probe(steps=2, seconds=0.2, result=1)
    task = stage.finish("TROUBLE-3", task_id)
    claims = len(stage.claims_of(task_id))
    stage.expect(
        "TROUBLE-3",
        task["state"] == "succeeded" and claims == 1 and task["lost_leases"] == 0,
        f"a task is {task['state']}, was claimed {claims} times and lost {task['lost_leases']} workers",
    )


@scenario("wrong key", "TROUBLE-4", handles_process=True)
def have_a_wrong_key(stage: WorkerStage) -> None:
    """The worker's key is none of the server's."""

    def shut_out(exchange: WordExchange) -> None:
        refuse(exchange, 401, "not_authenticated", "this key is unknown or revoked")

    stage.gateway.bend(before=shut_out)
    worker = stage.start_worker("no key of this server")
    stage.wait_until("TROUBLE-4", "a first request", lambda: list(stage.words()))
    code = worker.wait(_WATCH_SECONDS)
    asked = len(list(stage.words()))
    stage.expect("TROUBLE-4", asked == 1, f"it sent {asked} requests with a key that was refused")
    stage.expect("TROUBLE-4", code != 0, "it ended with the exit code 0")
