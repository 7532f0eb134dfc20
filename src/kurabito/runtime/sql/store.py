"""The store of tasks: everything that changes them, as plain functions of a connection.

What SQLite and PostgreSQL say differently is in `sqlite.py` and `postgres.py`.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from kurabito.db import leases
from kurabito.db.errors import UniqueConflict
from kurabito.db.port import Connection, Dialect, Row
from kurabito.runtime.errors import TaskConflict, TaskFinished
from kurabito.runtime.events import Fact, pack
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.outcomes import Claim, Settlement, Success, Transition, microseconds, transition_of
from kurabito.runtime.port import Beat, Presence
from kurabito.runtime.sql.leasing import (
    PROGRESS_COLUMNS,
    RESOLVE,
    RESOLVE_VALUES,
    SUCCEED,
    SUCCEED_COLUMNS,
    SUCCEED_VALUES,
    resolve_columns,
)
from kurabito.runtime.sql.lookup import TaskLookup
from kurabito.runtime.sql.records import RECORD, claim_of, hex_of, record_of, record_of_new
from kurabito.runtime.states import RETRYABLE, TERMINAL, TaskState
from kurabito.runtime.tasks.intake import PreparedTask, merge_by_key

STATEMENT_ROWS: Final = 1000
INTERRUPT: Final = "interrupt"
"""The word by which a running task was cancelled; any other means that something may be claimed."""
_BATCH: Final = 1000
UNIQUE_KEY: Final = RECORD.split(", ").index("unique_key")

Told = list[tuple[str, list[Fact]]]
"""The events of a transaction: what is logged once it is committed."""


class TaskStore(TaskLookup):
    """What can be done to the tables of the runtime."""

    longest_load: float
    """How many seconds a bulk load may write before it commits, so that others can write too."""

    # Storing.

    def add_one(self, conn: Connection, task: PreparedTask, told: Told) -> TaskRecord:
        """Store a task; its record, or that of the active task with its key."""
        found = self.add(conn, [task], told)
        record = record_of_new(task, conn.now()) if task.unique_key is None else found[task.unique_key]
        return self.marked(conn, [record])[0]

    def add(self, conn: Connection, tasks: Sequence[PreparedTask], told: Told) -> dict[str, TaskRecord]:
        """Store at most a thousand tasks; the records of those that have a unique key, by that key."""
        keyed = merge_by_key(tasks)
        found: dict[str, TaskRecord] = {}
        if not keyed:
            self._store(conn, tasks)
            fresh = tasks
        else:
            distinct = [task for task in tasks if task.unique_key is None or keyed[task.unique_key] is task]
            found = {row[UNIQUE_KEY]: record_of(row) for row in self._store_keyed(conn, distinct)}
            fresh = [task for task in distinct if task.unique_key is None or found[task.unique_key].id == task.id]
        if fresh:
            self.tell(conn, "Enqueued", [(task.hex, task.task_type) for task in fresh], told, wake=True)
        return found

    @abstractmethod
    def _store(self, conn: Connection, tasks: Sequence[PreparedTask]) -> None: ...

    @abstractmethod
    def _store_keyed(self, conn: Connection, tasks: Sequence[PreparedTask]) -> list[Row]:
        """Store tasks some of which have a unique key; the rows that the keys led to, new or not."""

    def tell(self, conn: Connection, name: str, facts: list[Fact], told: Told, *, wake: bool = False) -> None:
        """Write the event of a move of many tasks, in the same transaction as the move."""
        told.append((name, facts))
        conn.one(self.sql.tell, {"name": name, "facts": pack(facts)})
        if wake:
            self.wake(conn)

    def wake(self, conn: Connection, payload: str = "") -> None:
        """Have the workers of other processes look when this transaction commits; SQLite's notice by themselves."""

    # Working.

    def claim(
        self, conn: Connection, worker: str, capacity: Mapping[str, int], limit: int, lease: float, told: Told
    ) -> list[Claim]:
        """Take tasks, the first to be started first."""
        wanted = {task_type: room for task_type, room in capacity.items() if room > 0}
        if not wanted or limit < 1:
            return []
        owner = leases.new_owner(worker)
        candidates, params = self._candidates(wanted, limit)
        rows = leases.claim(
            conn,
            self.spec,
            owner,
            lease=microseconds(lease),
            limit=limit,
            candidates=candidates,
            params=params,
            then=self.sql.tell_started if self.dialect is Dialect.POSTGRES else "",
        )
        # RETURNING has no order; priority is the ninth column that the spec returns.
        rows.sort(key=lambda row: (-row[8], row[0]))
        claims = [claim_of(row, owner) for row in rows]
        if claims:
            self._tell_started(conn, [(claim.hex, claim.task_type, claim.attempt) for claim in claims], told)
        return claims

    def _tell_started(self, conn: Connection, facts: list[Fact], told: Told) -> None:
        self.tell(conn, "Started", facts, told)

    @abstractmethod
    def _candidates(self, wanted: Mapping[str, int], limit: int) -> tuple[str, dict[str, Any]]: ...

    def due_in(self, conn: Connection) -> int | None:
        """Microseconds until the next scheduled task is due."""
        row = conn.one(self.sql.due_in)
        return row[0] if row else None

    def settle(self, conn: Connection, settling: Sequence[Settlement], told: Told) -> list[Claim]:
        """Write how claims ended, and the follow-ups of those that succeeded; the claims that were lost."""
        good = [(claim, outcome) for claim, outcome in settling if type(outcome) is Success]
        rest = [(claim, transition_of(claim, outcome)) for claim, outcome in settling if type(outcome) is not Success]
        lost = self._succeed(conn, good, told) if good else set()
        if rest:
            lost |= self._resolve(conn, rest, told)
        return [claim for claim, _ in settling if (claim.key, claim.owner) in lost] if lost else []

    def _succeed(self, conn: Connection, good: Sequence[tuple[Claim, Success]], told: Told) -> leases.Lost:
        rows = [(claim.key, claim.owner, *_progress(claim), outcome.result) for claim, outcome in good]
        lost = leases.finish(conn, self.spec, SUCCEED, rows, given=SUCCEED_VALUES, columns=SUCCEED_COLUMNS)
        kept = [(claim, done) for claim, done in good if (claim.key, claim.owner) not in lost] if lost else good
        if kept:
            self.tell(conn, "Succeeded", [(claim.hex, claim.task_type, claim.attempt) for claim, _ in kept], told)
        follow_ups = [task for _, outcome in kept for task in outcome.follow_ups]
        for start in range(0, len(follow_ups), STATEMENT_ROWS):
            self.add(conn, follow_ups[start : start + STATEMENT_ROWS], told)
        return lost

    def _resolve(self, conn: Connection, rest: Sequence[tuple[Claim, Transition]], told: Told) -> leases.Lost:
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
        lost = leases.finish(
            conn, self.spec, RESOLVE, rows, given=RESOLVE_VALUES, columns=resolve_columns(self.dialect)
        )
        self._tell_resolved(conn, [(claim, to) for claim, to in rest if (claim.key, claim.owner) not in lost], told)
        return lost

    def _tell_resolved(self, conn: Connection, rest: Sequence[tuple[Claim, Transition]], told: Told) -> None:
        now = conn.now()
        failed: list[Fact] = []
        later: list[Fact] = []
        dead: list[Fact] = []
        for claim, outcome in rest:
            if outcome.error is not None:
                failed.append((claim.hex, claim.task_type, claim.attempt, outcome.error))
            if outcome.delay is not None:
                later.append((claim.hex, claim.task_type, now + outcome.delay, outcome.delay / 1_000_000))
            if outcome.state is TaskState.DEAD:
                dead.append((claim.hex, claim.task_type, outcome.attempts, outcome.error))
        for name, facts in (("Failed", failed), ("RetryScheduled", later), ("Dead", dead)):
            if facts:
                self.tell(conn, name, facts, told)
        if any(outcome.state is TaskState.QUEUED for _, outcome in rest):
            self.wake(conn)

    def heartbeat(self, conn: Connection, beats: Sequence[Beat], lease: float, told: Told) -> leases.Lost:
        """Renew leases and write progress; what is lost."""
        silent = [(beat.claim.key, beat.claim.owner) for beat in beats if beat.progress is None]
        news = [(beat.claim, beat.progress) for beat in beats if beat.progress is not None]
        lost = leases.heartbeat(conn, self.spec, silent, lease=microseconds(lease))
        lost |= leases.heartbeat(
            conn,
            self.spec,
            [(claim.key, claim.owner, progress.done, progress.total) for claim, progress in news],
            lease=microseconds(lease),
            given=tuple(PROGRESS_COLUMNS),
            columns=PROGRESS_COLUMNS,
        )
        facts: list[Fact] = [
            (claim.hex, claim.task_type, progress.done, progress.total)
            for claim, progress in news
            if (claim.key, claim.owner) not in lost
        ]
        if facts:
            self.tell(conn, "Progressed", facts, told)
        return lost

    def recover(self, conn: Connection, told: Told) -> int:
        """Take stale tasks from their workers."""
        rows = leases.recover(conn, self.spec, limit=_BATCH)
        if rows:
            # id, task_type, attempts, state and last_error as the spec returns them.
            dead: list[Fact] = [(hex_of(row[1]), row[2], row[5], row[13]) for row in rows if row[12] == TaskState.DEAD]
            if dead:
                self.tell(conn, "Dead", dead, told)
            self.wake(conn)
        return len(rows)

    def expire(self, conn: Connection, worker: str) -> int:
        """End the leases of a dead worker."""
        conn.run(self.sql.depart, {"name": worker})
        return leases.expire(conn, self.spec, worker)

    def promote(self, conn: Connection) -> int:
        """Queue what is due."""
        count = conn.run(self.sql.promote, {"limit": _BATCH})
        if count:
            self.wake(conn)
        return count

    def fire(
        self, conn: Connection, schedule: str, tick: int, next_tick: int | None, task: PreparedTask, told: Told
    ) -> bool:
        """Enqueue the task of this tick, once."""
        if conn.run(self.sql.note_schedule, {"name": schedule, "tick": tick}):
            return False
        if next_tick is not None and conn.run(
            self.sql.correct_tick, {"name": schedule, "tick": tick, "next_tick": next_tick}
        ):
            # A clock that was ahead counted ticks that are yet to come. It begins again, as a new one does.
            return False
        if not conn.run(self.sql.take_tick, {"name": schedule, "tick": tick}):
            return False
        self.add(conn, [task], told)
        return True

    def announce(self, conn: Connection, presence: Presence, lease: float) -> None:
        """Say that a worker lives."""
        conn.run(
            self.sql.announce,
            {
                "name": presence.name,
                "task_types": json.dumps(presence.task_types),
                "concurrency": presence.concurrency,
                "lease": microseconds(lease),
            },
        )

    # Changing.

    def cancel(self, conn: Connection, task_id: UUID, told: Told) -> tuple[TaskRecord, bool]:
        """Cancel a task; its record, and whether it was running."""
        row = self.find(conn, task_id, for_change=True)
        before = record_of(row)
        if before.state in TERMINAL:
            raise TaskFinished(f"task {task_id} is {before.state} already, so there is nothing to cancel")
        conn.run(self.sql.cancel, {"seq": row[0]})
        self.tell(conn, "Cancelled", [(task_id.hex, before.task_type)], told)
        running = before.state is TaskState.RUNNING
        if running:
            self.wake(conn, INTERRUPT)
        return self.record(conn, task_id), running

    def retry(self, conn: Connection, task_id: UUID, told: Told) -> TaskRecord:
        """Put a dead or cancelled task back."""
        row = self.find(conn, task_id, for_change=True)
        before = record_of(row)
        if before.state not in RETRYABLE:
            raise TaskConflict(f"task {task_id} is {before.state}; only a dead or cancelled task can be retried")
        try:
            conn.run(self.sql.retry, {"seq": row[0]})
        except UniqueConflict as taken:
            raise TaskConflict(
                f"task {task_id} cannot be retried while another task with the key {before.unique_key!r} is active; "
                "cancel that one or wait for it"
            ) from taken
        self.tell(conn, "Enqueued", [(task_id.hex, before.task_type)], told, wake=True)
        return self.record(conn, task_id)

    def purge(self, conn: Connection, age: int) -> int:
        """Delete at most a batch of tasks that finished longer ago than this."""
        return conn.run(self.sql.purge, {"age": age, "limit": _BATCH})


def _progress(claim: Claim) -> tuple[int | None, int | None]:
    """What the handler reported last: a task that ends, or will be tried again, keeps it."""
    return (None, None) if claim.progress is None else (claim.progress.done, claim.progress.total)
