"""Data planes that die or stand still at a chosen moment.

Reads a line of JSON for each plane that is to work, forks it, and answers with how that ended: `done` when no job was left,
`killed`, or `stopped PID` when it stands still. `{"wake": PID}` has one of those go on, and answers likewise.

A moment is the n-th of these, counted from where the first job begins: a file or folder is about to be opened, listed, moved,
linked, made or removed; the database is about to be asked or was asked; a transaction has begun, or is about to be committed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.hashing import job as hash_job
from kurabito.dataplane.jobs import Executor, JobWork, LeasedJob
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.db import Connection, Database, open_database
from kurabito.protocol import planes
from kurabito.protocol.enums import JobKind
from kurabito.protocol.rights import DATA_PLANE

TOUCHES = {"open", "os.scandir", "os.rename", "os.link", "os.remove", "os.mkdir"}
AT_ONCE = 40
"""Files that are written about together: few, so that there is much to come between."""


class Moments:
    """Counts moments, and at one of them kills or stops this process."""

    def __init__(self, kill_at: int = 0, kill_after: float = 0.0, stop_at: int = 0, stop_before: str = "") -> None:
        self._kill_at, self._kill_after, self._stop_at, self._stop_before = kill_at, kill_after, stop_at, stop_before
        self._begun = False
        self._passed = 0
        self._writing = 0
        self._gate = threading.RLock()

    def begin(self) -> None:
        if not self._begun and self._kill_after:
            # By the clock: wherever it is then, also in the middle of a commit.
            killer = threading.Timer(self._kill_after, os.kill, (os.getpid(), signal.SIGKILL))
            killer.daemon = True
            killer.start()
        self._begun = True

    def pass_by(self, touch: str = "") -> None:
        if not self._begun:
            return
        with self._gate:
            self._passed += 1
            if self._passed == self._kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if touch and touch == self._stop_before:
                self._stop_at, self._stop_before = self._passed, ""
            # Whoever stood still in a transaction of SQLite would hold up everybody else, as any program can.
            if self._stop_at and self._passed >= self._stop_at and not self._writing:
                self._stop_at = 0
                # To this very thread: else it could run on into a transaction until another one has taken the signal.
                signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)

    def watch(self, database: Database) -> None:
        """Count what is asked of the database."""
        read, write = database.read_blocking, database.write_blocking

        def reading(fn: Callable[[Connection], Any]) -> Any:
            self.pass_by()
            return read(fn)

        def writing(fn: Callable[[Connection], Any], *, durable: bool = True) -> Any:
            self.pass_by()
            with self._gate:
                self._writing += 1
            try:
                answer = write(lambda conn: self._inside(conn, fn), durable=durable)
            finally:
                with self._gate:
                    self._writing -= 1
            self.pass_by()
            return answer

        database.read_blocking = reading  # type: ignore[method-assign]
        database.write_blocking = writing  # type: ignore[method-assign]

    def _inside(self, conn: Connection, fn: Callable[[Connection], Any]) -> Any:
        self.pass_by()
        answer = fn(conn)
        self.pass_by()
        return answer

    def begun_by(self, executor: Executor) -> Executor:
        def execute(job: LeasedJob) -> None:
            self.begin()
            executor(job)

        return execute


def work(url: str, role: str, state: str, name: str, **moment: Any) -> None:
    """Do every job that waits."""
    hash_job.MOST_FILES = AT_ONCE  # type: ignore[attr-defined]
    hash_job._BETWEEN_WRITES = 0.0  # type: ignore[misc]
    moments = Moments(**moment)
    database = open_database(url, create=False, rights=DATA_PLANE, role=role)
    database.open()
    database.write_blocking(lambda conn: planes.announce(conn, name, [], "1", 10.0**6))
    moments.watch(database)
    sys.addaudithook(lambda event, _: moments.pass_by(event) if event in TOUCHES else None)
    executors: dict[JobKind, Executor] = {
        JobKind.SCAN: Scanner(Path(state), chunk=AT_ONCE),
        JobKind.HASH: hash_job.HashFiles(),
        JobKind.DELETE: delete,
    }
    watched = {kind: moments.begun_by(executor) for kind, executor in executors.items()}
    runner = Runner(database, JobWork(watched), name=name, heartbeat=60.0)
    while runner.work():
        pass
    database.close()


def start(order: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work(**order)
        finally:
            # Whatever happened, this copy of the program must not read the next line.
            os._exit(1 if sys.exc_info()[0] else 0)
    return child


def ended(child: int) -> str:
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return f"stopped {child}"
    code = os.waitstatus_to_exitcode(status)
    return {0: "done", -signal.SIGKILL: "killed"}.get(code, f"failed with {code}")


for line in sys.stdin:
    order = json.loads(line)
    if "wake" in order:
        os.kill(order["wake"], signal.SIGCONT)
        answer = ended(order["wake"])
    else:
        answer = ended(start(order))
    sys.stdout.write(answer + "\n")
    sys.stdout.flush()
