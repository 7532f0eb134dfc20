"""A task in memory: one mutable row, and the record that is shown of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Final, overload
from uuid import UUID

from kurabito.clock import optional_datetime, to_datetime
from kurabito.runtime.model import DEFAULT_ATTEMPTS, ERRORS_KEPT, AttemptError, Progress, TaskEnvelope, TaskRecord
from kurabito.runtime.outcomes import Claim, worker_name
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks import payloads
from kurabito.runtime.tasks.intake import PreparedTask, due_at

QUEUED: Final = TaskState.QUEUED
RUNNING: Final = TaskState.RUNNING
RETRY_SCHEDULED: Final = TaskState.RETRY_SCHEDULED
WAITING: Final = frozenset({QUEUED, RETRY_SCHEDULED})


class TaskRow:
    """The only place where a task's data is; heaps and indexes hold its id."""

    __slots__ = (
        "attempts", "content_type", "created_at", "errors", "finished_at", "hex", "key", "last_error", "lease_expires_at",
        "lost_leases", "max_attempts", "next_run_at", "owner", "payload", "priority", "progress", "result", "started_at",
        "state", "task_type", "unique_key", "updated_at",
    )  # fmt: skip

    def __init__(self, key: int, task: PreparedTask, now: int) -> None:
        self.key = key
        self.hex = task.hex
        self.task_type = task.task_type
        self.payload = task.payload
        self.content_type = task.content_type
        self.priority = task.priority
        self.unique_key = task.unique_key
        self.max_attempts = task.max_attempts
        self.next_run_at = due_at(task, now)
        self.state = QUEUED if self.next_run_at is None else RETRY_SCHEDULED
        self.created_at = self.updated_at = now
        self.attempts = self.lost_leases = 0
        self.errors: tuple[AttemptError, ...] = ()
        self.started_at: int | None = None
        self.finished_at: int | None = None
        self.lease_expires_at: int | None = None
        self.progress: Progress | None = None
        self.owner: str | None = None
        self.last_error: str | None = None
        self.result: bytes | None = None

    @property
    def id(self) -> UUID:
        return UUID(hex=self.hex)

    def fail(self, attempt: int, error: str, now: int, traceback: str | None = None) -> None:
        """Remember that an attempt did not end well."""
        self.last_error = error
        self.errors = (*self.errors, AttemptError(attempt, to_datetime(now), error, traceback))[-ERRORS_KEPT:]

    def claim(self, owner: str, expires: int) -> Claim:
        """The right of this owner to run it."""
        return Claim(
            self.key,
            self.hex,
            self.task_type,
            self.payload,
            self.content_type,
            self.attempts,
            self.max_attempts,
            owner,
            expires,
            self.progress,
            self.lost_leases,
        )

    def record(self, living_types: frozenset[str]) -> TaskRecord:
        """The row as it is now."""
        result, result_type, unreadable = _result(self.result)
        return TaskRecord(
            id=self.id,
            envelope=TaskEnvelope(self.task_type, self.payload, self.content_type),
            state=self.state,
            priority=self.priority,
            unique_key=self.unique_key,
            attempts=self.attempts,
            max_attempts=self.max_attempts or DEFAULT_ATTEMPTS,
            lost_leases=self.lost_leases,
            progress=self.progress,
            result=result,
            last_error=self.last_error,
            next_run_at=optional_datetime(self.next_run_at),
            created_at=to_datetime(self.created_at),
            updated_at=to_datetime(self.updated_at),
            started_at=optional_datetime(self.started_at),
            finished_at=optional_datetime(self.finished_at),
            lease_expires_at=optional_datetime(self.lease_expires_at),
            worker=worker_name(self.owner),
            errors=self.errors,
            no_worker=self.state in WAITING and self.task_type not in living_types,
            stored_result=None if self.result is None else payloads.split_result(self.result)[0],
            result_content_type=result_type,
            unreadable=unreadable,
        )


class Records(Sequence[TaskRecord]):
    """Records of rows, each made when it is looked at: a program that enqueues a million tasks reads few of them."""

    def __init__(
        self, rows: Sequence[TaskRow], lock: AbstractContextManager[object], living_types: Callable[[], frozenset[str]]
    ) -> None:
        self._rows = rows
        self._lock = lock
        self._living_types = living_types

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> TaskRecord: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[TaskRecord]: ...
    def __getitem__(self, place: int | slice) -> TaskRecord | Sequence[TaskRecord]:
        if isinstance(place, slice):
            return Records(self._rows[place], self._lock, self._living_types)
        with self._lock:
            return self._rows[place].record(self._living_types())

    def __iter__(self) -> Iterator[TaskRecord]:
        return (self[place] for place in range(len(self._rows)))

    def __repr__(self) -> str:
        return f"<{len(self._rows)} task records>"


def with_priority(record: TaskRecord, priority: int) -> TaskRecord:
    """The record as it will be once a request of this priority was merged into it."""
    if record.state in WAITING and priority > record.priority:
        return replace(record, priority=priority)
    return record


def _result(stored: bytes | None) -> tuple[Any, str, tuple[str, ...]]:
    """What the handler returned, its content type, and what of it cannot be read."""
    if stored is None:
        return None, payloads.JSON, ()
    data, content_type = payloads.split_result(stored)
    try:
        return payloads.plain(data, content_type), content_type, ()
    except (ValueError, RecursionError):
        return data, payloads.BYTES, ("result",)
