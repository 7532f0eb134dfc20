"""`kurabito serve` as a real process."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import httpx2
import pytest


@contextmanager
def serving(state: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start `kurabito serve` on a free port and wait until it says where it listens."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from kurabito.cli import main; main()", "serve", "--port", "0"],
        env={**os.environ, "KURABITO_STATE": str(state), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        listening = re.fullmatch(r"Kurabito listens on (http://127\.0\.0\.1:\d+)\n", line)
        if listening is None:
            process.kill()
            pytest.fail(f"serve said {line!r} and then: {process.communicate()[1]}")
        yield process, listening[1]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_serve_answers_and_stops_cleanly(tmp_path: Path, stop: signal.Signals) -> None:
    state = tmp_path / "state"
    with serving(state) as (process, url):
        answer = httpx2.get(f"{url}/health")
        assert answer.json() == {"status": "ok", "version": version("kurabito"), "database": "sqlite"}
        assert stat.S_IMODE(state.stat().st_mode) == 0o700
        process.send_signal(stop)
        out, log = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert '"event": "stopped"' in log
    assert "Traceback" not in log


def test_serve_works_on_postgresql(tmp_path: Path, fresh_postgres: str) -> None:
    with serving(tmp_path, KURABITO_DATABASE=fresh_postgres) as (process, url):
        assert httpx2.get(f"{url}/health").json()["database"] == "postgresql"
        process.terminate()
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_an_unreachable_database_is_one_clear_line(tmp_path: Path) -> None:
    outcome = subprocess.run(
        [sys.executable, "-c", "from kurabito.cli import main; main()", "serve", "--port", "0"],
        env={
            **os.environ,
            "KURABITO_STATE": str(tmp_path),
            "KURABITO_DATABASE": "postgresql://me:hunter2@127.0.0.1:1/none",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("error: ")
    assert "hunter2" not in outcome.stderr
