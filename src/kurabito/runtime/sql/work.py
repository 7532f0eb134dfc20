"""The worker's side of a queue in a database."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from kurabito.db import leases
from kurabito.db.port import Connection
from kurabito.logs import get_logger
from kurabito.runtime.events import PendingEvents
from kurabito.runtime.outcomes import Claim, Settlement
from kurabito.runtime.port import Beat, Claimed, ClaimsOnArrival, InstantClaims, ParkedClaim, Presence
from kurabito.runtime.sql.claims import ClaimStore
from kurabito.runtime.sql.store import INTERRUPT, Changes, TaskStore
from kurabito.runtime.tasks.intake import PreparedTask, known_id

_log = get_logger("kurabito.runtime")


class SqlWork:
    """How tasks are claimed, kept and settled, and how they come back from workers that are lost."""

    def __init__(
        self,
        changes: Changes,
        store: TaskStore,
        *,
        max_payload: int,
        locks_folder: Path | None = None,
        is_remote: bool = False,
    ) -> None:
        self.max_payload = max_payload
        self.locks_folder = locks_folder
        self.is_remote = is_remote
        self.arrivals = changes.arrivals
        self.interrupts = changes.interrupts
        self.instant: InstantClaims | None = None
        self.on_arrival: ClaimsOnArrival | None = None
        self.delegated: frozenset[str] = frozenset()
        """Types that no worker may claim here."""
        self._changes = changes
        self._database = changes.database
        self._store = store
        self._claims = ClaimStore(store)

    async def claim(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        *,
        lease: float = 30.0,
        settling: Sequence[Settlement] = (),
    ) -> Claimed:
        return await self._changes.run(self.turn(worker, capacity, limit, lease, settling))

    def turn(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        lease: float,
        settling: Sequence[Settlement] = (),
    ) -> Callable[[Connection, PendingEvents], Claimed]:
        """The change that `claim` makes."""
        if self.delegated:
            capacity = {name: room for name, room in capacity.items() if name not in self.delegated}
        return lambda conn, pending: self._claims.turn(conn, worker, capacity, limit, lease, settling, pending)

    async def held(self, task_id: UUID | str, owner: str) -> Claim:
        known = known_id(task_id)
        return await self._database.read(lambda conn: self._store.lookup.held(conn, known, owner))

    async def settle(self, settling: Sequence[Settlement]) -> list[Claim]:
        return await self._changes.run(lambda conn, pending: self._claims.settle(conn, settling, pending))

    def heartbeat(self, beats: Sequence[Beat], *, lease: float = 30.0, presence: Presence | None = None) -> list[Claim]:
        def work(conn: Connection, pending: PendingEvents) -> leases.Lost:
            lost = self._claims.heartbeat(conn, beats, lease, pending)
            if presence is not None:
                self._claims.announce(conn, presence, lease)
            return lost

        lost, pending = self._changes.run_blocking(work)
        self._changes.make_known(pending)
        return [beat.claim for beat in beats if (beat.claim.key, beat.claim.owner) in lost]

    async def promote(self) -> int:
        return await self._changes.run(self._store.promote)

    async def recover(self) -> int:
        return await self._changes.run(self._claims.recover)

    async def expire_worker(self, name: str) -> int:
        return await self._database.write(lambda conn: self._claims.expire(conn, name))

    async def now(self) -> int:
        return await self._database.read(lambda conn: conn.now())

    async def fire(self, schedule: str, tick: int, task: PreparedTask, *, next_tick: int | None = None) -> bool:
        return await self._changes.run(
            lambda conn, pending: self._store.fire(conn, schedule, tick, next_tick, task, pending)
        )

    def depart(self, worker: str) -> None:
        self._database.write_blocking(lambda conn: conn.run(self._store.tables.sql.depart, {"name": worker}))


class ParkedClaims:
    """Claims for workers at rest, made in the thread that hears of an arrival.

    The way through the event loop and back takes as long as a third of the claim.
    """

    def __init__(self, changes: Changes, work: SqlWork) -> None:
        self._changes = changes
        self._work = work
        self._parked: deque[ParkedClaim] = deque()

    def park(self, claim: ParkedClaim) -> None:
        self._parked.append(claim)

    def unpark(self, claim: ParkedClaim) -> bool:
        try:
            self._parked.remove(claim)
        except ValueError:
            return False
        return True

    def hear(self, word: str) -> None:
        """Claim for the workers at rest, and pass on what another process did to all others."""
        if word == INTERRUPT:
            self._changes.hear(word)
            return
        served = []
        for parked in self._take():
            claimed, pending = self._claim_for(parked)
            parked.answer(claimed)
            if claimed is not None:
                served.append(parked.listener)
                self._changes.make_known(pending)
        self._changes.arrivals.ring(but=served)
        self._changes.happened.ring()

    def _take(self) -> list[ParkedClaim]:
        taken = []
        # One by one: each is either taken here or taken back by its worker, whichever comes first.
        while True:
            try:
                taken.append(self._parked.popleft())
            except IndexError:
                return taken

    def _claim_for(self, parked: ParkedClaim) -> tuple[Claimed | None, PendingEvents]:
        turn = self._work.turn(parked.worker, parked.capacity, parked.limit, parked.lease)
        try:
            return self._changes.run_blocking(turn)
        except Exception as problem:  # noqa: BLE001 - the worker meets it when it tries itself, and knows what to do
            _log.warning("claim_on_arrival_failed", worker=parked.worker, problem=str(problem))
            return None, PendingEvents()
