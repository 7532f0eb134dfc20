"""Tasks that are enqueued at given times.

A rule is a pure function of time, so every process that has the same schedule counts the same ticks, and the queue's
`fire` lets only one of them enqueue the task of a tick.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from kurabito.clock import SECOND
from kurabito.errors import InvalidInput
from kurabito.runtime.tasks.intake import MAX_PAYLOAD, PreparedTask, prepare, seconds_of


class Rule(Protocol):
    """Says when a schedule ticks, in microseconds since the epoch. As text it names itself."""

    def latest(self, now_us: int) -> int:
        """The last tick at or before now."""
        ...

    def next(self, now_us: int) -> int:
        """The first tick after now."""
        ...


@dataclass(frozen=True, slots=True)
class Every:
    """A tick every so many seconds, counted from the epoch so that all processes agree."""

    seconds: float | timedelta
    _period: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        seconds = seconds_of("seconds", self.seconds)
        if not 0.001 <= seconds <= 366 * 86_400:
            raise InvalidInput("seconds", f"must be between a millisecond and a year, got {seconds:g}")
        object.__setattr__(self, "_period", round(seconds * SECOND))

    def __str__(self) -> str:
        return "every " + f"{self._period / SECOND:.6f}".rstrip("0").rstrip(".") + " s"

    def latest(self, now_us: int) -> int:
        return now_us - now_us % self._period

    def next(self, now_us: int) -> int:
        return self.latest(now_us) + self._period


@dataclass(frozen=True, slots=True)
class Schedule:
    """A task to enqueue at each tick of a rule. The name is what the queue remembers its last tick by."""

    name: str
    task_type: str
    payload: Any
    priority: int
    unique_key: str | None
    rule: Rule

    def __post_init__(self) -> None:
        # A payload that cannot be written is found out when the program starts, not at the first tick.
        self.prepare()
        if not self.name.strip() or len(self.name) > 200 or "\x00" in self.name:
            raise InvalidInput("name", f"must be a text of 1 to 200 characters without NUL, got {self.name!r}")

    def prepare(self, max_payload: int = MAX_PAYLOAD) -> PreparedTask:
        """A fresh task for one tick, as `queue.fire` takes it."""
        return prepare(self.task_type, self.payload, max_payload, priority=self.priority, unique_key=self.unique_key)
