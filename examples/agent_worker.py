"""A worker that is not part of Kurabito: plain Python, nothing installed, tasks over HTTP.

It plays an agent. Each task is a question, which it answers in steps; each step calls a tool in a process of its own.
Start Kurabito and make a key, then start the worker and ask for something:

    kurabito serve
    export KURABITO_API_KEY=$(kurabito key create agent --scope write)
    python examples/agent_worker.py work
    python examples/agent_worker.py ask "Why is the sea salty?" --steps 20

Kill the worker in the middle, as rudely as you like: `kill -9`. Its lease runs out, and the next worker goes on after the
last step that was reported. Everything that takes is in this file, and any language can do it:

- `POST /api/v1/worker/claim` waits for a task and brings a lease token.
- `…/heartbeat` with that token keeps the task, and tells how far it is. The next claim of the task brings the progress.
- `…/complete` or `…/fail` end it. A 409 says that another worker has the task by now, or it was cancelled: stop, and claim
  the next one.
- A step may be done twice: when the worker dies after the tool has finished and before the report. So a step leaves its
  result in a file named after it, and doing it again writes the same file.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

TASK_TYPE = "agent.answer"

# A stand-in for what an agent calls: a search, a compiler, a model. It takes a while and writes down what it found.
TOOL = """
import os, sys, time
question, notes, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
time.sleep(seconds)
with open(notes + ".part", "w") as part:
    part.write(f"{question}: {len(question)} letters\\n")
os.replace(notes + ".part", notes)
"""


class LeaseLostError(Exception):
    """The task was cancelled, or is another worker's."""


class Kurabito:
    """The few words that a worker needs."""

    def __init__(self, url: str, key: str) -> None:
        self._api = url.rstrip("/") + "/api/v1"
        self._key = key

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask, and ask again until the server responds: a server may be restarted while a task is under way."""
        request = urllib.request.Request(  # noqa: S310 - the address is the user's own
            self._api + path,
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json", "X-Api-Key": self._key},
            method=method,
        )
        while True:
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
                    return json.load(answer)
            except urllib.error.HTTPError as refusal:
                raise _problem(refusal) from None
            except OSError as problem:
                print(f"no answer ({problem}); asking again", flush=True)
                time.sleep(1)


def _problem(refusal: urllib.error.HTTPError) -> Exception:
    with refusal:
        error = json.load(refusal)["error"]
    kind = LeaseLostError if error["code"] == "lease_lost" else RuntimeError
    return kind(f"{error['code']}: {error['message']}")


class Execution:
    """One task while it is ours."""

    def __init__(self, kurabito: Kurabito, task: dict[str, Any], lease_seconds: float) -> None:
        self._kurabito = kurabito
        self._path = f"/worker/tasks/{task['id']}"
        self._token = {"lease_token": task["lease_token"]}
        self._between_beats = lease_seconds / 3
        self._order = task["payload"]
        self.first = task["progress"]["done"] if task["progress"] else 0

    def run(self) -> list[str]:
        """Take one step after the other, beginning where the execution before this one was interrupted."""
        steps = self._order["steps"]
        notes = [Path(self._order["folder"]) / f"step-{step}.txt" for step in range(1, steps + 1)]
        for step in range(self.first, steps):
            self._use_tool(f"{self._order['question']} part {step + 1}", notes[step])
            self._kurabito.call("POST", f"{self._path}/heartbeat", {**self._token, "done": step + 1, "total": steps})
        return [path.read_text().strip() for path in notes]

    def complete(self, result: Any) -> None:
        self._kurabito.call("POST", f"{self._path}/complete", {**self._token, "result": result})

    def fail(self, error: str) -> None:
        self._kurabito.call("POST", f"{self._path}/fail", {**self._token, "error": error})

    def _use_tool(self, question: str, notes: Path) -> None:
        """Run the tool, and keep the task while it takes its time."""
        command = [sys.executable, "-c", TOOL, question, str(notes), str(self._order["seconds"])]
        tool = subprocess.Popen(command)  # noqa: S603 - a program of ours, its arguments no shell sees
        try:
            while tool.poll() is None:
                try:
                    tool.wait(self._between_beats)
                except subprocess.TimeoutExpired:
                    self._kurabito.call("POST", f"{self._path}/heartbeat", self._token)
        finally:
            # When the lease is lost, the tool has nothing left to work for.
            if tool.poll() is None:
                tool.kill()
                tool.wait()
        if tool.returncode != 0:
            raise RuntimeError(f"the tool failed on {question!r}")


def work(kurabito: Kurabito) -> None:
    """Claim and run tasks until Ctrl-C."""
    order = {"worker": f"agent-{socket.gethostname()}-{os.getpid()}", "task_types": [TASK_TYPE], "max": 1, "wait": 30}
    while True:
        claimed = kurabito.call("POST", "/worker/claim", order)
        for task in claimed["tasks"]:
            run(Execution(kurabito, task, claimed["lease_seconds"]), task)


def run(execution: Execution, task: dict[str, Any]) -> None:
    print(f"process {os.getpid()} begins {task['id']} at step {execution.first + 1}", flush=True)
    try:
        execution.complete(execution.run())
        print(f"process {os.getpid()} completed {task['id']}", flush=True)
    except LeaseLostError as problem:
        print(f"stopped: {problem}", flush=True)
    except (RuntimeError, LookupError, TypeError, OSError) as problem:
        execution.fail(f"{type(problem).__name__}: {problem}")


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
            work(kurabito)
        else:
            ask(kurabito, given.question, given.steps, given.seconds)
    except RuntimeError as problem:
        raise SystemExit(str(problem)) from None
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
