"""Does delete jobs in processes that kill themselves at a chosen moment.

Reads lines `<database file> <moment>` and answers each with how the process ended: `killed`, or `done` when it came to no such
moment. A moment is the n-th of these: before a file is renamed, linked, removed or a folder made; before and after a write to
the database. Moment 0 never comes.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.jobs import JobWork, LeasedJob
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import open_database
from kurabito.protocol import planes
from kurabito.protocol.enums import JobKind
from kurabito.protocol.rights import DATA_PLANE

TOUCHES = {"os.rename", "os.link", "os.remove", "os.mkdir"}


def work(file: str, moment: int) -> None:
    passed = 0

    def pass_by() -> None:
        nonlocal passed
        passed += 1
        if passed == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    write = LeasedJob.write

    def watched(job: LeasedJob, fn: Callable[[Any], Any], *, durable: bool = True) -> Any:
        pass_by()
        answer = write(job, fn, durable=durable)
        pass_by()
        return answer

    LeasedJob.write = watched  # type: ignore[method-assign, assignment]
    sys.addaudithook(lambda event, _: pass_by() if event in TOUCHES else None)
    database = open_database(f"sqlite:///{file}", create=False, rights=DATA_PLANE)
    database.open()
    database.write_blocking(lambda conn: planes.announce(conn, "plane", [], "1", 10.0**6))
    jobs = Runner(database, JobWork({JobKind.DELETE: delete}), name="plane", heartbeat=60.0)
    while jobs.work():
        pass
    database.close()


for line in sys.stdin:
    path, _, number = line.rstrip("\n").rpartition(" ")
    child = os.fork()
    if child == 0:
        try:
            work(path, int(number))
        finally:
            # Whatever happened, this copy of the program must not read the next line.
            os._exit(1 if sys.exc_info()[0] else 0)
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    sys.stdout.write({0: "done", -signal.SIGKILL: "killed"}.get(ended, f"failed with {ended}") + "\n")
    sys.stdout.flush()
