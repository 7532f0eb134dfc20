"""The part of a queue in a database that workers use, and how whatever changes there is made known."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from kurabito.clock import SECOND
from kurabito.db import leases
from kurabito.db.port import Connection, Database
from kurabito.runtime.outcomes import Claim, Settlement, Success
from kurabito.runtime.port import Beat, Claimed, Presence
from kurabito.runtime.sql.reading import SqlReads
from kurabito.runtime.sql.store import TaskStore, Told
from kurabito.runtime.tasks.intake import PreparedTask
from kurabito.runtime.worker.log import log_events
from kurabito.wakeup import Bell

T = TypeVar("T")


class WorkSide(SqlReads):
    """How tasks are claimed, kept and settled, and how they come back from workers that are lost."""

    def __init__(self, database: Database, store: TaskStore) -> None:
        super().__init__(database, store)
        self.arrivals = Bell()
        self.interrupts = Bell()
        self._reserved: frozenset[str] = frozenset()
        """Types that no worker may claim here."""

    async def claim(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        *,
        lease: float = 30.0,
        settling: Sequence[Settlement] = (),
    ) -> Claimed:
        def work(conn: Connection, told: Told) -> Claimed:
            lost = self._store.settle(conn, settling, told) if settling else []
            return self._claim(conn, worker, capacity, limit, lease, lost, told)

        claimed = await self._change(work)
        self._ring_for(settling)
        return claimed

    async def settle(self, settling: Sequence[Settlement]) -> builtins.list[Claim]:
        lost = await self._change(lambda conn, told: self._store.settle(conn, settling, told))
        self._ring_for(settling)
        return lost

    def heartbeat(
        self, beats: Sequence[Beat], *, lease: float = 30.0, presence: Presence | None = None
    ) -> builtins.list[Claim]:
        def work(conn: Connection) -> tuple[leases.Lost, Told]:
            told: Told = []
            lost = self._store.heartbeat(conn, beats, lease, told)
            if presence is not None:
                self._store.announce(conn, presence, lease)
            return lost, told

        lost, told = self.database.write_blocking(work)
        self._make_known(told)
        return [beat.claim for beat in beats if (beat.claim.key, beat.claim.owner) in lost]

    async def promote(self) -> int:
        count = await self._change(lambda conn, _: self._store.promote(conn))
        if count:
            self.arrivals.ring()
        return count

    async def recover(self) -> int:
        count = await self._change(self._store.recover)
        if count:
            self.arrivals.ring()
        return count

    async def expire_worker(self, name: str) -> int:
        return await self.database.write(lambda conn: self._store.expire(conn, name))

    async def now(self) -> int:
        return await self.database.read(lambda conn: conn.now())

    async def fire(self, schedule: str, tick: int, task: PreparedTask, *, next_tick: int | None = None) -> bool:
        fired = await self._change(lambda conn, told: self._store.fire(conn, schedule, tick, next_tick, task, told))
        if fired:
            self.arrivals.ring()
        return fired

    def depart(self, worker: str) -> None:
        self.database.write_blocking(lambda conn: conn.run(self._store.sql.depart, {"name": worker}))

    def _claim(
        self,
        conn: Connection,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        lease: float,
        lost: builtins.list[Claim],
        told: Told,
    ) -> Claimed:
        if self._reserved:
            capacity = {name: room for name, room in capacity.items() if name not in self._reserved}
        claims = self._store.claim(conn, worker, capacity, limit, lease, told)
        due = None if claims else self._store.due_in(conn)
        return Claimed(claims, lost, None if due is None else max(0, due) / SECOND)

    async def _change(self, work: Callable[[Connection, Told], T]) -> T:
        """Run a function in a transaction; once it is committed, log and make known what it told of."""
        if self._starting:
            # A stream tells of everything after the call that made it, so its starting point comes first.
            await asyncio.wait(self._starting)

        def run(conn: Connection) -> tuple[T, Told]:
            told: Told = []
            return work(conn, told), told

        answer, told = await self.database.write(run)
        self._make_known(told)
        return answer

    def _make_known(self, told: Told) -> None:
        for name, facts in told:
            log_events(name, facts)
        if told:
            self._changes.ring()

    def _ring_for(self, settling: Sequence[Settlement]) -> None:
        """Whatever did not simply succeed left something to claim, now or at a time that somebody has to know."""
        if any(type(outcome) is not Success or outcome.follow_ups for _, outcome in settling):
            self.arrivals.ring()
