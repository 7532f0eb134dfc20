"""What a worker can do wrong, each as a change of the example; and the rule that it breaks."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

# The example as a module: it is no package that a type checker could find.
Worker = Any


@dataclass(frozen=True)
class Fault:
    """One fault."""

    rule: str
    cause: Callable[[Worker], None]


FAULTS: dict[str, Fault] = {}


def fault(name: str, rule: str) -> Callable[[Callable[[Worker], None]], Callable[[Worker], None]]:
    def register(cause: Callable[[Worker], None]) -> Callable[[Worker], None]:
        FAULTS[name] = Fault(rule, cause)
        return cause

    return register


def change_requests(worker: Worker, change: Callable[[str, dict[str, Any], dict[str, str]], None]) -> None:
    """Have each request changed: its path, body and headers."""
    make = worker.urllib.request.Request

    def changed(url: str, data: bytes | None, headers: dict[str, str], method: str) -> Any:
        body = json.loads(data or b"{}")
        change(url.rpartition("/")[2], body, headers)
        return make(url, json.dumps(body).encode(), headers, method=method)

    worker.urllib.request.Request = changed


def change_ends(worker: Worker, change: Callable[[Any, str, dict[str, Any]], tuple[str, dict[str, Any]]]) -> None:
    """Have each end changed."""
    end = worker.Lease.end

    def ending(lease: Any, word: str, **body: Any) -> None:
        word, body = change(lease, word, body)
        end(lease, word, **body)

    worker.Lease.end = ending


def take_for_trouble(worker: Worker, statuses: tuple[int, ...]) -> None:
    """Have some refusals taken for a server that does not answer."""
    ask = worker.Kurabito._ask

    def asking(kurabito: Any, *request: Any) -> Any:
        try:
            return ask(kurabito, *request)
        except worker.RefusedError as refusal:
            if refusal.status in statuses:
                raise OSError(str(refusal)) from None
            raise

    worker.Kurabito._ask = asking


@fault("says no version", "SPEAK-1")
def _says_no_version(worker: Worker) -> None:
    change_requests(worker, lambda _path, _body, headers: headers.__delitem__(worker.VERSION_HEADER))


@fault("works with every version", "SPEAK-2")
def _works_with_every_version(worker: Worker) -> None:
    worker._check_version = lambda _spoken: None


@fault("asks on when its version is refused", "SPEAK-3")
def _asks_on_when_refused(worker: Worker) -> None:
    take_for_trouble(worker, (400,))


@fault("knows every key, or ends", "SPEAK-4")
def _knows_every_key(worker: Worker) -> None:
    ask = worker.Kurabito._ask

    def asking(kurabito: Any, method: str, path: str, body: Any) -> Any:
        answer = ask(kurabito, method, path, body)
        if path == "/worker/claim" and set(answer) != {"tasks", "lease_seconds"}:
            raise SystemExit("an unknown key")
        return answer

    worker.Kurabito._ask = asking


@fault("sends a field of its own", "SPEAK-5")
def _sends_a_field_of_its_own(worker: Worker) -> None:
    change_requests(worker, lambda path, body, _: body.update({"took": 1.5} if path == "complete" else {}))


@fault("reads messages", "SPEAK-6")
def _reads_messages(worker: Worker) -> None:
    ask = worker.Kurabito._ask

    def asking(kurabito: Any, *request: Any) -> Any:
        try:
            return ask(kurabito, *request)
        except worker.RefusedError as refusal:
            if "lease_lost" in str(refusal):
                raise worker.LeaseLostError(str(refusal)) from None
            raise

    worker.Kurabito._ask = asking


@fault("has the name of another", "CLAIM-1")
def _has_the_name_of_another(worker: Worker) -> None:
    change_requests(worker, lambda path, body, _: body.update({"worker": "agent"} if path == "claim" else {}))


@fault("claims more than it begins", "CLAIM-2")
def _claims_more_than_it_begins(worker: Worker) -> None:
    change_requests(worker, lambda path, body, _: body.update({"max": 50} if path == "claim" else {}))


@fault("asks for tasks without a pause", "CLAIM-3")
def _asks_without_a_pause(worker: Worker) -> None:
    change_requests(worker, lambda path, body, _: body.update({"wait": 0} if path == "claim" else {}))


@fault("sends heartbeats late", "KEEP-1")
def _sends_heartbeats_late(worker: Worker) -> None:
    def keep(lease: Any) -> None:
        while not lease._over.wait(lease._seconds * 0.95):
            lease._beat({})

    worker.Lease._keep = keep


@fault("trusts its clock", "KEEP-2")
def _trusts_its_clock(worker: Worker) -> None:
    make = worker.Lease.__init__

    def made(lease: Any, kurabito: Any, task: Any, *others: Any) -> None:
        make(lease, kurabito, task, *others)
        if datetime.fromisoformat(task["lease_expires_at"]) < datetime.now(UTC):
            lease._lost = worker.LeaseLostError("over")

    worker.Lease.__init__ = made


@fault("reports a step before it is done", "KEEP-3")
def _reports_early(worker: Worker) -> None:
    report = worker.Lease.report
    worker.Lease.report = lambda lease, done, total: report(lease, min(done + 1, total), total)


@fault("begins at the beginning", "KEEP-4")
def _begins_at_the_beginning(worker: Worker) -> None:
    make = worker.Lease.__init__

    def made(lease: Any, *given: Any) -> None:
        make(lease, *given)
        lease.first = 0

    worker.Lease.__init__ = made


@fault("works on without the lease", "LOST-1")
def _works_on_without_the_lease(worker: Worker) -> None:
    worker.Lease.check = lambda _lease: None


@fault("ends when a task is lost", "LOST-2")
def _ends_when_a_task_is_lost(worker: Worker) -> None:
    run = worker.run

    def running(lease: Any, task: Any) -> None:
        run(lease, task)
        if lease._lost is not None:
            raise SystemExit(1)

    worker.run = running


@fault("works on unheard", "LOST-3")
def _works_on_unheard(worker: Worker) -> None:
    def beat(lease: Any, news: dict[str, int]) -> None:
        with suppress(OSError):
            lease._kurabito._ask("POST", f"{lease._path}/heartbeat", {**lease._token, **news})

    worker.Lease._beat = beat


@fault("ends a task twice", "END-1")
def _ends_a_task_twice(worker: Worker) -> None:
    def also(lease: Any, word: str, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        lease._kurabito.call("POST", f"{lease._path}/{word}", {**lease._token, **body})
        return word, body

    change_ends(worker, also)


@fault("sends a result again that is too large", "END-2")
def _sends_it_again(worker: Worker) -> None:
    def twice(lease: Any, word: str, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if len(str(body.get("result"))) > 1 << 20:
            with suppress(worker.RefusedError):
                lease._kurabito._ask("POST", f"{lease._path}/{word}", {**lease._token, **body})
        return word, body

    change_ends(worker, twice)


@fault("completes what failed", "END-3")
def _completes_what_failed(worker: Worker) -> None:
    change_ends(worker, lambda _, word, body: ("complete", {}) if word == "fail" else (word, body))


@fault("dies of a payload", "END-4")
def _dies_of_a_payload(worker: Worker) -> None:
    probe = worker.probe

    def probing(lease: Any) -> Any:
        if not isinstance(lease.payload, dict):
            raise SystemExit("what is this?")
        return probe(lease)

    worker.WORK[worker.PROBE] = probing


@fault("tries again what it cannot read", "END-4")
def _tries_again_what_it_cannot_read(worker: Worker) -> None:
    change_ends(worker, lambda _, word, body: (word, {**body, "permanent": False} if word == "fail" else body))


@fault("fails where it should wait", "END-5")
def _fails_where_it_should_wait(worker: Worker) -> None:
    change_ends(worker, lambda _, word, body: ("fail", {"error": "not yet"}) if word == "snooze" else (word, body))


@fault("enqueues follow-ups on its own", "FOLLOW-1")
def _enqueues_on_its_own(worker: Worker) -> None:
    def enqueue(lease: Any, word: str, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        for order in body.pop("follow_ups", ()):
            lease._kurabito.call("POST", "/tasks", order)
        return word, body

    change_ends(worker, enqueue)


@fault("ends when there is no answer", "TROUBLE-1")
def _ends_without_an_answer(worker: Worker) -> None:
    worker.Kurabito.call = lambda kurabito, method, path, body=None, _until=None: kurabito._ask(method, path, body)


@fault("asks again without a pause", "TROUBLE-1")
def _asks_again_without_a_pause(worker: Worker) -> None:
    worker.time = SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: time.sleep(min(seconds, 0.005)))


@fault("fails what may have succeeded", "TROUBLE-2")
def _fails_what_may_have_succeeded(worker: Worker) -> None:
    def once(lease: Any, word: str, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        try:
            lease._kurabito._ask("POST", f"{lease._path}/heartbeat", lease._token)
            lease._kurabito._ask("POST", f"{lease._path}/{word}", {**lease._token, **body})
        except OSError as problem:
            return "fail", {"error": str(problem)}
        raise worker.LeaseLostError("done")

    change_ends(worker, once)


@fault("has no patience", "TROUBLE-3")
def _has_no_patience(worker: Worker) -> None:
    ask = worker.urllib.request.urlopen
    worker.urllib.request.urlopen = lambda request, **_: ask(request, timeout=0.8)


@fault("tries a key again and again", "TROUBLE-4")
def _tries_a_key_again(worker: Worker) -> None:
    take_for_trouble(worker, (401,))


@fault("drops its task when it is asked to end", "STOP-1")
def _drops_its_task(worker: Worker) -> None:
    worker.signal = SimpleNamespace(
        SIGTERM=signal.SIGTERM, signal=lambda number, _: signal.signal(number, lambda *_: os._exit(0))
    )


@fault("does not end", "STOP-1")
def _does_not_end(worker: Worker) -> None:
    worker.signal = SimpleNamespace(
        SIGTERM=signal.SIGTERM, signal=lambda number, _: signal.signal(number, signal.SIG_IGN)
    )


@fault("forgets the result", "PROBE-1")
def _forgets_the_result(worker: Worker) -> None:
    change_ends(worker, lambda _, word, body: (word, {**body, "result": None} if word == "complete" else body))
