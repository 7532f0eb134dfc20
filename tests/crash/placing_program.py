"""Data planes that bring files into a library and die at a chosen moment.

Reads a line of JSON for each plane that is to work, forks it, and answers with how that ended: `done` or `killed`. A moment is
the n-th of these: a file is about to be linked, renamed or removed, a folder to be made, a block of a copy to be written; a
transaction is about to be asked for, or was committed. With `named` the file system is taken for one where every file has a
name; with `apart` for one that cannot move a file without the danger of replacing another, nor swap two names.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.placing import copies, staged_file
from kurabito.dataplane.placing.work import PlacementWork
from kurabito.dataplane.removal import syscalls
from kurabito.db import open_database
from kurabito.protocol.rights import DATA_PLANE

TOUCHES = {"os.rename", "os.link", "os.remove", "os.mkdir"}
BLOCK = 4096


def before_and_after(act: Callable[..., Any], pass_by: Callable[[], None]) -> Callable[..., Any]:
    def watched(*given: Any, **options: Any) -> Any:
        pass_by()
        answer = act(*given, **options)
        pass_by()
        return answer

    return watched


def cannot_move(source: tuple[int, str], target: tuple[int, str]) -> None:
    # The kernel sees that they are on two file systems before it asks either of them.
    devices = {os.fstat(folder).st_dev for folder, _ in (source, target)}
    code = errno.EINVAL if len(devices) == 1 else errno.EXDEV
    raise OSError(code, os.strerror(code))


def work(url: str, moment: int, *, named: bool, apart: bool) -> None:
    passed = 0

    def pass_by() -> None:
        nonlocal passed
        passed += 1
        if passed == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    LeasedRow.write = before_and_after(LeasedRow.write, pass_by)  # type: ignore[method-assign]
    LeasedRow.settle = before_and_after(LeasedRow.settle, pass_by)  # type: ignore[method-assign]
    copies.write_all = before_and_after(copies.write_all, pass_by)
    copies._BLOCK = copies._CHUNK = BLOCK  # type: ignore[misc]
    if named:
        staged_file._UNNAMED = 0  # type: ignore[misc]
    if apart:
        syscalls.rename_without_replacing = cannot_move
        syscalls.swap = cannot_move  # type: ignore[assignment]
    sys.addaudithook(lambda event, _: pass_by() if event in TOUCHES else None)
    database = open_database(url, create=False, rights=DATA_PLANE)
    database.open()
    runner = Runner(database, PlacementWork(), name="plane", heartbeat=60.0)
    while runner.work():
        pass
    database.close()


for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            work(**json.loads(line))
        finally:
            # Whatever happened, this copy of the program must not read the next line.
            os._exit(1 if sys.exc_info()[0] else 0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.stdout.write({0: "done", -signal.SIGKILL: "killed"}.get(ended, f"failed with {ended}") + "\n")
    sys.stdout.flush()
