"""Looking things up in the tables of the runtime, as plain functions of a connection: nothing here writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import UUID

from kurabito.db.port import Connection
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.model import Depth, TaskRecord
from kurabito.runtime.outcomes import Claim, lease_lost
from kurabito.runtime.sql.records import LeasedTask, StoredTask, claim_of, marked, moment_of, record_of, types_among
from kurabito.runtime.sql.tables import TaskTables
from kurabito.runtime.states import TaskState, state_of


class TaskLookup:
    """What can be asked of the tables of the runtime."""

    def __init__(self, tables: TaskTables) -> None:
        self.tables = tables
        self._sql = tables.sql

    def find(self, conn: Connection, task_id: UUID, *, for_change: bool = False) -> StoredTask:
        """The row of a task."""
        sql = self._sql.find_for_change if for_change else self._sql.find
        row = conn.one(sql, {"id": self.tables.stored_id(task_id)})
        if row is None:
            raise TaskNotFound(f"no task has the id {task_id}; it may have been purged")
        return StoredTask(*row)

    def record(self, conn: Connection, task_id: UUID) -> TaskRecord:
        """The task as it is now."""
        return self.marked(conn, [record_of(self.find(conn, task_id))])[0]

    def marked(self, conn: Connection, records: Sequence[TaskRecord]) -> tuple[TaskRecord, ...]:
        """The records, those that wait for a type that no living worker runs marked so."""
        types = self.living_types(conn)
        return tuple(marked(record, types) for record in records)

    def living_types(self, conn: Connection) -> frozenset[str]:
        """The types that some living worker runs."""
        return types_among(types for (types,) in conn.all(self._sql.living_types))

    def page(
        self, conn: Connection, states: Sequence[str], task_type: str | None, before: int, limit: int
    ) -> list[StoredTask]:
        """Rows newest first. With a filter, each pair of type and state is a range of the listing index."""
        if not states and task_type is None:
            return [StoredTask(*row) for row in conn.all(self._sql.page, {"before": before, "limit": limit})]
        types = [task_type] if task_type is not None else self._known_types(conn)
        if not types:
            return []
        return self.tables.page_among(conn, types, states or [state.value for state in TaskState], before, limit)

    def counts(self, conn: Connection) -> dict[TaskState, int]:
        """How many tasks are in each state."""
        row = conn.one(self._sql.counts, {"task_types": json.dumps(self._known_types(conn))})
        assert row is not None
        return dict(zip(TaskState, row, strict=True))

    def depths(self, conn: Connection) -> list[Depth]:
        """How many tasks there are of each type in each state."""
        return [
            Depth(task_type, state_of(state), count, moment_of(oldest))
            for task_type, state, count, oldest in conn.all(self._sql.depths)
        ]

    def held(self, conn: Connection, task_id: UUID, owner: str) -> Claim:
        """The claim that this owner has on the task."""
        row = conn.one(self._sql.held, {"id": self.tables.stored_id(task_id), "owner": owner})
        if row is None:
            raise lease_lost(record_of(self.find(conn, task_id)))
        return claim_of(LeasedTask(*row), owner)

    def _known_types(self, conn: Connection) -> list[str]:
        return [name for (name,) in conn.all(self._sql.types)]
