"""Real worker processes, on both databases, and what they wrote down before they died."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from tests.support.commands import Command
from tests.support.waiting import PATIENCE

from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue

PROGRAM = Path(__file__).with_name("worker_program.py")


@dataclass(frozen=True)
class Line:
    """One line of the log that the processes share."""

    what: str
    worker: str
    pid: int
    at: int
    task: str | None = None
    attempt: int | None = None
    execution: str | None = None


class MachineClock:
    """The clock of a machine, for the processes that are started with its `path` as their option `clock`."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._ahead = 0
        self.jump(0)

    def jump(self, seconds: float) -> None:
        """Set it forward, or back."""
        self._ahead += round(seconds * 1e9)
        with Path(self.path).open("r+b" if Path(self.path).exists() else "w+b") as file:
            file.write(struct.pack("q", self._ahead))


class Fleet:
    """Worker processes on one queue."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.died: dict[str, int] = {}
        """When each killed worker was sent its signal, by its name."""
        self._log = folder / "effects.log"
        self._read = 0
        self._lines: list[Line] = []
        self._names = 0
        self._living: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def living(self) -> list[str]:
        ended = {name: process.returncode for name, process in self._living.items() if process.poll() is not None}
        assert not ended, f"workers ended by themselves: {ended}"
        return list(self._living)

    def command(self, **options: Any) -> list[str]:
        """How to start a worker process with these options."""
        return [sys.executable, str(PROGRAM), json.dumps({"url": self.url, "log": str(self._log), **options})]

    def start(self, *, within: list[str] | None = None, **options: Any) -> str:
        """Start a worker process, `within` another program if given; its worker's name."""
        self._names += 1
        name = f"worker-{self._names:04}"
        self._living[name] = Command(
            [*(within or []), *self.command(**options)], env={**os.environ, "KURABITO_WORKER_NAME": name}
        )
        return name

    def take_ended(self) -> list[str]:
        """The workers that ended by themselves; none of them is counted among the living any more."""
        ended = [name for name, process in self._living.items() if process.poll() is not None]
        for name in ended:
            del self._living[name]
        return ended

    def kill(self, name: str) -> None:
        """SIGKILL, and wait until the process is gone."""
        process = self._living.pop(name)
        self.died[name] = time.time_ns()
        process.kill()
        process.wait()

    def signal(self, name: str, number: signal.Signals) -> None:
        self._living[name].send_signal(number)

    def freeze(self, worker: str) -> None:
        """Stop a worker at a moment when it holds no lock of the database, which it would keep while it stands still."""
        while True:
            self.signal(worker, signal.SIGSTOP)
            _wait_until_stopped(self._living[worker].pid)
            if _is_free(self.url):
                return
            self.signal(worker, signal.SIGCONT)
            time.sleep(0.03)

    def leave(self, *names: str) -> None:
        """SIGTERM, and wait until the processes left in good order."""
        for name in names or list(self._living):
            process = self._living.pop(name)
            process.terminate()
            status = process.wait(timeout=PATIENCE)
            # One that was started a moment ago is not listening yet, and has nothing to leave behind.
            ready = bool(self.lines("ready", worker=name))
            assert status == 0 or (status == -signal.SIGTERM and not ready)

    def lines(self, what: str | None = None, **like: Any) -> list[Line]:
        """What the processes wrote so far."""
        if self._log.exists():
            with self._log.open("rb") as log:
                log.seek(self._read)
                fresh = log.read()
            # A line that is being written at this moment is read the next time.
            whole = fresh[: fresh.rfind(b"\n") + 1]
            self._read += len(whole)
            self._lines += [Line(**json.loads(line)) for line in whole.splitlines()]
        return [
            line
            for line in self._lines
            if what in (None, line.what) and all(getattr(line, name) == value for name, value in like.items())
        ]

    async def until(self, what: str, *, count: int = 1, seconds: float = PATIENCE, **like: Any) -> Line:
        """The `count`-th line of this kind, once it is there."""

        def found() -> bool:
            return len(self.lines(what, **like)) >= count

        await eventually(found, seconds, f"{count} x {what} {like}")
        return self.lines(what, **like)[count - 1]

    def close(self) -> None:
        for process in self._living.values():
            # A stopped process takes SIGKILL too.
            process.kill()
            process.wait()


NewFleet = Callable[[str], Fleet]


async def eventually(condition: Callable[[], bool], seconds: float, wanted: str) -> None:
    """Wait for something that a process does."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not within {seconds} s: {wanted}"
        await asyncio.sleep(0.005)


def _wait_until_stopped(pid: int) -> None:
    """Wait until no thread of a process runs: one on another core goes on for a moment, and may take a lock in it."""
    while any(
        status.read_text().rpartition(")")[2].split()[0] != "T" for status in Path(f"/proc/{pid}/task").glob("*/stat")
    ):
        time.sleep(0.001)


def _is_free(url: str) -> bool:
    if url.startswith("sqlite"):
        file = sqlite3.connect(Path(urlsplit(url).path[1:]), timeout=0.1, isolation_level=None)
        try:
            file.execute("BEGIN IMMEDIATE")
            file.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return False
        finally:
            file.close()
        return True
    with psycopg.connect(url) as connection:
        try:
            connection.execute("SELECT 1 FROM tasks FOR UPDATE NOWAIT")
        except psycopg.errors.LockNotAvailable:
            return False
    return True


@pytest.fixture
async def queue(url: str) -> AsyncIterator[SqlQueue]:
    """A queue on the clock of the machine, as the processes have it that are killed."""
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        yield queue


@pytest.fixture
def machine_clock(tmp_path: Path) -> MachineClock:
    return MachineClock(tmp_path / "clock")


@pytest.fixture
def new_fleet(tmp_path: Path) -> Iterator[NewFleet]:
    """From the URL of a queue to a fleet on it."""
    with ExitStack() as fleets:
        yield lambda url: fleets.enter_context(closing(Fleet(url, tmp_path)))


@pytest.fixture
def fleet(url: str, new_fleet: NewFleet) -> Fleet:
    return new_fleet(url)
