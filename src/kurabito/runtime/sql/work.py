"""The worker's side of a queue in a database.

`SqlWork` is the port. `ClaimStore` has its statements, as plain functions of a connection: every write is fenced by its
owner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from kurabito.clock import SECOND
from kurabito.db import leases
from kurabito.db.port import Connection
from kurabito.runtime.events import Fact, PendingEvents
from kurabito.runtime.outcomes import Claim, Settlements, Success, Transition, microseconds, transition_of
from kurabito.runtime.port import Beat, Claimed, ClaimsOnArrival, InstantClaims, Presence
from kurabito.runtime.sql import lease_spec
from kurabito.runtime.sql.records import LeasedTask, claim_of, hex_of
from kurabito.runtime.sql.store import BATCH, STATEMENT_ROWS, Changes, TaskStore
from kurabito.runtime.states import TaskState, check_move
from kurabito.runtime.tasks.intake import PreparedTask, known_id


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
        settling: Settlements = (),
        suspects: bool = True,
    ) -> Claimed:
        return await self._changes.run(self.turn(worker, capacity, limit, lease, settling, suspects=suspects))

    def turn(
        self,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        lease: float,
        settling: Settlements = (),
        *,
        suspects: bool = True,
    ) -> Callable[[Connection, PendingEvents], Claimed]:
        """The change that `claim` makes."""
        if self.delegated:
            capacity = {name: room for name, room in capacity.items() if name not in self.delegated}
        return lambda conn, pending: self._claims.turn(
            conn, worker, capacity, limit, lease, settling, pending, suspects=suspects
        )

    async def held(self, task_id: UUID | str, owner: str) -> Claim:
        known = known_id(task_id)
        return await self._database.read(lambda conn: self._store.lookup.held(conn, known, owner))

    async def settle(self, settling: Settlements) -> list[Claim]:
        return await self._changes.run(lambda conn, pending: self._claims.settle(conn, settling, pending))

    def heartbeat(self, beats: Sequence[Beat], *, lease: float = 30.0, presence: Presence | None = None) -> list[Claim]:
        def work(conn: Connection, pending: PendingEvents) -> leases.Lost:
            lost = self._claims.heartbeat(conn, beats, lease, pending)
            if presence is not None:
                self._store.announce(conn, presence, lease)
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


class ClaimStore:
    """What can be done to tasks with a lease, or to end one."""

    def __init__(self, store: TaskStore) -> None:
        self._store = store
        self._tables = store.tables
        self._sql = store.tables.sql

    def turn(
        self,
        conn: Connection,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        lease: float,
        settling: Settlements,
        pending: PendingEvents,
        *,
        suspects: bool,
    ) -> Claimed:
        """Settle, then claim; when there is nothing, say how long until the next scheduled task is due."""
        lost = self.settle(conn, settling, pending) if settling else []
        claims = self.claim(conn, worker, capacity, limit, lease, pending, suspects=suspects)
        due = None if claims else self.due_in(conn)
        return Claimed(claims, lost, None if due is None else max(0, due) / SECOND)

    def claim(
        self,
        conn: Connection,
        worker: str,
        capacity: Mapping[str, int],
        limit: int,
        lease: float,
        pending: PendingEvents,
        *,
        suspects: bool = True,
    ) -> list[Claim]:
        """Take tasks, the first to be started first."""
        wanted = {task_type: room for task_type, room in capacity.items() if room > 0}
        if not wanted or limit < 1:
            return []
        check_move(TaskState.QUEUED, TaskState.RUNNING)
        owner = leases.new_owner(worker)
        candidates, params = self._tables.candidates(wanted, limit, suspects=suspects)
        rows = leases.claim(
            conn,
            self._tables.spec,
            owner,
            lease=microseconds(lease),
            limit=limit,
            candidates=candidates,
            params=params,
            then=self._sql.tell_started if self._tables.tells_of_claims else "",
        )
        # RETURNING has no order.
        taken = sorted((LeasedTask(*row) for row in rows), key=lambda row: (-row.priority, row.seq))
        claims = [claim_of(row, owner) for row in taken]
        if claims:
            facts = [(claim.hex, claim.task_type, claim.attempt) for claim in claims]
            if self._tables.tells_of_claims:
                pending.add("Started", facts)
            else:
                self._store.tell(conn, "Started", facts, pending)
        return claims

    def due_in(self, conn: Connection) -> int | None:
        """Microseconds until the next scheduled task is due."""
        ((due,),) = conn.all(self._sql.due_in)
        return None if due is None else int(due)

    def settle(self, conn: Connection, settling: Settlements, pending: PendingEvents) -> list[Claim]:
        """Write how claims ended, and the follow-ups of those that succeeded; the claims that were lost."""
        good = [(claim, outcome) for claim, outcome in settling if type(outcome) is Success]
        rest = [(claim, transition_of(claim, outcome)) for claim, outcome in settling if type(outcome) is not Success]
        lost = self._succeed(conn, good, pending) if good else set()
        if rest:
            lost |= self._resolve(conn, rest, pending)
        return [claim for claim, _ in settling if (claim.key, claim.owner) in lost] if lost else []

    def _succeed(self, conn: Connection, good: Sequence[tuple[Claim, Success]], pending: PendingEvents) -> leases.Lost:
        check_move(TaskState.RUNNING, TaskState.SUCCEEDED)
        rows = [(claim.key, claim.owner, *_progress(claim), outcome.result) for claim, outcome in good]
        lost = leases.finish(
            conn,
            self._tables.spec,
            lease_spec.SUCCEED,
            rows,
            given=lease_spec.SUCCEED_VALUES,
            columns=lease_spec.SUCCEED_COLUMNS,
        )
        kept = [(claim, done) for claim, done in good if (claim.key, claim.owner) not in lost] if lost else good
        if kept:
            facts = [(claim.hex, claim.task_type, claim.attempt) for claim, _ in kept]
            self._store.tell(conn, "Succeeded", facts, pending)
        follow_ups = [task for _, outcome in kept for task in outcome.follow_ups]
        for start in range(0, len(follow_ups), STATEMENT_ROWS):
            self._store.add(conn, follow_ups[start : start + STATEMENT_ROWS], pending)
        return lost

    def _resolve(
        self, conn: Connection, rest: Sequence[tuple[Claim, Transition]], pending: PendingEvents
    ) -> leases.Lost:
        for state in {to.state for _, to in rest}:
            check_move(TaskState.RUNNING, state)
        rows = [
            (
                claim.key,
                claim.owner,
                *_progress(claim),
                to.state.value,
                to.attempts,
                to.max_attempts,
                to.delay,
                to.error,
                to.traceback,
            )
            for claim, to in rest
        ]
        columns = self._tables.resolve_columns
        lost = leases.finish(
            conn, self._tables.spec, lease_spec.RESOLVE, rows, given=lease_spec.RESOLVE_VALUES, columns=columns
        )
        # What did not simply succeed is there to claim again, now or at a time that workers have to know.
        pending.arrived = True
        kept = [(claim, to) for claim, to in rest if (claim.key, claim.owner) not in lost]
        for name, facts in lease_spec.events_of(kept, conn.now()):
            self._store.tell(conn, name, facts, pending)
        if any(to.state is TaskState.QUEUED for _, to in kept):
            self._tables.wake(conn)
        return lost

    def heartbeat(self, conn: Connection, beats: Sequence[Beat], lease: float, pending: PendingEvents) -> leases.Lost:
        """Renew leases and write progress; what is lost."""
        silent = [(beat.claim.key, beat.claim.owner) for beat in beats if beat.progress is None]
        news = [(beat.claim, beat.progress) for beat in beats if beat.progress is not None]
        lost = leases.heartbeat(conn, self._tables.spec, silent, lease=microseconds(lease))
        lost |= leases.heartbeat(
            conn,
            self._tables.spec,
            [(claim.key, claim.owner, progress.done, progress.total) for claim, progress in news],
            lease=microseconds(lease),
            given=tuple(lease_spec.PROGRESS_COLUMNS),
            columns=lease_spec.PROGRESS_COLUMNS,
        )
        facts: list[Fact] = [
            (claim.hex, claim.task_type, progress.done, progress.total)
            for claim, progress in news
            if (claim.key, claim.owner) not in lost
        ]
        if facts:
            self._store.tell(conn, "Progressed", facts, pending)
        return lost

    def recover(self, conn: Connection, pending: PendingEvents) -> int:
        """Take stale tasks from their workers."""
        for state in (TaskState.QUEUED, TaskState.DEAD):
            check_move(TaskState.RUNNING, state)
        rows = [LeasedTask(*row) for row in leases.recover(conn, self._tables.spec, limit=BATCH)]
        if rows:
            pending.arrived = True
            dead: list[Fact] = [
                (hex_of(row.id), row.task_type, row.attempts, row.last_error)
                for row in rows
                if row.state == TaskState.DEAD
            ]
            if dead:
                self._store.tell(conn, "Dead", dead, pending)
            self._tables.wake(conn)
        return len(rows)

    def expire(self, conn: Connection, worker: str) -> int:
        """End the leases of a dead worker."""
        conn.run(self._sql.depart, {"name": worker})
        return leases.expire(conn, self._tables.spec, worker)


def _progress(claim: Claim) -> tuple[int | None, int | None]:
    """What the handler reported last: a task that ends, or will be tried again, keeps it."""
    return (None, None) if claim.progress is None else (claim.progress.done, claim.progress.total)
