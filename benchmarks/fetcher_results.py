"""How long `kurabito serve` takes for 1,000 results of a fetcher: sent, read, stored, linked and answered.

Every result is a new release, of one of a hundred series; the database is SQLite in a new state folder.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.db import Connection, open_database
from processes import BenchmarkBroken

MOST_SECONDS: Final = 1.0
_SERIES: Final = 100
_KEY: Final = "a key for the benchmark"
_GROUPS: Final = ("Kura", "Tōji", "酒造組")
_SUBSCRIBE: Final = (
    "INSERT INTO subscriptions (name, url, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES ('feed', 'https://feeds.example', 'add', 'missing', 1, :now, :now) RETURNING id"
)


def run(options: Options) -> Outcome:
    """A new server in each round, which gets the results once and then once more."""
    count = options.size(1_000, quick=20)
    rounds = [_measure(count, options) for _ in range(options.rounds)]
    first, again = (statistics.median(times) for times in zip(*rounds, strict=True))
    passed = None if options.quick else first < MOST_SECONDS
    rows = [
        Row(f"{count:,} results to /fetcher-results", number(first, " s"), "-", "-", f"< {MOST_SECONDS:g} s", passed),
        Row("the same results again", number(again, " s"), "-", "-", "-", None),
    ]
    return Outcome(rows, [f"{_SERIES} new series, {count:,} new links; one request, SQLite with synchronous=FULL"])


def _measure(count: int, options: Options) -> tuple[float, float]:
    """Seconds for the results when they are new, and when they are known."""
    if not options.quick:
        wait_for_quiet()
    with _serving() as (url, state):
        body = json.dumps({"subscription_id": _subscribe(state), "items": _items(count), "success": True}).encode()
        _post(url, json.dumps({"subscription_id": 1, "items": [], "success": True}).encode())
        times = []
        for _ in range(2):
            began = time.perf_counter()
            answer = _post(url, body)
            times.append(time.perf_counter() - began)
            if answer["items_parsed"] != count:
                raise BenchmarkBroken(f"of {count} results {answer['items_parsed']} were understood")
        if (links := _ask(state, "SELECT count(*) FROM anime_links")) != count:
            raise BenchmarkBroken(f"{count} results made {links} links")
    print(f"  new: {times[0]:.3f} s, known: {times[1]:.3f} s", flush=True)
    return times[0], times[1]


def _items(count: int) -> list[dict[str, Any]]:
    return [
        {
            "title": f"[{_GROUPS[place % 3]}] 蔵の物語 {place % _SERIES} / Kura no Monogatari {place % _SERIES} - "
            f"{place // _SERIES + 1:02} [WEB-DL 1080p AVC AAC][CHS]",
            "description": "a made-up release, as long as descriptions usually are; " * 3,
            "download_url": f"magnet:?xt=urn:btih:{place:040x}&dn=release-{place}&tr=udp%3A%2F%2Ftracker.example",
            "pub_date": "2026-01-02T03:04:05+08:00",
        }
        for place in range(count)
    ]


def _post(url: str, body: bytes) -> dict[str, Any]:
    headers = {"X-Api-Key": _KEY, "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/fetcher-results", body, headers), timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def _subscribe(state: Path) -> int:
    return _ask(state, _SUBSCRIBE)


def _ask(state: Path, sql: str) -> int:
    database = open_database(f"sqlite:///{state / 'kurabito.db'}", create=False)
    database.open()

    def ask(conn: Connection) -> int:
        row = conn.one(sql)
        assert row is not None
        return int(row[0])

    try:
        return database.write_blocking(ask)
    finally:
        database.close()


@contextmanager
def _serving() -> Iterator[tuple[str, Path]]:
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as state:
        environment = {
            **os.environ,
            "KURABITO_STATE": state,
            "KURABITO_API_KEY": _KEY,
            "KURABITO_LOG_LEVEL": "warning",
        }
        command = [sys.executable, "-m", "kurabito.cli", "serve", "--port", "0"]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            words = process.stdout.readline().split()
            if words[:3] != ["Kurabito", "listens", "on"]:
                raise BenchmarkBroken(f"serve did not start: {words}")
            yield words[3], Path(state)
        finally:
            process.terminate()
            process.wait(30)


if __name__ == "__main__":
    run_alone("fetcher_results", run)
