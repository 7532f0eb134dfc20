"""Handlers that leave something behind in their process. `test_isolation` runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from kurabito.runtime import Registry, TaskContext

registry = Registry()


@registry.task("goes on reporting", isolation="process")
def goes_on_reporting(ctx: TaskContext) -> None:
    def report() -> None:
        while True:
            _ = ctx.report(777, 999)
            time.sleep(0.01)

    threading.Thread(target=report, daemon=True).start()


@registry.task("says nothing", isolation="process")
def says_nothing() -> None:
    # Long enough for a thread that an earlier handler left in this process to speak.
    time.sleep(0.3)


@registry.task("stops its process", isolation="process")
def stops_its_process() -> int:
    def stop() -> None:
        # When the worker has heard that it ended.
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGSTOP)

    threading.Thread(target=stop, daemon=True).start()
    return os.getpid()


@registry.task("measures", isolation="process", time_limit=0.5, max_attempts=1)
def measures(text: str) -> int:
    return len(text)


@registry.task("starts a tool and exits", isolation="process", max_attempts=1)
def starts_a_tool_and_exits(file: str) -> None:
    tool = subprocess.Popen(["sleep", "60"])
    Path(file).write_text(str(tool.pid))
    os._exit(1)


@registry.task("kills what starts it", isolation="process", max_attempts=1)
def kills_what_starts_it() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
