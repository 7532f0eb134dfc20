"""`kurabito serve` and its like as real processes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import KURABITO, Command, run
from tests.support.waiting import PATIENCE, Until


@dataclass
class Served:
    """A `kurabito serve` that answers."""

    process: subprocess.Popen[str]
    url: str
    login: str
    log: Path

    def leave(self) -> tuple[int, str, str]:
        """Wait for the end: exit code, what else it printed, its log."""
        out, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, self.log.read_text()


class Commands:
    """Runs our commands on one state folder."""

    def __init__(self, state: Path, logs: Path, *, start: type[subprocess.Popen[str]] = Command) -> None:
        self.state = state
        self.descriptors: int | None = None
        """How many file descriptors a command that is started may have; None: as many as we."""
        self._logs = logs
        self._start = start

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command that ends by itself."""
        return run([*KURABITO, *arguments], env=self._environment(environment), timeout=PATIENCE)

    @contextmanager
    def started(self, *arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
        """A command that runs until it is told to stop, and the file that has its log."""
        log = self._logs / f"{len(list(self._logs.iterdir()))}.log"
        with log.open("wb") as stream:
            process = self._start(
                [*self._few_descriptors(), *KURABITO, *arguments],
                env=self._environment(environment),
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
            )
        try:
            yield process, log
        finally:
            process.kill()
            process.communicate()

    @contextmanager
    def serving(self, *options: str, **environment: str) -> Iterator[Served]:
        """`kurabito serve` on a free port, once it says where to click."""
        with self.started("serve", "--port", "0", *options, **environment) as (process, log):
            assert process.stdout is not None
            listens = process.stdout.readline().split()
            if listens[:3] != ["Kurabito", "listens", "on"]:
                pytest.fail(f"serve said {listens} and then: {log.read_text()}")
            yield Served(process, listens[3], process.stdout.readline().removeprefix("Log in with ").strip(), log)

    def _few_descriptors(self) -> list[str]:
        return [] if self.descriptors is None else ["sh", "-c", 'ulimit -n "$0" && exec "$@"', str(self.descriptors)]

    def _environment(self, further: dict[str, str]) -> dict[str, str]:
        # No test asks the world outside: nobody listens there.
        nowhere = {"KURABITO_BGM_URL": "http://127.0.0.1:9"}
        return {**os.environ, **nowhere, "NO_COLOR": "1", "KURABITO_STATE": str(self.state), **further}


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    (tmp_path / "logs").mkdir()
    return Commands(tmp_path / "state", tmp_path / "logs")


@pytest.fixture(scope="module")
def shared_commands(tmp_path_factory: pytest.TempPathFactory) -> Commands:
    """Commands for a process that several tests share."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "logs").mkdir()
    return Commands(folder / "state", folder / "logs")


@pytest.fixture
def until() -> Until:
    """Waits until something is so, and gives what was so; a real process takes the time it takes."""

    def wait(true: Callable[[], Any]) -> Any:
        give_up = time.monotonic() + PATIENCE
        while not (found := true()):
            assert time.monotonic() < give_up, "it never came to be"
            time.sleep(0.02)
        return found

    return wait
