"""The edge of a queue: a task that is asked for is checked and written down before anything is stored."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from kurabito.clock import from_datetime
from kurabito.errors import InvalidInput, PayloadTooLarge
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.model import NewTask
from kurabito.runtime.tasks import payloads

MAX_PAYLOAD: Final = 1 << 20
_MAX_NAME: Final = 200
_MAX_CHECKED_TYPES: Final = 1000
_checked_types: Final[set[str]] = set()
# Compared, not asked of a range: that would walk through it for an IntEnum such as Priority.
_LOWEST: Final = -(2**31)
_HIGHEST: Final = 2**31 - 1
_LONGEST_DELAY: Final = 100 * 365 * 86_400.0


@dataclass(slots=True, eq=False)
class PreparedTask:
    """A task that passed every check and is ready to be stored."""

    hex: str
    task_type: str
    payload: bytes
    content_type: str
    priority: int
    unique_key: str | None
    delay: int | None
    """Microseconds from the moment it is stored."""
    run_at: int | None
    max_attempts: int | None

    @property
    def id(self) -> UUID:
        return UUID(hex=self.hex)


TaskLike = NewTask | PreparedTask | tuple[str] | tuple[str, Any]
"""What `enqueue_many` takes: a NewTask or a tuple of type and payload; or one that is prepared, whose id is known before."""


def prepare(
    task_type: Any,
    payload: Any = None,
    max_payload: int = MAX_PAYLOAD,
    hex_id: str | None = None,
    /,
    priority: Any = 0,
    unique_key: Any = None,
    delay: Any = None,
    run_at: Any = None,
    max_attempts: Any = None,
    content_type: Any = None,
) -> PreparedTask:
    """Check a task and encode its payload; raises InvalidInput naming the field."""
    # A queue sees few types and very many tasks of each, so a type is looked at once.
    if type(task_type) is not str or task_type not in _checked_types:
        _check_text("task_type", task_type)
        if len(_checked_types) < _MAX_CHECKED_TYPES:
            _checked_types.add(task_type)
    if unique_key is not None:
        _check_text("unique_key", unique_key)
    if not isinstance(priority, int) or not _LOWEST <= priority <= _HIGHEST:
        raise InvalidInput("priority", f"must be an int of 32 bits, got {priority!r}")
    if max_attempts is not None and (not isinstance(max_attempts, int) or not 1 <= max_attempts <= _HIGHEST):
        raise InvalidInput("max_attempts", f"must be an int from 1 to {_HIGHEST}, got {max_attempts!r}")
    if content_type is not None:
        _check_text("content_type", content_type)
    data, content_type = payloads.encode(payload, content_type)
    if len(data) > max_payload:
        check_size("payload", data, max_payload)
    return PreparedTask(
        hex_id or new_ids(1)[0],
        task_type,
        data,
        content_type,
        int(priority),
        unique_key,
        None if delay is None else _check_delay(delay, run_at),
        None if run_at is None else _check_run_at(run_at),
        max_attempts,
    )


def prepare_many(tasks: Iterable[TaskLike], *, max_payload: int = MAX_PAYLOAD) -> list[PreparedTask]:
    """Check many tasks; the error of a bad one says which it is, and nothing was stored."""
    # Whatever the annotations say, callers without a type checker give anything.
    listed: list[Any] = list(tasks)
    prepared = []
    for place, (task, hex_id) in enumerate(zip(listed, new_ids(len(listed)), strict=True)):
        try:
            if isinstance(task, NewTask):
                prepared.append(_prepare_new(task, max_payload, hex_id))
            elif isinstance(task, tuple) and 1 <= len(task) <= 2:
                prepared.append(prepare(task[0], task[1] if len(task) == 2 else None, max_payload, hex_id))
            elif isinstance(task, PreparedTask):
                prepared.append(task)
            else:
                raise InvalidInput("task", f"must be a NewTask or a tuple of type and payload, got {task!r}")
        except InvalidInput as problem:
            raise type(problem)(f"tasks[{place}].{problem.field}", problem.problem) from problem
    return prepared


def _prepare_new(task: NewTask, max_payload: int, hex_id: str) -> PreparedTask:
    return prepare(
        task.task_type,
        task.payload,
        max_payload,
        hex_id,
        priority=task.priority,
        unique_key=task.unique_key,
        delay=task.delay,
        run_at=task.run_at,
        max_attempts=task.max_attempts,
        content_type=task.content_type,
    )


def new_ids(count: int) -> list[str]:
    """Fresh UUIDs of version 7 in hex. They begin with the time, so that an index on them grows at one end."""
    millis = f"{time.time_ns() // 1_000_000:012x}"
    noise = os.urandom(10 * count).hex()
    variant = "89ab"
    return [
        f"{millis}7{noise[at : at + 3]}{variant[int(noise[at + 3], 16) & 3]}{noise[at + 4 : at + 19]}"
        for at in range(0, 20 * count, 20)
    ]


def parse_id(task_id: UUID | str) -> UUID | None:
    """The id, or None when the text is no id and so can name no task."""
    if isinstance(task_id, UUID):
        return task_id
    try:
        return UUID(task_id)
    except (ValueError, AttributeError, TypeError):
        return None


def known_id(task_id: UUID | str) -> UUID:
    """The id as a UUID; what is none can name no task."""
    known = parse_id(task_id)
    if known is None:
        raise TaskNotFound(f"no task has the id {task_id!r}; an id is a UUID")
    return known


def check_size(field: str, data: bytes, limit: int) -> None:
    """Refuse what is too large to store."""
    if len(data) > limit:
        raise PayloadTooLarge(
            field, f"{len(data):,} bytes, over the limit of {limit:,}; keep it in a file and pass its path"
        )


def seconds_of(field: str, value: Any) -> float:
    """A duration in seconds, given as a number or a timedelta."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value):
        return float(value)
    raise InvalidInput(field, f"must be seconds or a timedelta, got {value!r}")


def check_wait(field: str, value: float | timedelta) -> float:
    """A wait in seconds that can be kept: not negative, and not for ever."""
    seconds = seconds_of(field, value)
    if not 0 <= seconds <= _LONGEST_DELAY:
        raise InvalidInput(field, f"must be between 0 and 100 years, got {seconds} s")
    return seconds


def due_at(task: PreparedTask, now: int) -> int | None:
    """When the task may run, if that is later than now."""
    due = task.run_at if task.delay is None else now + task.delay
    return due if due is not None and due > now else None


def merge_by_key(tasks: Sequence[PreparedTask]) -> dict[str, PreparedTask]:
    """One task per unique key, the first with the highest priority asked for, in the order of the keys."""
    merged: dict[str, PreparedTask] = {}
    for task in tasks:
        if task.unique_key is not None:
            first = merged.setdefault(task.unique_key, task)
            first.priority = max(first.priority, task.priority)
    return dict(sorted(merged.items()))


def _check_text(field: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(field, f"must be a text that is not empty, got {value!r}")
    if len(value) > _MAX_NAME or "\x00" in value:
        raise InvalidInput(field, f"must be at most {_MAX_NAME} characters without NUL")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(field, "must be valid Unicode") from None


def _check_delay(delay: Any, run_at: Any) -> int | None:
    if run_at is not None:
        raise InvalidInput("delay", "give delay or run_at, not both")
    seconds = seconds_of("delay", delay)
    if not 0 <= seconds <= _LONGEST_DELAY:
        raise InvalidInput("delay", f"must be between 0 and 100 years, got {seconds} s")
    return round(seconds * 1_000_000) or None


def _check_run_at(run_at: Any) -> int:
    if not isinstance(run_at, datetime) or run_at.tzinfo is None:
        raise InvalidInput("run_at", f"must be a datetime with a time zone, got {run_at!r}")
    return from_datetime(run_at)
