"""Tasks for the worker, its processes, and what a scenario found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import uuid4

from kurabito.conformance.errors import ScenarioStuck
from kurabito.conformance.subject import ExaminedProcess
from kurabito.conformance.workers.exchanges import CLAIM, ENDS, WordExchange
from kurabito.conformance.workers.gateway import Gateway
from kurabito.conformance.workers.server import ExaminationServer
from kurabito.protocol.external import PROBE

T = TypeVar("T")

_LOOK_EVERY: Final = 0.03
_OVER: Final = frozenset({"succeeded", "dead", "cancelled", "retry_scheduled"})


class WorkerStage:
    """Where one scenario happens."""

    def __init__(
        self, server: ExaminationServer, gateway: Gateway, folder: Path, command: Sequence[str], patience: float
    ) -> None:
        self.server = server
        self.gateway = gateway
        self.patience = patience
        self.broken: list[tuple[str, str]] = []
        """The rules that the worker broke, each with its evidence."""
        self._folder = folder
        self._folder.mkdir(parents=True)
        self._command = command
        self._workers: list[ExaminedProcess] = []
        self._tasks: list[str] = []
        gateway.exchanges.clear()
        gateway.bend()

    def close(self) -> None:
        """Leave no process and no task behind."""
        for worker in self._workers:
            if not worker.has_ended:
                worker.kill()
        if self._workers:
            self.gateway.settle(self.patience)
        self.gateway.bend()
        for task_id in self._tasks:
            if self.task(task_id)["state"] not in ("succeeded", "dead", "cancelled"):
                self.cancel(task_id)

    def let_work(self) -> None:
        """Start the worker, unless it was started by hand, and is there already."""
        if self._command:
            self.start_worker()

    def start_worker(self, key: str | None = None) -> ExaminedProcess:
        """Start the worker."""
        told = {"URL": self.gateway.address, "API_KEY": self.server.key if key is None else key}
        worker = ExaminedProcess(self._command, told, self._folder / f"worker-{len(self._workers)}.log")
        self._workers.append(worker)
        return worker

    def probe(self, payload: Any = None, **order: Any) -> str:
        """Ask for a task that does this, beginning with its `notes` if it is to leave some; its id."""
        if payload is None:
            payload = order
            if order.pop("notes", False):
                payload["notes"] = str(self._folder / f"{uuid4().hex}.notes")
        task = self.server.ask("POST", "/api/v1/tasks", {"task_type": PROBE, "payload": payload})
        self._tasks.append(task["id"])
        return str(task["id"])

    def task(self, task_id: str) -> Mapping[str, Any]:
        """The task as the server has it."""
        found: Mapping[str, Any] = self.server.ask("GET", f"/api/v1/tasks/{task_id}")
        return found

    def tasks_of(self, task_type: str) -> list[Mapping[str, Any]]:
        """All tasks of a type."""
        return list(self.server.ask("GET", f"/api/v1/tasks?task_type={task_type}&limit=100")["items"])

    def cancel(self, task_id: str) -> None:
        """Take a task away from the worker."""
        self.server.ask("POST", f"/api/v1/tasks/{task_id}/cancel")

    def notes(self, task_id: str) -> list[int]:
        """The steps that were done, in their order."""
        path = Path(self.task(task_id)["payload"]["notes"])
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def words(self, word: str | None = None, *, task_id: str | None = None) -> Iterator[WordExchange]:
        """What the worker said: of one kind, or about one task."""
        for exchange in list(self.gateway.exchanges):
            if exchange.word and word in (None, exchange.word) and task_id in (None, exchange.task_id):
                yield exchange

    def claims_of(self, task_id: str) -> list[WordExchange]:
        """The claims that brought a task."""
        return [one for one in self.words(CLAIM) if any(task["id"] == task_id for task in one.claimed())]

    def expect(self, rule: str, kept: object, evidence: str) -> None:
        """Note that a rule was broken, unless it was kept."""
        if not kept:
            self.broken.append((rule, evidence))

    def wait_until(self, rule: str, what: str, look: Callable[[], T]) -> T:
        """Wait for something that a rule asks for; raises ScenarioStuck when it does not come."""
        until = time.monotonic() + self.patience
        while not (found := look()):
            if self._workers and all(worker.has_ended for worker in self._workers):
                raise ScenarioStuck(rule, f"the worker ended before {what}: {self._workers[-1].output}")
            if time.monotonic() > until:
                raise ScenarioStuck(rule, f"within {self.patience:g} s, {what} did not come about")
            time.sleep(_LOOK_EVERY)
        return found

    def finish(self, rule: str, task_id: str, *, also: Sequence[str] = ()) -> Mapping[str, Any]:
        """Wait until the worker has ended a task, in one way or the other, and was answered."""
        over = _OVER.difference(also)
        self.wait_until(rule, f"the end of task {task_id}", lambda: self.task(task_id)["state"] in over)
        # The server knows the end before the worker reads that it does.
        self.wait_until(rule, f"the answer to the end of task {task_id}", lambda: not self._unanswered_ends(task_id))
        return self.task(task_id)

    def _unanswered_ends(self, task_id: str) -> list[WordExchange]:
        said = self.words(task_id=task_id)
        return [one for one in said if one.word in ENDS and one.status is None and not one.dropped]

    def step(self, rule: str, task_id: str, number: int) -> None:
        """Wait until so many steps of a task are done, and the last of them is reported."""
        self.wait_until(rule, f"step {number}", lambda: self._reported(task_id) >= number)

    def _reported(self, task_id: str) -> int:
        progress = self.task(task_id)["progress"]
        return progress["done"] if progress else 0
