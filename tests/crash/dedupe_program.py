"""Runs `kurabito dedupe --delete` in processes that kill themselves at a chosen moment.

Reads a line of JSON for each: `paths`, `state`, and `kill_at`, the n-th touch of the disk (a file is about to be renamed,
linked or removed, a folder made), or `kill_after`, in seconds. Answers with how the process ended: `killed`, or `done` when it
came to no such moment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from kurabito.cli.collection import duplicates

TOUCHES = {"os.rename", "os.link", "os.remove", "os.mkdir"}


def work(paths: list[str], state: str, kill_at: int = 0, kill_after: float = 0.0) -> None:
    passed, ours = 0, os.getpid()

    def pass_by(event: str, _: tuple[Any, ...]) -> None:
        nonlocal passed
        # The processes that read for it are not meant: they end with it.
        if event in TOUCHES and os.getpid() == ours:
            passed += 1
            if passed == kill_at:
                os.kill(ours, signal.SIGKILL)

    sys.addaudithook(pass_by)
    if kill_after:
        killer = threading.Timer(kill_after, os.kill, (ours, signal.SIGKILL))
        killer.daemon = True
        killer.start()
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(quiet, stream)
    duplicates.run(duplicates.Asked([Path(path) for path in paths], state=Path(state), delete=True, yes=True))


for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        try:
            work(**order)
        finally:
            # Whatever happened, this copy of the program must not read the next line.
            os._exit(1 if sys.exc_info()[0] else 0)
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    sys.stdout.write({0: "done", -signal.SIGKILL: "killed"}.get(ended, f"failed with {ended}") + "\n")
    sys.stdout.flush()
