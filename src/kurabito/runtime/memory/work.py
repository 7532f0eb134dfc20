"""The worker's side of an in-memory queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import UUID

from kurabito.clock import SECOND
from kurabito.runtime.memory import leases
from kurabito.runtime.memory.shared_state import SharedState
from kurabito.runtime.outcomes import Claim, Settlements, lease_lost, microseconds
from kurabito.runtime.port import Beat, Claimed, ClaimsOnArrival, InstantClaims, Presence
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import PreparedTask


class MemoryWork:
    """How tasks are claimed, kept and settled, and how they come back from workers that are lost."""

    def __init__(self, shared: SharedState, max_payload: int) -> None:
        self.max_payload = max_payload
        self.arrivals = shared.arrivals
        self.interrupts = shared.interrupts
        self.is_remote = False
        self.locks_folder: Path | None = None
        self.instant: InstantClaims | None = self
        self.on_arrival: ClaimsOnArrival | None = None
        self._shared = shared
        self._table = shared.table
        self._ticks: dict[str, int] = {}

    async def claim(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        *,
        lease: float = 30.0,
        settling: Settlements = (),
        suspects: bool = True,
    ) -> Claimed:
        return self.claim_now(worker, capacity, limit, lease=lease, settling=settling, suspects=suspects)

    def claim_now(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        *,
        lease: float = 30.0,
        settling: Settlements = (),
        suspects: bool = True,
    ) -> Claimed:
        owner = leases.new_owner(worker)
        with self._shared as now:
            lost = leases.settle(self._table, settling, now) if settling else []
            claims = leases.claim(self._table, owner, capacity, limit, now, microseconds(lease), suspects=suspects)
            due = self._table.scheduled.head()
        return Claimed(claims, lost, None if due is None else max(0, due[0] - now) / SECOND)

    async def held(self, task_id: UUID | str, owner: str) -> Claim:
        with self._shared.lock:
            row = self._shared.find(task_id)
            if row.state is not TaskState.RUNNING or row.owner != owner or row.lease_expires_at is None:
                raise lease_lost(row.record(self._shared.living_types()))
            return row.claim(owner, row.lease_expires_at)

    async def settle(self, settling: Settlements) -> list[Claim]:
        with self._shared as now:
            return leases.settle(self._table, settling, now)

    def heartbeat(self, beats: Sequence[Beat], *, lease: float = 30.0, presence: Presence | None = None) -> list[Claim]:
        with self._shared as now:
            if presence is not None:
                self._shared.workers.sign(presence, now, microseconds(lease))
            return leases.beat(self._table, beats, now, microseconds(lease))

    async def promote(self) -> int:
        with self._shared as now:
            return self._table.promote(now)

    async def recover(self) -> int:
        with self._shared as now:
            return leases.recover(self._table, now)

    async def expire_worker(self, name: str) -> int:
        with self._shared as now:
            return leases.expire(self._table, name, now)

    async def now(self) -> int:
        return self._shared.clock.now()

    async def fire(self, schedule: str, tick: int, task: PreparedTask, *, next_tick: int | None = None) -> bool:
        with self._shared as now:
            last = self._ticks.setdefault(schedule, tick)
            if next_tick is not None and last > next_tick:
                self._ticks[schedule] = last = tick
            if tick <= last:
                return False
            self._ticks[schedule] = tick
            self._table.insert([task], now)
            return True

    def depart(self, worker: str) -> None:
        with self._shared.lock:
            self._shared.workers.leave(worker)
