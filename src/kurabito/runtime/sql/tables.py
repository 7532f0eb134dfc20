"""The tables of the runtime in one dialect: their names, their statements, and what the two databases say differently."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from kurabito.db.port import Connection, Dialect
from kurabito.db.queries import Queries
from kurabito.db.table_names import names_of
from kurabito.runtime.events import Fact, PendingEvents, TaskEvent
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.sql.lease_spec import resolve_columns, tasks_spec
from kurabito.runtime.sql.records import RECORD, LeasedTask, StoredTask
from kurabito.runtime.tasks.intake import PreparedTask


class TaskPosition(NamedTuple):
    """A place between two events: a row of `task_events`, and how many of its facts lie behind."""

    row: tuple[int, ...]
    place: int
    seen: frozenset[tuple[int, int]] = frozenset()
    """Rows after this one that were read already."""


class TaskTables(ABC):
    """How tasks are stored, claimed, listed and told of in one database."""

    dialect: Dialect
    longest_load: float
    """How many seconds a bulk load may write before it commits, so that others can write too."""
    tells_of_claims: bool
    """A claim writes its own event, in the same statement."""

    def __init__(self, schema: str | None = None) -> None:
        self.names = names_of(self.dialect, schema)
        self.spec = tasks_spec(self.dialect, schema)
        self.resolve_columns = resolve_columns(self.dialect)
        self.sql = Queries(
            "kurabito.runtime.sql",
            "common.sql",
            f"{self.dialect}.sql",
            record=RECORD,
            claim=", ".join(LeasedTask._fields),
        ).texts(self.dialect, self.names)

    @abstractmethod
    def stored_id(self, task_id: UUID) -> Any:
        """The id as a parameter."""

    @abstractmethod
    def insert(self, conn: Connection, tasks: Sequence[PreparedTask]) -> None:
        """Store tasks without a unique key."""

    @abstractmethod
    def insert_keyed(self, conn: Connection, tasks: Sequence[PreparedTask]) -> list[StoredTask]:
        """Store tasks, some with a unique key; the rows that the keys led to, new or not."""

    @abstractmethod
    def insert_at_once(self, conn: Connection, task: PreparedTask, pending: PendingEvents) -> TaskRecord | None:
        """Store a task with its event in one statement, which may be a transaction of its own; None if that cannot be."""

    @abstractmethod
    def write_event(self, conn: Connection, name: str, facts: Sequence[Fact], *, wake: bool) -> None:
        """Write a row of `task_events`, and, if asked, wake other processes with it."""

    @abstractmethod
    def wake(self, conn: Connection, word: str = "") -> None:
        """Have the workers of other processes look when this transaction commits."""

    @abstractmethod
    def candidates(self, wanted: Mapping[str, int], limit: int, *, suspects: bool) -> tuple[str, dict[str, Any]]:
        """The statement that finds what a claim may take, and its parameters."""

    @abstractmethod
    def page_among(
        self, conn: Connection, types: Sequence[str], states: Sequence[str], before: int, limit: int
    ) -> list[StoredTask]:
        """Rows of these types and states, newest first."""

    @abstractmethod
    def finished_among(self, conn: Connection, ids: Sequence[UUID]) -> set[UUID]:
        """Those of the tasks that are finished or gone."""

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
