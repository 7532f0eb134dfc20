"""Data planes that checkpoint and die at a chosen moment.

Reads a line of JSON for each plane that is to work, forks it, and answers with how that ended: `done` or `killed`. A moment is
the n-th of these: the database is about to be asked or was asked, a transaction has begun or is about to be committed, the log
is about to be moved or was moved. `kill_after` is in seconds instead, wherever it is then.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from typing import Any

from kurabito.clock import ManualClock
from kurabito.dataplane.checkpoints import CheckpointWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import Connection, open_database
from kurabito.protocol import planes
from kurabito.protocol.rights import DATA_PLANE


class Moments:
    """Counts moments, and at one of them kills this process."""

    def __init__(self, kill_at: int = 0, kill_after: float = 0.0) -> None:
        self._kill_at = kill_at
        self._passed = 0
        if kill_after:
            killer = threading.Timer(kill_after, os.kill, (os.getpid(), signal.SIGKILL))
            killer.daemon = True
            killer.start()

    def pass_by(self) -> None:
        self._passed += 1
        if self._passed == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


def work(url: str, name: str, now: int, **moment: Any) -> None:
    """Do the checkpoint that waits."""
    database = open_database(url, create=False, rights=DATA_PLANE, clock=ManualClock(now))
    database.open()
    moments = Moments(**moment)
    write = database.write_blocking

    def writing(fn: Callable[[Connection], Any], *, durable: bool = True) -> Any:
        def inside(conn: Connection) -> Any:
            moments.pass_by()
            answer = fn(conn)
            moments.pass_by()
            return answer

        moments.pass_by()
        answer = write(inside, durable=durable)
        moments.pass_by()
        return answer

    def connect() -> sqlite3.Connection:
        moments.pass_by()
        raw: sqlite3.Connection = database.connect()  # type: ignore[attr-defined]
        # Asked before each statement, and so before the log is moved.
        raw.set_trace_callback(lambda _: moments.pass_by())
        return raw

    database.write_blocking(lambda conn: planes.announce(conn, name, [], "1", 10.0**6))
    database.write_blocking = writing  # type: ignore[method-assign]
    Runner(database, CheckpointWork(connect, patience=30.0), name=name, heartbeat=60.0).work()
    moments.pass_by()
    database.close()


for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            work(**json.loads(line))
        finally:
            # Whatever happened, this copy of the program must not read the next line.
            os._exit(1 if sys.exc_info()[0] else 0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.stdout.write({0: "done", -signal.SIGKILL: "killed"}.get(code, f"failed with {code}") + "\n")
    sys.stdout.flush()
