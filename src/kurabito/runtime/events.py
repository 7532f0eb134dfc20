"""What happened to tasks, told in eight words: as events, as stored rows, and as lines of the log.

A stored row of `task_events` tells of one move of many tasks, because work moves in batches: a name, a moment and a list
of facts. `pack` and `unpack` are the two directions of that; each event class says which facts it carries.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from kurabito.clock import to_datetime
from kurabito.logs import get_logger

_LOGGER: Final = "kurabito.runtime"
_log: Final = get_logger(_LOGGER)
_gate: Final = logging.getLogger(_LOGGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent:
    """One thing that happened to one task."""

    task_id: UUID
    task_type: str
    at: datetime
    cursor: str = ""
    """Give it to `queue.events(after=…)` to go on after this event."""

    @property
    def name(self) -> str:
        return type(self).__name__


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueued(TaskEvent):
    """The task was accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(TaskEvent):
    """A worker claimed the task."""

    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progressed(TaskEvent):
    """The handler reported how far it is."""

    done: int
    total: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded(TaskEvent):
    """The handler returned."""

    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(TaskEvent):
    """An attempt ended in an error; RetryScheduled or Dead follows."""

    attempt: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled(TaskEvent):
    """The task will run at `next_run_at`, `backoff` seconds after it was put there."""

    next_run_at: datetime
    backoff: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead(TaskEvent):
    """The task will not be tried again."""

    attempts: int
    last_error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled(TaskEvent):
    """The task was cancelled."""


_COMMON: Final = frozenset(field.name for field in fields(TaskEvent))
EVENTS: Final[Mapping[str, type[TaskEvent]]] = {
    kind.__name__: kind for kind in (Enqueued, Started, Progressed, Succeeded, Failed, RetryScheduled, Dead, Cancelled)
}
FACTS: Final = {
    name: tuple(field.name for field in fields(kind) if field.name not in _COMMON) for name, kind in EVENTS.items()
}

Fact = Sequence[Any]
"""A task's id in hex, its type, then the values of the event's own fields in their order."""

_LEVELS: Final = {
    "Enqueued": logging.DEBUG,
    "Started": logging.DEBUG,
    "Progressed": logging.DEBUG,
    "Succeeded": logging.DEBUG,
    "Cancelled": logging.INFO,
    "RetryScheduled": logging.INFO,
    "Failed": logging.WARNING,
    "Dead": logging.WARNING,
}


class PendingEvents:
    """What a change did that others hear of once it is committed."""

    __slots__ = ("arrived", "events", "interrupted")

    def __init__(self) -> None:
        self.events: list[tuple[str, Sequence[Fact]]] = []
        self.arrived = False
        """There may be something new to claim, or a scheduled time has changed."""
        self.interrupted = False
        """A running task was cancelled."""

    def add(self, name: str, facts: Sequence[Fact]) -> None:
        """Note one move of many tasks."""
        self.events.append((name, facts))

    def log(self) -> None:
        """Write the events to the log."""
        for name, facts in self.events:
            log_events(name, facts)


def pack(facts: Sequence[Fact]) -> str:
    """Facts as the text that a row stores."""
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False)


def unpack(name: str, at: int, facts: str | Sequence[Fact], cursor: str, after: int = 0) -> Iterator[TaskEvent]:
    """The events of one row, from the one numbered `after` on. A cursor names the row and the place in it."""
    kind, own, when = EVENTS[name], FACTS[name], to_datetime(at)
    listed: Sequence[Fact] = json.loads(facts) if isinstance(facts, str) else facts
    for place, (task_id, task_type, *values) in enumerate(listed[after:], after + 1):
        own_facts = dict(zip(own, values, strict=True))
        if "next_run_at" in own_facts:
            own_facts["next_run_at"] = to_datetime(own_facts["next_run_at"])
        yield kind(task_id=UUID(hex=task_id), task_type=task_type, at=when, cursor=f"{cursor}.{place}", **own_facts)


def log_events(name: str, facts: Sequence[Fact]) -> None:
    """Log each fact of a batch, after the move was stored."""
    level = _LEVELS[name]
    # Asked once for the whole batch: at full speed most of these lines are not logged.
    if not _gate.isEnabledFor(level):
        return
    own = FACTS[name]
    for task_id, task_type, *values in facts:
        _log.log(
            level, name, task_id=str(UUID(hex=task_id)), task_type=task_type, **dict(zip(own, values, strict=True))
        )
