"""What a task's own row remembers of its life, as events."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kurabito.runtime.events import (
    Cancelled,
    Dead,
    Enqueued,
    Failed,
    RetryScheduled,
    Started,
    Succeeded,
    TaskEvent,
)
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.states import TaskState


def history_of(record: TaskRecord) -> list[TaskEvent]:
    """The events that the row still tells of, oldest first: every failure, the last start, and where it is now.

    Starts of earlier attempts are not kept, and neither are starts that were given back.
    """
    about: dict[str, Any] = {"task_id": record.id, "task_type": record.task_type}
    past: list[TaskEvent] = [Enqueued(at=record.created_at, **about)]
    past += [Failed(at=error.at, attempt=error.attempt, error=error.error, **about) for error in record.errors]
    if record.started_at is not None and _last_start_counts(record):
        started = Started(at=record.started_at, attempt=record.attempts, **about)
        # The last start of a dead task is what its last failure ended.
        past.insert(len(past) - 1 if record.state is TaskState.DEAD and record.errors else len(past), started)
    ending = _ending(record, about)
    return [*past, ending] if ending else past


def _last_start_counts(record: TaskRecord) -> bool:
    if record.state is TaskState.CANCELLED:
        # Cancelled while it ran, unless its last start had failed before.
        return not record.errors or (record.started_at is not None and record.started_at > record.errors[-1].at)
    return record.state in (TaskState.RUNNING, TaskState.SUCCEEDED, TaskState.DEAD)


def _ending(record: TaskRecord, about: dict[str, UUID | str]) -> TaskEvent | None:
    at: Any = record.finished_at or record.updated_at
    values: dict[str, Any] = about
    match record.state:
        case TaskState.SUCCEEDED:
            return Succeeded(at=at, attempt=record.attempts, **values)
        case TaskState.DEAD:
            return Dead(at=at, attempts=record.attempts, last_error=record.last_error or "", **values)
        case TaskState.CANCELLED:
            return Cancelled(at=at, **values)
        case TaskState.RETRY_SCHEDULED if record.next_run_at is not None:
            since = record.updated_at if record.started_at else record.created_at
            backoff = (record.next_run_at - since).total_seconds()
            return RetryScheduled(at=since, next_run_at=record.next_run_at, backoff=backoff, **values)
        case _:
            return None
