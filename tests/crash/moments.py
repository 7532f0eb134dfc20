"""Programs that kill themselves at a chosen moment: before or after the n-th statement, or after the commit.

They read lines of JSON, each an order with a `moment`, and answer with how the process ended: `killed`, or `done` when it came to no
such moment. Moment 0 never comes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from kurabito.db.postgres.connection import PostgresConnection
from kurabito.db.sqlite.connection import SqliteConnection


def die_at(moment: int) -> Callable[[], None]:
    """Count moments from now on, and die at this one; what is returned is a moment of its own."""
    passed = 0

    def pass_by() -> None:
        nonlocal passed
        passed += 1
        if passed == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    kind: Any
    for kind in (SqliteConnection, PostgresConnection):

        def watched(conn: Any, sql: str, params: Any, execute: Any = kind._execute) -> Any:
            pass_by()
            answer = execute(conn, sql, params)
            pass_by()
            return answer

        kind._execute = watched
    return pass_by


def serve(work: Callable[..., None]) -> None:
    """Carry out each order in a process of its own."""
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
