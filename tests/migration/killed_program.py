"""Take-overs that die at a chosen moment.

Reads lines of JSON, `{"file": …, "kill_at": n}`, and for each takes a database over in a copy of this process that is killed
before the n-th statement of the take-over; 0 lets it live. Answers with how many statements there were, or with `killed`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from kurabito.db import Connection, open_database
from kurabito.db.migrate import PRODUCT, RUNTIME, migrate_together


def take_over(file: str, kill_at: int) -> int:
    statements = 0
    database = open_database(f"sqlite:///{file}")
    database.open()
    rebuild = database.rebuild_blocking

    def count(_: str) -> None:
        nonlocal statements
        statements += 1
        if statements == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(fn: Callable[[Connection], Any]) -> Any:
        def inside(conn: Connection) -> Any:
            # Triggers' statements count too, and so does the commit.
            conn.raw.set_trace_callback(count)
            return fn(conn)

        return rebuild(inside)

    database.rebuild_blocking = counted  # type: ignore[method-assign]
    migrate_together(database, (RUNTIME, PRODUCT))
    database.close()
    return statements


for line in sys.stdin:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(take_over(**json.loads(line))).encode())
        os._exit(0)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader) as told:
        print(told.read() if status == 0 else "killed" if os.WIFSIGNALED(status) else "failed", flush=True)  # noqa: T201
