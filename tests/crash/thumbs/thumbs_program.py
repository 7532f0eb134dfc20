"""Data planes that draw and remove thumbnails and die at a chosen moment.

Reads a line of JSON for each that is to work, forks it, and answers with how that ended: `done` when nothing was left, or `killed`.

A moment is the n-th of these: a file or folder is about to be opened, made, renamed or removed; a picture is being drawn; the
database is about to be asked or was asked; a transaction has begun, or is about to be committed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kurabito.dataplane.leasing.runner import LeasedWork, Runner
from kurabito.dataplane.thumbnails.cleanup import CleanupWork
from kurabito.dataplane.thumbnails.job import ThumbnailWork
from kurabito.dataplane.thumbnails.picture import DrawnPicture, Wanted
from kurabito.db import Connection, Database, open_database
from kurabito.protocol import planes
from kurabito.protocol.enums import MediaType
from kurabito.protocol.rights import DATA_PLANE

TOUCHES = {"open", "os.rename", "os.remove", "os.mkdir", "os.scandir"}


class Moments:
    """Counts moments, and at one of them kills this process."""

    def __init__(self, kill_at: int) -> None:
        self._left = kill_at

    def pass_by(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, database: Database) -> None:
        read, write = database.read_blocking, database.write_blocking

        def reading(fn: Callable[[Connection], Any]) -> Any:
            self.pass_by()
            return read(fn)

        def inside(conn: Connection, fn: Callable[[Connection], Any]) -> Any:
            self.pass_by()
            answer = fn(conn)
            self.pass_by()
            return answer

        def writing(fn: Callable[[Connection], Any], *, durable: bool = True) -> Any:
            self.pass_by()
            answer = write(lambda conn: inside(conn, fn), durable=durable)
            self.pass_by()
            return answer

        database.read_blocking = reading  # type: ignore[method-assign]
        database.write_blocking = writing  # type: ignore[method-assign]


class Tracing:
    """Draws a file as itself, twice: half a picture can be told from a whole one."""

    def __init__(self, moments: Moments) -> None:
        self._moments = moments

    def draw(self, fd: int, wanted: Wanted) -> DrawnPicture:
        content = os.read(fd, 1 << 20)
        self._moments.pass_by()
        return DrawnPicture(content * 2, wanted.max_dimension, wanted.max_dimension, len(content))

    def interrupt(self) -> None:
        pass

    def close(self) -> None:
        pass


def work(url: str, state: str, name: str, kill_at: int) -> None:
    """Do everything that waits."""
    moments = Moments(kill_at)
    database = open_database(url, create=False, rights=DATA_PLANE)
    database.open()
    database.write_blocking(lambda conn: planes.announce(conn, name, [], "1", 10.0**6))
    moments.watch(database)
    sys.addaudithook(lambda event, _: moments.pass_by() if event in TOUCHES else None)
    drawing = Tracing(moments)
    works: list[LeasedWork[Any]] = [
        *(ThumbnailWork(media_type, drawing, state=Path(state)) for media_type in MediaType),
        CleanupWork(state=Path(state)),
    ]
    runners = [Runner(database, work, name=name, heartbeat=60.0) for work in works]
    while any(runner.work() for runner in runners):
        pass
    database.close()


for order in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            work(**json.loads(order))
        finally:
            # Whatever happened, this copy of the program must not read the next line.
            os._exit(1 if sys.exc_info()[0] else 0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    sys.stdout.write({0: "done", -signal.SIGKILL: "killed"}.get(code, f"failed with {code}") + "\n")
    sys.stdout.flush()
