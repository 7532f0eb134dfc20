"""What a queue takes and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Generic, Self, TypedDict, TypeVar
from uuid import UUID

from kurabito.runtime.states import TERMINAL, TaskState
from kurabito.runtime.tasks import payloads

T = TypeVar("T")

DEFAULT_ATTEMPTS: Final = 5
MAX_LOST_LEASES: Final = 3
"""A task that took down this many workers is not given to another."""
SUSPECT_LEASES: Final = MAX_LOST_LEASES - 1
"""A task that lost this many is a suspect: with one more it is dead."""
ERRORS_KEPT: Final = 50
"""A task remembers its last failures, not all of a task that is retried for ever."""


@dataclass(frozen=True, slots=True)
class TaskEnvelope:
    """What is to be done: the type names a handler, the payload is its argument."""

    task_type: str
    payload: bytes
    content_type: str = payloads.JSON


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a handler said it is; `total` is None while it does not know."""

    done: int
    total: int | None = None

    @property
    def fraction(self) -> float | None:
        return min(1.0, self.done / self.total) if self.total else None


@dataclass(frozen=True, slots=True)
class AttemptError:
    """One attempt that did not end well."""

    attempt: int
    at: datetime
    error: str
    traceback: str | None = None
    """Where the error came from, cut to 8,000 characters; None when the worker could not tell."""


class TaskOptions(TypedDict, total=False):
    """What can be said of a task beside its type and payload. `Queue.enqueue` has the defaults."""

    priority: int
    unique_key: str | None
    delay: float | timedelta | None
    run_at: datetime | None
    max_attempts: int | None
    content_type: str | None


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to enqueue, with its options: what `enqueue_many` takes."""

    task_type: str
    payload: Any = None
    priority: int = 0
    unique_key: str | None = None
    delay: float | timedelta | None = None
    run_at: datetime | None = None
    max_attempts: int | None = None
    content_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A task as the queue knows it at one moment."""

    id: UUID
    envelope: TaskEnvelope
    state: TaskState
    priority: int
    unique_key: str | None
    attempts: int
    max_attempts: int
    lost_leases: int
    progress: Progress | None
    result: Any
    """What the handler returned, as plain JSON values or bytes; `result_as` gives it its type back."""
    last_error: str | None
    next_run_at: datetime | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    lease_expires_at: datetime | None = None
    worker: str | None = None
    """The name of the worker that has it, or had it last."""
    errors: tuple[AttemptError, ...] = ()
    no_worker: bool = False
    """It waits, and no living worker runs its type."""
    stored_result: bytes | None = field(default=None, repr=False)
    result_content_type: str = payloads.JSON
    unreadable: tuple[str, ...] = ()
    """The fields whose stored values this version does not understand; they are shown as far as they can be."""

    @property
    def task_type(self) -> str:
        return self.envelope.task_type

    @property
    def payload(self) -> bytes:
        return self.envelope.payload

    @property
    def content_type(self) -> str:
        return self.envelope.content_type

    @property
    def finished(self) -> bool:
        return self.state in TERMINAL

    def payload_as(self, wanted: type[T]) -> T:
        """The payload as `wanted`: a dataclass, a pydantic model, dict, bytes, …"""
        return payloads.decode(self.envelope.payload, self.envelope.content_type, wanted)

    def result_as(self, wanted: type[T]) -> T:
        """The result as `wanted`."""
        if self.stored_result is None:
            return payloads.decode(b"null", payloads.JSON, wanted)
        return payloads.decode(self.stored_result, self.result_content_type, wanted)


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """A worker that says it is alive."""

    name: str
    task_types: tuple[str, ...]
    concurrency: int
    started_at: datetime
    heartbeat_at: datetime


@dataclass(frozen=True, slots=True)
class Depth:
    """How many tasks of one type are in one state."""

    task_type: str
    state: TaskState
    count: int
    oldest: datetime
    """When the one that was enqueued first was enqueued."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items, and where the next page begins; None at the end."""

    items: tuple[T, ...]
    next_cursor: str | None

    @classmethod
    def cut(cls, found: Sequence[T], limit: int, cursor_after: Callable[[T], str]) -> Self:
        """The first `limit` items of a list that was asked for one more, to see whether there is a next page."""
        shown = tuple(found[:limit])
        return cls(shown, cursor_after(shown[-1]) if len(found) > limit else None)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)
