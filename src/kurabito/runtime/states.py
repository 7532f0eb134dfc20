"""The states of a task, and every move that is legal between them.

`docs/reference/states.md` has the picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Final


class TaskState(StrEnum):
    """Where a task is in its life; the value is what is stored."""

    QUEUED = "queued"
    RUNNING = "running"
    RETRY_SCHEDULED = "retry_scheduled"
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"


def state_of(word: str) -> TaskState:
    """A stored state; one that this version does not know keeps its own word and is none of the known ones."""
    if word in STATES:
        return TaskState(word)
    state = str.__new__(TaskState, word)
    state._name_ = "UNKNOWN"
    state._value_ = word
    return state


class Priority(IntEnum):
    """Names for the two usual priorities. Any int is allowed; the larger goes first."""

    NORMAL = 0
    HIGH = 1


STATES: Final = frozenset(state.value for state in TaskState)
ACTIVE: Final = frozenset({TaskState.QUEUED, TaskState.RUNNING, TaskState.RETRY_SCHEDULED})
TERMINAL: Final = frozenset(TaskState) - ACTIVE
WAITING: Final = frozenset({TaskState.QUEUED, TaskState.RETRY_SCHEDULED})
RETRYABLE: Final = frozenset({TaskState.DEAD, TaskState.CANCELLED})

MOVES: Final[Mapping[TaskState, frozenset[TaskState]]] = {
    TaskState.QUEUED: frozenset({TaskState.RUNNING, TaskState.CANCELLED}),
    TaskState.RUNNING: frozenset(TaskState) - {TaskState.RUNNING},
    TaskState.RETRY_SCHEDULED: frozenset({TaskState.QUEUED, TaskState.CANCELLED}),
    TaskState.SUCCEEDED: frozenset(),
    TaskState.DEAD: frozenset({TaskState.QUEUED}),
    TaskState.CANCELLED: frozenset({TaskState.QUEUED}),
}
