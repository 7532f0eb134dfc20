"""Another version, larger or smaller."""

from __future__ import annotations

from typing import Any, Final

from kurabito.conformance.subject import ExaminedProcess
from kurabito.conformance.workers.exchanges import CLAIM, WordExchange
from kurabito.conformance.workers.scenarios.answers import answer, rewrite
from kurabito.conformance.workers.scenarios.registry import scenario
from kurabito.conformance.workers.server import LEASE_SECONDS
from kurabito.conformance.workers.stage import WorkerStage
from kurabito.protocol.external.version import HEADER, SPOKEN

_NEXT_MAJOR: Final = f"{SPOKEN.major + 1}.0"
_LATE_MINOR: Final = f"{SPOKEN.major}.999"


@scenario("a later minor", "SPEAK-4")
def meet_a_later_minor(stage: WorkerStage) -> None:
    """Each answer has keys and headers that this version does not know."""

    def add(fields: dict[str, Any]) -> None:
        for holder in (fields, *fields.get("tasks", ())):
            holder["added_later"] = {"to": ["ignore"]}

    stage.gateway.bend(after=rewrite(add, **{HEADER: _LATE_MINOR, "Kurabito-Added-Later": "1"}))
    stage.let_work()
    task = stage.finish("SPEAK-4", stage.probe(steps=2, seconds=0.1, result=1))
    stage.expect("SPEAK-4", task["state"] == "succeeded", f"a task is {task['state']}: {task['last_error']}")


@scenario("another major", "SPEAK-2", handles_process=True)
def meet_another_major(stage: WorkerStage) -> None:
    """The answers are those of the next major version."""

    def speak_otherwise(exchange: WordExchange) -> None:
        answer(exchange, 200, {"tasks": [], "lease_seconds": LEASE_SECONDS}, **{HEADER: _NEXT_MAJOR})

    stage.gateway.bend(before=speak_otherwise)
    output = _ended(stage, "SPEAK-2", stage.start_worker())
    spoken = next(stage.words(CLAIM)).headers.get(HEADER.lower(), "")
    told = bool(spoken) and spoken in output and _NEXT_MAJOR in output
    stage.expect("SPEAK-2", told, f"it did not say that it speaks {spoken!r} and the server {_NEXT_MAJOR}: {output!r}")


@scenario("refused for its version", "SPEAK-3", handles_process=True)
def be_refused(stage: WorkerStage) -> None:
    """The server takes the worker for one of another major version."""

    def pose_as_another(exchange: WordExchange) -> None:
        exchange.headers[HEADER.lower()] = _NEXT_MAJOR

    stage.gateway.bend(before=pose_as_another)
    output = _ended(stage, "SPEAK-3", stage.start_worker())
    message = next(stage.words(CLAIM)).answered["error"]["message"]
    stage.expect("SPEAK-3", message in output, f"it did not show {message!r}, but {output!r}")


def _ended(stage: WorkerStage, rule: str, worker: ExaminedProcess) -> str:
    """What the worker said before it ended."""
    code = worker.wait(stage.patience)
    stage.expect(rule, code, f"it {'goes on' if code is None else 'ended with the exit code 0'}")
    claims = len(list(stage.words(CLAIM)))
    stage.expect(rule, claims == 1, f"it claimed {claims} times")
    return worker.output
