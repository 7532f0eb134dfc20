"""Looking things up in the tables of the runtime, as plain functions of a connection: nothing here writes."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from kurabito.db.naming import names_of
from kurabito.db.port import Connection, Dialect, Row
from kurabito.db.queries import Queries
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.events import TaskEvent
from kurabito.runtime.model import Depth, TaskRecord
from kurabito.runtime.outcomes import Claim, lease_lost
from kurabito.runtime.sql.leasing import tasks_spec
from kurabito.runtime.sql.records import RECORD, claim_of, marked, moment_of, record_of
from kurabito.runtime.states import TaskState, state_of


class TaskPosition(NamedTuple):
    """A place between two events: a row of `task_events`, and how many of its facts lie behind."""

    row: tuple[int, ...]
    place: int
    seen: frozenset[tuple[int, int]] = frozenset()
    """Rows after this one that were read already."""


class TaskLookup(ABC):
    """What can be asked of the tables of the runtime."""

    dialect: Dialect

    def __init__(self, schema: str | None = None) -> None:
        self.names = names_of(self.dialect, schema)
        self.spec = tasks_spec(self.dialect, schema)
        self.sql = Queries(
            "kurabito.runtime.sql",
            "common.sql",
            f"{self.dialect}.sql",
            record=RECORD,
            claim=", ".join(self.spec.returns),
        ).renamed(self.names)

    def find(self, conn: Connection, task_id: UUID, *, for_change: bool = False) -> Row:
        """The row of a task, in the columns of RECORD."""
        sql = self.sql.find_for_change if for_change else self.sql.find
        row = conn.one(sql, {"id": self.stored_id(task_id)})
        if row is None:
            raise TaskNotFound(f"no task has the id {task_id}; it may have been purged")
        return row

    def record(self, conn: Connection, task_id: UUID) -> TaskRecord:
        """The task as it is now."""
        return self.marked(conn, [record_of(self.find(conn, task_id))])[0]

    def marked(self, conn: Connection, records: Sequence[TaskRecord]) -> tuple[TaskRecord, ...]:
        """The records, those that wait for a type that no living worker runs marked so."""
        types = self.living_types(conn)
        return tuple(marked(record, types) for record in records)

    @abstractmethod
    def stored_id(self, task_id: UUID) -> Any: ...

    def living_types(self, conn: Connection) -> frozenset[str]:
        """The types that some living worker runs."""
        return types_among(types for (types,) in conn.all(self.sql.living_types))

    def page(
        self, conn: Connection, states: Sequence[str], task_type: str | None, before: int, limit: int
    ) -> list[Row]:
        """Rows newest first. With a filter, each pair of type and state is a range of the listing index."""
        if not states and task_type is None:
            return conn.all(self.sql.page, {"before": before, "limit": limit})
        types = [task_type] if task_type is not None else self._known_types(conn)
        if not types:
            return []
        return self._page_among(conn, types, states or [state.value for state in TaskState], before, limit)

    @abstractmethod
    def _page_among(
        self, conn: Connection, types: Sequence[str], states: Sequence[str], before: int, limit: int
    ) -> list[Row]: ...

    def counts(self, conn: Connection) -> dict[TaskState, int]:
        """How many tasks are in each state."""
        row = conn.one(self.sql.counts, {"task_types": json.dumps(self._known_types(conn))})
        assert row is not None
        return dict(zip(TaskState, row, strict=True))

    def depths(self, conn: Connection) -> list[Depth]:
        """How many tasks there are of each type in each state."""
        return [
            Depth(task_type, state_of(state), count, moment_of(oldest))
            for task_type, state, count, oldest in conn.all(self.sql.depths)
        ]

    def held(self, conn: Connection, task_id: UUID, owner: str) -> Claim:
        """The claim that this owner has on the task."""
        row = conn.one(self.sql.held, {"id": self.stored_id(task_id), "owner": owner})
        if row is None:
            raise lease_lost(record_of(self.find(conn, task_id)))
        return claim_of(row, owner)

    def _known_types(self, conn: Connection) -> list[str]:
        return [name for (name,) in conn.all(self.sql.types)]

    @abstractmethod
    def finished_among(self, conn: Connection, ids: Sequence[UUID]) -> set[UUID]:
        """Those of the tasks that are finished or gone."""

    # Events.

    @abstractmethod
    def first_position(self, conn: Connection) -> TaskPosition:
        """After everything that has happened until now."""

    @abstractmethod
    def position(self, numbers: tuple[int, ...], place: int) -> TaskPosition:
        """The position that a cursor's numbers mean; raises ValueError for a wrong count of them."""

    @abstractmethod
    def events_after(
        self, conn: Connection, position: TaskPosition, limit: int
    ) -> tuple[list[TaskEvent], TaskPosition]:
        """The events of the next rows, and the position after them."""


def types_among(listed: Iterable[str]) -> frozenset[str]:
    """All the types in the lists that workers wrote about themselves."""
    return frozenset(name for types in listed for name in json.loads(types))
