"""A worker that is not part of Kurabito: plain Python, nothing installed, tasks over HTTP.

It plays an agent. Each task is a question, which it answers in steps; each step calls a tool in a process of its own.
Start Kurabito and make a key, then start the worker and ask for something:

    kurabito serve
    export KURABITO_API_KEY=$(kurabito key create agent --scope write)
    python examples/agent_worker.py work
    python examples/agent_worker.py ask "Why is the sea salty?" --steps 20

Kill the worker in the middle, as rudely as you like: `kill -9`. Its lease runs out, and the next worker goes on after the
last step that was reported. Everything that takes is in this file, and any language can do it: docs/worker-protocol.md has
the rules, whose numbers are named below. It keeps all of them:

    kurabito conformance --worker http://127.0.0.1:0 -- python examples/agent_worker.py work

A step may be done twice: when the worker dies after the tool has finished and before the report. So a step leaves its result
in a file named after it, and doing it again writes the same file.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

TASK_TYPE = "agent.answer"
PROBE = "kurabito.probe"
VERSION = "1.1"
VERSION_HEADER = "Kurabito-Worker-Protocol"
CLAIM_WAIT = 5

# A stand-in for what an agent calls: a search, a compiler, a model. It takes a while and writes down what it found.
TOOL = """
import os, sys, time
question, notes, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
time.sleep(seconds)
with open(notes + ".part", "w") as part:
    part.write(f"{question}: {len(question)} letters\\n")
os.replace(notes + ".part", notes)
"""

stopping = threading.Event()


class LeaseLostError(Exception):
    """The task was cancelled, or is another worker's."""


class StoppedError(Exception):
    """The worker was asked to end."""


class RefusedError(Exception):
    """The server understood, and said no."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code


class Kurabito:
    """The few words that a worker needs."""

    def __init__(self, url: str, key: str) -> None:
        self._api = url.rstrip("/") + "/api/v1"
        self._key = key
        self.lease_seconds = 30.0

    def call(self, method: str, path: str, body: dict[str, Any] | None = None, until: float | None = None) -> Any:
        """Ask, and ask again until the server answers: it may be restarted while a task is under way (TROUBLE-1)."""
        wait = 0.1
        while True:
            try:
                return self._ask(method, path, body)
            except RefusedError as refusal:
                if refusal.status not in (408, 429) and refusal.status < 500:
                    raise _meaning(refusal) from None
                problem: Exception = refusal
            except (OSError, http.client.HTTPException, ValueError) as trouble:
                problem = trouble
            if until is not None and time.monotonic() + wait > until:
                # LOST-3: by now the task may be another worker's.
                raise LeaseLostError(f"no answer for as long as the lease ({problem})")
            print(f"no answer ({problem}); asking again", flush=True)
            time.sleep(wait)
            wait = min(wait * 2, self.lease_seconds / 4)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the address is the user's own
            self._api + path,
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json", "X-Api-Key": self._key, VERSION_HEADER: VERSION},
            method=method,
        )
        try:
            # TROUBLE-3: a claim may take as long as it waits, and ten seconds.
            with urllib.request.urlopen(request, timeout=CLAIM_WAIT + 30) as answer:  # noqa: S310 - as above
                _check_version(answer.headers.get(VERSION_HEADER))
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                _check_version(refusal.headers.get(VERSION_HEADER))
                error = json.load(refusal)["error"]
            raise RefusedError(refusal.code, error["code"], error["message"]) from None


def _check_version(spoken: str | None) -> None:
    """SPEAK-2: another major version is another contract."""
    if spoken is not None and spoken.partition(".")[0] != VERSION.partition(".")[0]:
        raise SystemExit(f"the server speaks version {spoken} of the workers' protocol and this worker {VERSION}")


def _meaning(refusal: RefusedError) -> BaseException:
    """SPEAK-6: the status and the code say what to do, the message is for people."""
    if refusal.code in ("lease_lost", "task_not_found"):
        return LeaseLostError(str(refusal))
    if refusal.status in (401, 403) or refusal.code == "worker_protocol_mismatch":
        # SPEAK-3, TROUBLE-4: asking again would not help.
        return SystemExit(str(refusal))
    return refusal


class Lease:
    """One task while it is ours. A thread keeps it, whatever the work does meanwhile (KEEP-1)."""

    def __init__(self, kurabito: Kurabito, task: dict[str, Any], lease_seconds: float, asked: float) -> None:
        self.payload = task["payload"]
        self.first = task["progress"]["done"] if task["progress"] else 0
        self._kurabito = kurabito
        self._path = f"/worker/tasks/{task['id']}"
        self._token = {"lease_token": task["lease_token"]}
        self._seconds = lease_seconds
        # KEEP-2: counted with our own clock, from the moment of the request.
        self._ends = asked + lease_seconds
        self._over = threading.Event()
        self._lost: BaseException | None = None
        self._one_word = threading.Lock()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def rest(self, seconds: float) -> None:
        """Let time pass, unless the task is lost or the worker has to end."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, 0.05))
        self.check()

    def check(self) -> None:
        """Raise when there is nothing left to work for."""
        if self._lost is not None:
            raise self._lost
        if stopping.is_set():
            raise StoppedError

    def report(self, done: int, total: int) -> None:
        """Say how far the work is (KEEP-3)."""
        self._beat({"done": done, "total": total})
        self.check()

    def end(self, word: str, **body: Any) -> None:
        """Say how it ended, once (END-1). What was sent and not answered is sent again (TROUBLE-2)."""
        with self._one_word:
            if self._lost is not None:
                raise self._lost
            self._kurabito.call("POST", f"{self._path}/{word}", {**self._token, **body}, self._ends)
            self._over.set()

    def close(self) -> None:
        """No more heartbeats."""
        self._over.set()
        self._keeper.join()

    def _keep(self) -> None:
        while not self._over.wait(self._seconds / 3):
            self._beat({})

    def _beat(self, news: dict[str, int]) -> None:
        with self._one_word:
            if self._over.is_set() or self._lost is not None:
                return
            asked = time.monotonic()
            try:
                self._kurabito.call("POST", f"{self._path}/heartbeat", {**self._token, **news}, self._ends)
                self._ends = asked + self._seconds
            except (LeaseLostError, RefusedError, SystemExit) as problem:
                self._lost = problem


def answer(lease: Lease) -> dict[str, Any]:
    """Take one step after the other, beginning where the execution before this one was interrupted (KEEP-4)."""
    order = lease.payload
    steps = order["steps"]
    notes = [Path(order["folder"]) / f"step-{step}.txt" for step in range(1, steps + 1)]
    for step in range(lease.first, steps):
        _use_tool(lease, f"{order['question']} part {step + 1}", notes[step], order["seconds"])
        lease.report(step + 1, steps)
    return {"result": [path.read_text().strip() for path in notes]}


def _use_tool(lease: Lease, question: str, notes: Path, seconds: float) -> None:
    """Run the tool. When the lease is lost, it has nothing left to work for."""
    tool = subprocess.Popen([sys.executable, "-c", TOOL, question, str(notes), str(seconds)])  # noqa: S603 - ours
    try:
        while tool.poll() is None:
            lease.rest(0.05)
    finally:
        if tool.poll() is None:
            tool.kill()
            tool.wait()
    if tool.returncode != 0:
        raise RuntimeError(f"the tool failed on {question!r}")


def probe(lease: Lease) -> dict[str, Any]:
    """What the conformance kit asks for (PROBE-1)."""
    order = lease.payload
    steps = order.get("steps", 0)
    for step in range(lease.first, steps):
        lease.rest(order.get("seconds", 0))
        if order.get("notes"):
            with Path(order["notes"]).open("a") as notes:
                notes.write(f"{step + 1}\n")
        lease.report(step + 1, steps)
        if order.get("snooze") is not None and lease.first == 0:
            # END-5: no failure, and no lease that is kept for nothing.
            return {"seconds": order["snooze"]}
    if order.get("end", "complete") != "complete":
        return {"error": order.get("error", "as it was told to"), "permanent": order["end"] == "give up"}
    result = "x" * order["letters"] if "letters" in order else order.get("result")
    # FOLLOW-1: stored together with the success, or not at all.
    return {"result": result, "follow_ups": order.get("follow_ups", [])}


WORK: dict[str, Callable[[Lease], dict[str, Any]]] = {TASK_TYPE: answer, PROBE: probe}


def work(kurabito: Kurabito) -> None:
    """Claim and run tasks, one at a time (CLAIM-2), until the worker is asked to end."""
    name = f"agent-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
    order = {"worker": name, "task_types": list(WORK), "max": 1, "wait": CLAIM_WAIT}
    while not stopping.is_set():
        asked = time.monotonic()
        claimed = kurabito.call("POST", "/worker/claim", order)
        kurabito.lease_seconds = claimed["lease_seconds"]
        for task in claimed["tasks"]:
            run(Lease(kurabito, task, claimed["lease_seconds"], asked), task)


def run(lease: Lease, task: dict[str, Any]) -> None:
    print(f"process {os.getpid()} begins {task['id']} at step {lease.first + 1}", flush=True)
    try:
        end(lease, WORK[task["task_type"]])
        print(f"process {os.getpid()} ended {task['id']}", flush=True)
    except LeaseLostError as problem:
        # LOST-1: nothing more about this task. LOST-2: the next one may come.
        print(f"stopped: {problem}", flush=True)
    finally:
        lease.close()


def end(lease: Lease, do: Callable[[Lease], dict[str, Any]]) -> None:
    """Do the work, and say how it ended."""
    try:
        ended = do(lease)
    except StoppedError:
        # STOP-1: another worker may have it at once.
        lease.end("snooze", seconds=0)
        return
    except (AttributeError, LookupError, TypeError, ValueError) as problem:
        # END-4: a payload that cannot be read is not better tomorrow.
        lease.end("fail", error=f"{type(problem).__name__}: {problem}", permanent=True)
        return
    except (RuntimeError, OSError) as problem:
        lease.end("fail", error=f"{type(problem).__name__}: {problem}")
        return
    try:
        lease.end("snooze" if "seconds" in ended else "fail" if "error" in ended else "complete", **ended)
    except RefusedError as refusal:
        # END-2: too large, or not as the server takes it; the same again would be refused again.
        lease.end("fail", error=str(refusal), permanent=True)


def ask(kurabito: Kurabito, question: str, steps: int, seconds: float) -> None:
    """Ask, and wait for the answer."""
    folder = Path("agent-notes").absolute()
    folder.mkdir(exist_ok=True)
    order = {"question": question, "steps": steps, "seconds": seconds, "folder": str(folder)}
    task = kurabito.call("POST", "/tasks", {"task_type": TASK_TYPE, "payload": order, "unique_key": question[:200]})
    print(f"asked: {task['id']}", flush=True)
    while task["finished_at"] is None:
        time.sleep(0.2)
        task = kurabito.call("GET", f"/tasks/{task['id']}")
    print(f"{task['state']}, workers lost on the way: {task['lost_leases']}")
    print("\n".join(task["result"] or [task["last_error"]]))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--url", default=os.environ.get("KURABITO_URL", "http://127.0.0.1:8484"))
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("work", help="run tasks until Ctrl-C")
    asking = commands.add_parser("ask", help="ask a question and wait for the answer")
    asking.add_argument("question")
    asking.add_argument("--steps", type=int, default=10)
    asking.add_argument("--seconds", type=float, default=0.5, help="how long each step takes")
    given = parser.parse_args()
    kurabito = Kurabito(given.url, os.environ.get("KURABITO_API_KEY", ""))
    try:
        if given.command == "work":
            signal.signal(signal.SIGTERM, lambda *_: stopping.set())
            work(kurabito)
        else:
            ask(kurabito, given.question, given.steps, given.seconds)
    except RefusedError as problem:
        raise SystemExit(str(problem)) from None
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
