"""Shows the way of a piece of work through the code: way.py task | scan

    task   from `enqueue` to the end of a task, on SQLite: claim, handler, settlement
    scan   from the request for a scan of a small library to its end, in each process that takes part

It lists the files of the package in which a function runs, in the order in which the work reaches them. Fewer files mean
that a reader of the way opens fewer files. What runs while a module is imported does not count.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Set
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any, Final

import kurabito

PACKAGE: Final = str(Path(kurabito.__file__).parent) + os.sep
_IMPORTING: Final = "<frozen importlib._bootstrap>"
_TASKS: Final = 5
_FILES: Final = 6
_IDLE_SECONDS: Final = 3.0


class Trace:
    """The files of the package that are entered, in this process."""

    def __init__(self, written: Path | None = None) -> None:
        self.entered: list[str] = []
        self._known: set[str] = set()
        self._written = written
        """Where it is written down too, once the file beside it says that the work begins."""

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        file = code.co_filename
        # The body of a class or of a module is a call too, but no function.
        if event != "call" or file in self._known or not code.co_flags & CO_OPTIMIZED:
            return
        if not file.startswith(PACKAGE) or _is_importing(frame):
            return
        if self._written is not None:
            if not _begin_file(self._written).exists():
                return
            # At once: a process may be killed, and one that multiprocessing started ends without a word.
            with self._written.open("a") as lines:
                lines.write(f"{os.getpid()}\t{file.removeprefix(PACKAGE)}\n")
        self._known.add(file)
        self.entered.append(file.removeprefix(PACKAGE))

    def begin(self) -> None:
        """Forget what was entered so far."""
        self.entered = []
        self._known.clear()

    def start(self) -> None:
        """Look at every call in this thread and in those that are started later."""
        threading.setprofile(self)
        sys.setprofile(self)


def _begin_file(written: Path) -> Path:
    return written.with_suffix(".begin")


def _stop_tracing() -> None:
    sys.setprofile(None)
    threading.setprofile(None)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            return True
        frame = frame.f_back
    return False


async def way_of_a_task() -> list[str]:
    """The files that every one of a few tasks passes: what runs beside them now and then is not on their way."""
    from kurabito.runtime import Registry, Worker, open_queue

    registry = Registry()

    @registry.task("greet")
    async def greet(name: str) -> str:
        return f"hello {name}"

    trace = Trace()
    trace.start()
    ways = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "way.db")
        async with open_queue(f"sqlite:///{file}") as queue, Worker(queue, registry, heartbeat=60.0, lease=120.0):
            for number in range(1, _TASKS + 1):
                trace.begin()
                await queue.enqueue("greet", "you")
                await _until(file, "SELECT count(*) FROM tasks WHERE state = 'succeeded'", number)
                ways.append(trace.entered)
    _stop_tracing()
    return [file for file in ways[-1] if all(file in way for way in ways)]


async def way_of_a_scan() -> dict[str, tuple[list[str], set[str]]]:
    """By process: the files of a scan, and those among them that run while nothing is asked for, too."""
    idle, busy = await _scanned(ask=False), await _scanned(ask=True)
    return {role: (files, set(idle.get(role, ())).intersection(files)) for role, files in busy.items()}


async def _scanned(*, ask: bool) -> dict[str, list[str]]:
    """What a server and a data plane that run already enter while they scan a library, or wait."""
    from kurabito.app.compose.library import open_library
    from kurabito.db import migrate
    from kurabito.db.migrate import PRODUCT
    from kurabito.library.libraries import LibrarySettings
    from kurabito.library.loop import Reconciler
    from kurabito.library.scans.queue import TaskPriority
    from kurabito.runtime import open_queue
    from kurabito.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        state, films = _furnish(Path(folder))
        file = state / "kurabito.db"
        trace = Trace()
        trace.start()
        async with open_queue(f"sqlite:///{file}") as opened:
            queue: Any = opened
            await asyncio.to_thread(migrate, queue.database, PRODUCT)
            library = open_library(Settings(state=state), queue, Reconciler(queue))
            kept = await library.libraries.create(str(films), LibrarySettings(name="films"))
            with _data_plane(state) as written:
                await _until(file, "SELECT count(*) FROM data_planes", 1)
                trace.begin()
                _begin_file(written).touch()
                if ask:
                    await library.scans.submit_task(kept.library.id, TaskPriority.NORMAL)
                    await _until(file, "SELECT count(*) FROM tasks WHERE state = 'succeeded'", 1)
                else:
                    await asyncio.sleep(_IDLE_SECONDS)
            entered = {"the server": trace.entered, **_read(written)}
            await library.scans.shutdown()
        _stop_tracing()
        return entered


def _furnish(folder: Path) -> tuple[Path, Path]:
    """A state folder, and a folder with a few files."""
    state, films = folder / "state", folder / "films"
    state.mkdir()
    films.mkdir()
    for number in range(_FILES):
        (films / f"film-{number}.mkv").write_bytes(os.urandom(1000))
    return state, films


@contextmanager
def _data_plane(state: Path) -> Iterator[Path]:
    """A data plane at work; where it and the processes that it starts write down the files that they enter."""
    hook = state.parent / "hook"
    hook.mkdir()
    written = hook / "way"
    # Python imports this module in every process that is started with the folder on its path.
    start = f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import way; way.trace_to({str(written)!r})"
    (hook / "sitecustomize.py").write_text(start)
    path = os.pathsep.join([str(hook), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-m", "kurabito.cli", "dataplane"],
        env={**os.environ, "PYTHONPATH": path, "KURABITO_STATE": str(state)},
        cwd=state.parent,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield written
    finally:
        # The way ends here: what a process does when it is told to stop belongs to no task and to no scan.
        _begin_file(written).unlink(missing_ok=True)
        process.terminate()
        process.wait()


def _read(written: Path) -> dict[str, list[str]]:
    entered: dict[str, list[str]] = {}
    first = None
    for line in written.read_text().splitlines():
        process, file = line.split("\t")
        first = first or process
        files = entered.setdefault("the data plane" if process == first else "the processes that it started", [])
        if file not in files:
            files.append(file)
    return entered


def trace_to(file: str) -> None:
    """Write down what this process enters, as long as it lives."""
    Trace(Path(file)).start()


async def _until(file: Path, question: str, answer: int) -> None:
    """Wait until the database gives this answer. Asked here, because every question to the package has a way of its own."""
    while True:
        conn = sqlite3.connect(file)
        try:
            if conn.execute(question).fetchone()[0] >= answer:
                return
        finally:
            conn.close()
        await asyncio.sleep(0.01)


def _print(title: str, files: list[str], beside: Set[str] = frozenset()) -> None:
    apart = sum(file.startswith("db/") for file in files)
    idle = f", {len(beside)} of them also while idle" if beside else ""
    print(f"{title}: {len(files)} files, {len(files) - apart} without those of the database layer{idle}")
    for place, file in enumerate(files, 1):
        print(f"{place:4} {file}{'  (also while idle)' if file in beside else ''}")


def main() -> None:
    """Print the way that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=["task", "scan"])
    if parser.parse_args().work == "task":
        _print("a task, from enqueue to settle", asyncio.run(way_of_a_task()))
        return
    for role, (files, beside) in asyncio.run(way_of_a_scan()).items():
        _print(f"a scan, in {role}", files, beside)


if __name__ == "__main__":
    main()
