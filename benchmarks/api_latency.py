"""How long the API takes to answer while a library of 200,000 files is scanned and then hashed, against when nothing happens.

A real `kurabito serve`, and a data plane with its default manners. One client each asks how a scan is doing
(`GET /scan-tasks/{id}`) and asks for another one (`POST /libraries/{id}/scan`), 50 times a second over a connection that
stays open. What is asked for waits behind the work that is under way, so asking again leads to the same task, also when
nothing happens: then that work waits for a data plane which is not there yet.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from processes import BenchmarkBroken

MOST_TIMES: Final = 3.0
MOST_MS: Final = 50.0
_PER_SECOND: Final = 50.0
_PER_FOLDER: Final = 20
_LONGEST: Final = 600.0
KEY: Final = "a key for the benchmark"
_COMMAND: Final = (sys.executable, "-m", "kurabito.cli")
_REQUESTS: Final = ("GET /scan-tasks/{id}", "POST /libraries/{id}/scan")
_IDLE, _SCAN, _HASH = "idle", "scan", "hash"

ApiRequest = tuple[str, str] | tuple[str, str, dict[str, Any]]
"""Method and place, and what is sent."""
Samples = dict[tuple[str, str], list[float]]
"""Milliseconds by what happened meanwhile and what was asked."""


def run(options: Options) -> Outcome:
    """In each round a new database: idle, a first scan, and the hashing of what it found."""
    files = options.size(200_000, quick=3000)
    samples: Samples = {(phase, request): [] for phase in (_IDLE, _SCAN, _HASH) for request in _REQUESTS}
    disturbed = 0
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as name:
        folder = Path(name)
        _make_tree(folder / "tree", files)
        (folder / "other").mkdir()
        (folder / "other" / "file").write_bytes(b"x")
        for number_ in range(1, options.rounds + 1):
            disturbed += not options.quick and not wait_for_quiet()
            _measure(folder, folder / f"state {number_}", options.size(15, quick=2), samples)
            print(f"  round {number_}/{options.rounds}  " + "; ".join(_shown(samples)), flush=True)
    rows = [_row(phase, request, samples, files, options) for phase in (_SCAN, _HASH) for request in _REQUESTS]
    notes = [*_shown(samples), "SQLite, data plane at nice 10 and idle I/O class; samples of all rounds together"]
    if disturbed:
        notes.append(f"**the machine was busy at {disturbed} of the rounds**")
    return Outcome(rows, notes)


def _row(phase: str, request: str, samples: Samples, files: int, options: Options) -> Row:
    busy, idle = p99(samples[phase, request]), p99(samples[_IDLE, request])
    passed = None if options.quick else busy <= MOST_TIMES * idle and busy <= MOST_MS
    return Row(
        f"{request} while {files:,} files are {'scanned' if phase == _SCAN else 'hashed'}, p99",
        number(busy, " ms"),
        f"{number(idle, ' ms')} (idle)",
        f"{busy / idle:.2f}x",
        f"≤ {MOST_TIMES:g}x and ≤ {MOST_MS:g} ms",
        passed,
    )


def _shown(samples: Samples) -> list[str]:
    return [
        f"{request}, {phase}: p50 {statistics.median(seen):.2f} ms, p99 {p99(seen):.2f} ms, max {max(seen):.1f} ms "
        f"of {len(seen)}"
        for (phase, request), seen in samples.items()
    ]


def p99(milliseconds: list[float]) -> float:
    return statistics.quantiles(milliseconds, n=100)[98] if len(milliseconds) > 1 else max(milliseconds)


def _make_tree(root: Path, files: int) -> None:
    """Small files, each with a content of its own and a size that others have too."""
    chance = random.Random(4)
    for place in range(files):
        folder = root / f"{place // _PER_FOLDER // 40:04}" / f"{place // _PER_FOLDER % 40:02}"
        if place % _PER_FOLDER == 0:
            folder.mkdir(parents=True)
        with (folder / f"{place:06}.jpg").open("wb") as file:
            file.write(place.to_bytes(8, "big"))
            os.truncate(file.fileno(), chance.randrange(8, 5000))


def _measure(folder: Path, state: Path, idle_seconds: float, samples: Samples) -> None:
    """Add one round's samples."""
    environment = {
        **os.environ,
        "KURABITO_STATE": str(state),
        "KURABITO_API_KEY": KEY,
        "KURABITO_LOG_LEVEL": "warning",
    }
    with serving(environment) as address:
        api = ApiClient(address)
        tree, other = (
            api.ask("POST", "libraries", name=name, path=str(folder / name))["id"] for name in ("tree", "other")
        )
        task = api.ask("POST", f"libraries/{tree}/scan")["task_id"]
        paths: dict[str, ApiRequest] = {
            _REQUESTS[0]: ("GET", f"scan-tasks/{task}"),
            _REQUESTS[1]: ("POST", f"libraries/{other}/scan"),
        }

        def during(phase: str, is_over: Callable[[], bool]) -> None:
            for request, taken in ask_at_a_pace(address, paths, is_over).items():
                samples[phase, request] += taken

        wait_until(lambda: api.ask("GET", f"scan-tasks/{task}")["status"] == "running")
        over = time.monotonic() + idle_seconds
        during(_IDLE, lambda: time.monotonic() >= over)
        # Nothing was asked over the first connection for so long that the server closed it.
        api = ApiClient(address)
        with _process([*_COMMAND, "dataplane"], environment):
            during(_SCAN, lambda: api.ask("GET", f"scan-tasks/{task}")["status"] != "running")
            wait_until(lambda: _is_running(api, "hash", tree))
            during(_HASH, lambda: not _is_running(api, "hash", tree))
        _check(api, task)


def _is_running(api: ApiClient, kind: str, library: int) -> bool:
    return bool(api.ask("GET", f"jobs?kind={kind}&library_id={library}&status=running")["items"])


def _check(api: ApiClient, task: str) -> None:
    scan = api.ask("GET", f"scan-tasks/{task}")
    if scan["status"] != "completed":
        raise BenchmarkBroken(f"the scan ended as {scan}")


def ask_at_a_pace(address: str, paths: dict[str, ApiRequest], is_over: Callable[[], bool]) -> dict[str, list[float]]:
    """Ask both at once, each by a client of its own, until it is over; the milliseconds that each answer took."""
    ending = threading.Event()
    taken: dict[str, list[float]] = {request: [] for request in paths}

    def ask(request: str) -> None:
        client, begin = ApiClient(address), time.perf_counter()
        for turn in range(sys.maxsize):
            # By the timetable: who is late asks the next one at once.
            if ending.wait(max(0.0, begin + turn / _PER_SECOND - time.perf_counter())):
                return
            asked = time.perf_counter()
            method, place, *body = paths[request]
            client.ask(method, place, **(body[0] if body else {}))
            taken[request].append(1000 * (time.perf_counter() - asked))

    clients = [threading.Thread(target=ask, args=(request,)) for request in paths]
    for client in clients:
        client.start()
    try:
        wait_until(is_over)
    finally:
        ending.set()
        for client in clients:
            client.join()
    return taken


class ApiClient:
    """Asks over one connection."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)

    def ask(self, method: str, place: str, **body: Any) -> Any:
        headers = {"X-Api-Key": KEY, "Content-Type": "application/json"}
        self._connection.request(method, f"/api/v1/{place}", json.dumps(body) if body else None, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise BenchmarkBroken(f"{method} {place} was answered with {answer.status}: {content[:300]!r}")
        return json.loads(content) if content else None


def wait_until(is_so: Callable[[], bool]) -> None:
    give_up = time.monotonic() + _LONGEST
    while not is_so():
        if time.monotonic() > give_up:
            raise BenchmarkBroken(f"it did not come to be within {_LONGEST:.0f} s")
        time.sleep(0.1)


@contextmanager
def serving(environment: dict[str, str]) -> Iterator[str]:
    """The address of a server without a data plane."""
    with _process([*_COMMAND, "serve", "--port", "0", "--no-dataplane"], environment) as process:
        assert process.stdout is not None
        listens = process.stdout.readline().split()
        if listens[:3] != ["Kurabito", "listens", "on"]:
            raise BenchmarkBroken("serve did not start")
        yield listens[3]


@contextmanager
def _process(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    run_alone("api_latency", run)
