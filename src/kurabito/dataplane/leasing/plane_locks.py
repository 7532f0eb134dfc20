"""The sign of life that data planes on one SQLite file give: a lock that the kernel lets go of when the process dies.

A data plane that finds such a lock free ends the leases of its plane at once, and another goes on with the work. On PostgreSQL
a plane may be on any machine, so that only its leases show that it died, or the supervisor that started it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kurabito.clock import Clock, SystemClock
from kurabito.db import Database
from kurabito.db.grace import planes_folder
from kurabito.logs import get_logger
from kurabito.protocol import planes
from kurabito.rounds import Rounds
from kurabito.runtime.worker.locks import WorkerLock, expire_dead_workers

_EVERY: Final = 0.5

_log = get_logger(__name__)


class PlaneLocks:
    """The locks of the data planes of one database.

    with locks.held(name):      # this process is a data plane
        await locks.run()       # and sees to others that died
    """

    def __init__(self, database: Database, *, heartbeat: float | None = None, clock: Clock | None = None) -> None:
        self._database = database
        self._heartbeat = heartbeat
        self._clock = clock or SystemClock()
        workers = database.workers_folder
        self.folder = None if workers is None else planes_folder(workers)
        """None where a lock would say nothing."""

    @contextmanager
    def held(self, name: str) -> Iterator[None]:
        """Be known to live under this name; raises InvalidInput when another living plane has it."""
        if self.folder is None:
            yield
            return
        with WorkerLock(self.folder, name, self._heartbeat) as lock:
            if lock.predecessor_died:
                # No other plane can find that one dead any more: its lock is ours now.
                self._database.write_blocking(lambda conn: planes.expire(conn, name))
            yield

    async def expire_dead(self) -> list[str]:
        """See to planes that died; their names."""
        return [] if self.folder is None else await expire_dead_workers(self.folder, self._expire)

    async def run(self) -> None:
        """Go on until cancelled."""
        never = asyncio.Event()
        rounds = Rounds("dead data plane not recovered", self._clock)
        while True:
            await rounds.do(self.expire_dead)
            await self._clock.wait(never, _EVERY)

    async def _expire(self, name: str) -> None:
        rows = await self._database.write(lambda conn: planes.expire(conn, name))
        _log.warning("data plane died", plane=name, rows=rows)
