"""What only SQLite says about tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final
from uuid import UUID

from kurabito.db.port import Connection, Dialect
from kurabito.runtime.events import Fact, PendingEvents, TaskEvent, pack, unpack
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.sql.lease_spec import CLAIMABLE, SAFE_TO_CLAIM
from kurabito.runtime.sql.records import RECORD, StoredTask
from kurabito.runtime.sql.tables import TaskPosition, TaskTables
from kurabito.runtime.states import TERMINAL
from kurabito.runtime.tasks.intake import PreparedTask, due_at

_TERMINAL: Final = ", ".join(f"'{state}'" for state in sorted(TERMINAL))


class SqliteTables(TaskTables):
    """Tasks in SQLite."""

    dialect = Dialect.SQLITE
    longest_load = 0.02
    tells_of_claims = False

    def stored_id(self, task_id: UUID) -> bytes:
        return task_id.bytes

    def insert(self, conn: Connection, tasks: Sequence[PreparedTask]) -> None:
        now = conn.now()
        conn.raw.executemany(self.sql.store, [_row(task, now) for task in tasks])

    def insert_keyed(self, conn: Connection, tasks: Sequence[PreparedTask]) -> list[StoredTask]:
        now = conn.now()
        found: list[StoredTask] = []
        for task in tasks:
            if task.unique_key is None:
                conn.raw.execute(self.sql.store, _row(task, now))
            else:
                found += [StoredTask(*row) for row in conn.raw.execute(self.sql.store_keyed, _row(task, now))]
        return found

    def insert_at_once(self, conn: Connection, task: PreparedTask, pending: PendingEvents) -> TaskRecord | None:
        # A statement costs no round trip here, and a commit of its own would cost a wait for the disk.
        return None

    def write_event(self, conn: Connection, name: str, facts: Sequence[Fact], *, wake: bool) -> None:
        conn.one(self.sql.tell, {"name": name, "facts": pack(facts)})

    def wake(self, conn: Connection, word: str = "") -> None:
        """Other processes watch the file, and look when it changes."""

    def candidates(self, wanted: Mapping[str, int], limit: int, *, suspects: bool) -> tuple[str, dict[str, Any]]:
        params: dict[str, Any] = {}
        for place, (task_type, capacity) in enumerate(wanted.items()):
            params[f"type{place}"] = task_type
            params[f"room{place}"] = min(capacity, limit)
        return self.names(_candidates_sql(len(wanted), CLAIMABLE if suspects else SAFE_TO_CLAIM)), params

    def page_among(
        self, conn: Connection, types: Sequence[str], states: Sequence[str], before: int, limit: int
    ) -> list[StoredTask]:
        params: dict[str, Any] = {"before": before, "limit": limit}
        arms = []
        for t, task_type in enumerate(types):
            params[f"type{t}"] = task_type
            for s, state in enumerate(states):
                params[f"state{s}"] = state
                arms.append(
                    "SELECT seq FROM (SELECT seq FROM tasks INDEXED BY ix_tasks_listing "
                    f"WHERE task_type = :type{t} AND state = :state{s} AND seq < :before "
                    "ORDER BY seq DESC LIMIT :limit)"
                )
        chosen: list[int] = []
        # SQLite takes at most 500 arms in one compound select.
        for start in range(0, len(arms), 400):
            some = " UNION ALL ".join(arms[start : start + 400])
            chosen += [seq for (seq,) in conn.all(self.names(f"{some} ORDER BY seq DESC LIMIT :limit"), params)]
        listed = ", ".join(str(seq) for seq in sorted(chosen, reverse=True)[:limit])
        rows = self.names(f"SELECT {RECORD} FROM tasks WHERE seq IN ({listed}) ORDER BY seq DESC")
        return [StoredTask(*row) for row in conn.all(rows)] if listed else []

    def finished_among(self, conn: Connection, ids: Sequence[UUID]) -> set[UUID]:
        params = {f"id{place}": task_id.bytes for place, task_id in enumerate(ids)}
        listed = ", ".join(f":{name}" for name in params)
        asked = self.names(f"SELECT id FROM tasks WHERE id IN ({listed}) AND state NOT IN ({_TERMINAL})")
        active = conn.all(asked, params)
        return set(ids) - {UUID(bytes=task_id) for (task_id,) in active}

    def first_position(self, conn: Connection) -> TaskPosition:
        ((last,),) = conn.all(self.sql.last_event)
        return TaskPosition((last,), 1 << 62)

    def position(self, numbers: tuple[int, ...], place: int) -> TaskPosition:
        (seq,) = numbers
        return TaskPosition((seq,), place)

    def events_after(
        self, conn: Connection, position: TaskPosition, limit: int
    ) -> tuple[list[TaskEvent], TaskPosition]:
        (begin,) = position.row
        rows = conn.all(self.sql.events_after, {"seq": begin, "limit": limit})
        events = [
            event
            for seq, at, name, facts in rows
            for event in unpack(name, at, facts, str(seq), position.place if (seq,) == position.row else 0)
        ]
        if rows:
            seq, *_ = rows[-1]
            return events, TaskPosition((seq,), 1 << 62)
        return events, position


def _row(task: PreparedTask, now: int) -> tuple[Any, ...]:
    """The task as the statements that store one bind it, by place."""
    due = due_at(task, now)
    return (
        bytes.fromhex(task.hex),
        task.task_type,
        task.payload,
        task.content_type,
        "queued" if due is None else "retry_scheduled",
        task.priority,
        task.unique_key,
        due,
        task.max_attempts,
        now,
        now,
    )


@cache
def _candidates_sql(types: int, claimable: str) -> str:
    """The first tasks of each type that may be claimed, and of those the first. Each arm is a range of the ready index."""
    arms = " UNION ALL ".join(
        "SELECT * FROM (SELECT seq, priority FROM tasks INDEXED BY ix_tasks_ready "
        f"WHERE {claimable} AND task_type = :type{place} ORDER BY priority DESC, seq LIMIT :room{place})"
        for place in range(types)
    )
    return (
        f"SELECT seq FROM ({arms}) ORDER BY priority DESC, seq LIMIT :limit"
        if types > 1
        else f"SELECT seq FROM ({arms})"
    )
