"""Fresh processes that start on one signal, and the shared memory in which their handlers leave marks.

Every measurement runs in processes of its own, so that no side inherits the other's event loop, caches or garbage.
A process that fails fails the measurement: its traceback is raised here.
"""

# mypy: disable-error-code="import-untyped"

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import os
import random
import threading
import time
import traceback
from collections.abc import AsyncIterator, Iterator, Sequence
from ctypes import Array, c_int64, c_ubyte
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Final, Self

import psutil

SPAWN: Final = multiprocessing.get_context("spawn")


class BenchmarkBroken(RuntimeError):
    """What was measured did not do its work, so there is no number to report."""


class Child:
    """A process that runs `function` of `module`, both named so that only the child imports them."""

    def __init__(self, module: str, function: str, *arguments: object) -> None:
        self._label = f"{module}.{function}"
        self._outcome, report = SPAWN.Pipe(duplex=False)
        self._process = SPAWN.Process(target=_report, args=(report, module, function, arguments), daemon=True)
        self._process.start()
        report.close()

    def check(self) -> None:
        """Raise if the process is over although it was not asked to end."""
        if self._process.exitcode is not None or self._outcome.poll():
            self.result()
            raise BenchmarkBroken(f"{self._label} ended before its work was done")

    def cpu_seconds(self) -> float:
        """The processor time that the process has used, while it runs."""
        used = psutil.Process(self._process.pid).cpu_times()
        return float(used.user + used.system)

    def result(self, seconds: float = 300.0) -> Any:  # what the function returned: it has any type
        """Wait for the process to end and give what its function returned."""
        try:
            if not self._outcome.poll(seconds):
                raise BenchmarkBroken(f"{self._label} did not end within {seconds:.0f} s")
            value, error = self._outcome.recv()
        except EOFError:
            raise BenchmarkBroken(f"{self._label} died without a word") from None
        self._process.join(10.0)
        if error is not None:
            raise BenchmarkBroken(f"{self._label} failed:\n{error}")
        return value

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.is_alive():
            self._process.kill()
        self._process.join(10.0)


def _report(report: Connection, module: str, function: str, arguments: tuple[object, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        value = getattr(importlib.import_module(module), function)(*arguments)
    except BaseException:
        report.send((None, traceback.format_exc()))
    else:
        report.send((value, None))


def _end_with_parent() -> None:
    """A worker waits for signals from its parent for ever; without one it would stay behind and disturb the next run."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def in_fresh_process(module: str, function: str, *arguments: object, seconds: float = 300.0) -> Any:
    """Run the function in a process of its own and give what it returned."""
    with Child(module, function, *arguments) as child:
        return child.result(seconds)


class Gate:
    """Workers connect, say that they are ready, and begin together when the gate opens."""

    def __init__(self) -> None:
        self._ready = SPAWN.Semaphore(0)
        self._open = SPAWN.Event()
        self._closed = SPAWN.Event()

    def pass_when_open(self) -> None:
        """For a worker: be ready, then wait for the signal."""
        self._ready.release()
        self._open.wait()

    def wait_for_close(self) -> None:
        """For a worker: work until there is nothing left to measure."""
        self._closed.wait()

    def wait_until_ready(self, children: Sequence[Child], seconds: float = 60.0) -> None:
        """Wait until every child is connected and waits for the signal."""
        deadline = time.monotonic() + seconds
        for _ in children:
            while not self._ready.acquire(timeout=0.05):
                for child in children:
                    child.check()
                if time.monotonic() > deadline:
                    raise BenchmarkBroken(f"the workers were not ready within {seconds:.0f} s")

    def open(self) -> float:
        """Give the signal, and the moment it was given."""
        moment = time.perf_counter()
        self._open.set()
        return moment

    def close(self) -> None:
        """Tell the workers to end."""
        self._closed.set()


class Runs:
    """How often each task ran; a handler marks its own index."""

    def __init__(self, tasks: int) -> None:
        self._counts: Array[c_ubyte] = SPAWN.RawArray(c_ubyte, tasks)

    def mark(self, index: int) -> None:
        self._counts[index] += 1

    def missing(self) -> int:
        """How many tasks have not run."""
        return bytes(self._counts).count(0)

    def verify(self) -> None:
        """Raise unless every task ran exactly once."""
        counts = bytes(self._counts)
        if (once := counts.count(1)) != len(counts):
            raise BenchmarkBroken(f"{once} of {len(counts)} tasks ran once; {counts.count(0)} did not run at all")


class Arrivals:
    """Tasks that arrive one at a time at an idle worker, each stamped when sent and when its handler starts.

    The pauses are random so that no side can profit from falling into step with its own polling. The first few, for
    which connections are made and statements prepared, do not count.
    """

    WARM_UP: Final = 10

    def __init__(self, tasks: int, pauses: tuple[float, float] = (0.015, 0.045)) -> None:
        self._sent: Array[c_int64] = SPAWN.RawArray(c_int64, self.WARM_UP + tasks)
        self._started: Array[c_int64] = SPAWN.RawArray(c_int64, self.WARM_UP + tasks)
        self._pauses = pauses

    def mark(self, index: int) -> None:
        """For the handler: it has started."""
        # The monotonic clock is one for all processes of a machine, so stamps of two processes can be subtracted.
        self._started[index] = time.perf_counter_ns()

    def __iter__(self) -> Iterator[int]:
        for index in range(len(self._sent)):
            time.sleep(random.uniform(*self._pauses))
            self._sent[index] = time.perf_counter_ns()
            yield index

    async def __aiter__(self) -> AsyncIterator[int]:
        for index in range(len(self._sent)):
            await asyncio.sleep(random.uniform(*self._pauses))
            self._sent[index] = time.perf_counter_ns()
            yield index

    def missing(self) -> int:
        """How many handlers have not started."""
        return list(self._started).count(0)

    def milliseconds(self) -> list[float]:
        """How long each task waited for its handler."""
        if missing := self.missing():
            raise BenchmarkBroken(f"{missing} of {len(self._started)} tasks never started")
        pairs = zip(self._sent, self._started, strict=True)
        return [(started - sent) / 1e6 for sent, started in pairs][self.WARM_UP :]
