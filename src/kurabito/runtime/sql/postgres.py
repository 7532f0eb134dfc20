"""What only PostgreSQL says about tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from kurabito.db.port import Connection, Dialect
from kurabito.db.rows import Column, row_source
from kurabito.runtime.events import Fact, PendingEvents, TaskEvent, pack, unpack
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.sql.lease_spec import CLAIMABLE, SAFE_TO_CLAIM
from kurabito.runtime.sql.records import StoredTask, marked, record_of_new, types_among
from kurabito.runtime.sql.tables import TaskPosition, TaskTables
from kurabito.runtime.tasks.intake import PreparedTask, due_at

# Below this the round trip decides, above it what a row costs.
_WORTH_COPYING: Final = 100
_ESCAPES: Final = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


class PostgresTables(TaskTables):
    """Tasks in PostgreSQL."""

    dialect = Dialect.POSTGRES
    longest_load = 0.5
    tells_of_claims = True

    def stored_id(self, task_id: UUID) -> UUID:
        return task_id

    def write_event(self, conn: Connection, name: str, facts: Sequence[Fact], *, wake: bool) -> None:
        conn.one(self.sql.tell_and_wake if wake else self.sql.tell, {"name": name, "facts": pack(facts)})

    def insert_at_once(self, conn: Connection, task: PreparedTask, pending: PendingEvents) -> TaskRecord | None:
        if task.unique_key is not None or task.run_at is not None or task.delay is not None:
            return None
        facts: list[Fact] = [(task.hex, task.task_type)]
        pending.arrived = True
        pending.add("Enqueued", facts)
        values = {
            "id": task.hex,
            "task_type": task.task_type,
            "payload": task.payload,
            "content_type": task.content_type,
            "priority": task.priority,
            "max_attempts": task.max_attempts,
            "facts": pack(facts),
        }
        ((now, _, listed),) = conn.autocommit(self.sql.store_one, values, one_plan=True)
        return marked(record_of_new(task, now), types_among(listed))

    def wake(self, conn: Connection, word: str = "") -> None:
        conn.one(self.sql.wake, {"payload": word})

    def insert(self, conn: Connection, tasks: Sequence[PreparedTask]) -> None:
        if len(tasks) >= _WORTH_COPYING:
            now = conn.now()
            with conn.raw.cursor().copy(self.sql.copy) as copy:
                copy.write("".join([_copied(task, now) for task in tasks]))
            return
        source, params = row_source(*_columns(tasks))
        conn.run(self.sql.store.replace("<rows>", source), params)

    def insert_keyed(self, conn: Connection, tasks: Sequence[PreparedTask]) -> list[StoredTask]:
        keys = Column("unique_key", "text", [task.unique_key for task in tasks])
        source, params = row_source(*_columns(tasks), keys)
        rows = [StoredTask(*row) for row in conn.all(self.sql.store_keyed.replace("<rows>", source), params)]
        return [row for row in rows if row.unique_key is not None]

    def candidates(self, wanted: Mapping[str, int], limit: int, *, suspects: bool) -> tuple[str, dict[str, Any]]:
        params: dict[str, Any]
        if len(wanted) == 1:
            ((task_type, capacity),) = wanted.items()
            sql, params = self.sql.candidates_of_one, {"task_type": task_type, "room": min(capacity, limit)}
        else:
            sql, params = self.sql.candidates, {"task_types": list(wanted), "capacities": list(wanted.values())}
        return sql.replace("<claimable>", CLAIMABLE if suspects else SAFE_TO_CLAIM), params

    def page_among(
        self, conn: Connection, types: Sequence[str], states: Sequence[str], before: int, limit: int
    ) -> list[StoredTask]:
        wanted = {"task_types": list(types), "states": list(states), "before": before, "limit": limit}
        return [StoredTask(*row) for row in conn.all(self.sql.page_among, wanted)]

    def finished_among(self, conn: Connection, ids: Sequence[UUID]) -> set[UUID]:
        active = conn.all(self.sql.active_among, {"ids": list(ids)})
        return set(ids) - {task_id for (task_id,) in active}

    def first_position(self, conn: Connection) -> TaskPosition:
        """Right after what is committed now. Events that are seen already lie behind the oldest open transaction too."""
        ((first,),) = conn.all(self.sql.first_uncommitted)
        seen = conn.all(self.sql.events_seen, {"tx": str(first)})
        return TaskPosition((first, 0), 0, frozenset((tx, seq) for tx, seq in seen))

    def position(self, numbers: tuple[int, ...], place: int) -> TaskPosition:
        tx, seq = numbers
        return TaskPosition((tx, seq), place)

    def events_after(
        self, conn: Connection, position: TaskPosition, limit: int
    ) -> tuple[list[TaskEvent], TaskPosition]:
        tx, seq = position.row
        rows = conn.all(self.sql.events_after, {"tx": str(tx), "seq": seq, "limit": limit})
        events = [
            event
            for tx, seq, at, name, facts in rows
            if (tx, seq) not in position.seen
            for event in unpack(name, at, facts, f"{tx}-{seq}", position.place if (tx, seq) == position.row else 0)
        ]
        if rows:
            tx, seq, *_ = rows[-1]
            return events, TaskPosition((tx, seq), 1 << 62, position.seen)
        return events, position


def _copied(task: PreparedTask, now: int) -> str:
    """The task as a line of COPY."""
    due = due_at(task, now)
    state, next_run_at = ("queued", "\\N") if due is None else ("retry_scheduled", due)
    most = "\\N" if task.max_attempts is None else task.max_attempts
    return (
        f"{task.hex}\t{_escaped(task.task_type)}\t\\\\x{task.payload.hex()}\t{_escaped(task.content_type)}\t"
        f"{state}\t{task.priority}\t{next_run_at}\t{most}\t{now}\t{now}\n"
    )


@lru_cache(maxsize=1000)
def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _columns(tasks: Sequence[PreparedTask]) -> list[Column]:
    return [
        Column("id", "uuid", [task.hex for task in tasks]),
        Column("task_type", "text", [task.task_type for task in tasks]),
        Column("payload", "bytea", [task.payload for task in tasks]),
        Column("content_type", "text", [task.content_type for task in tasks]),
        Column("priority", "integer", [task.priority for task in tasks]),
        Column("run_at", "bigint", [task.run_at for task in tasks]),
        Column("delay", "bigint", [task.delay for task in tasks]),
        Column("max_attempts", "integer", [task.max_attempts for task in tasks]),
    ]
