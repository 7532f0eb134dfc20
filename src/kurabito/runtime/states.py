"""The states of a task, and every move that is legal between them.

Whatever moves a task asks `may_move` or `check_move` first. `docs/reference/states.md` has the picture.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final

from kurabito.runtime.errors import TaskConflict


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

MOVES: Final[dict[TaskState, frozenset[TaskState]]] = {
    TaskState.QUEUED: frozenset({TaskState.RUNNING, TaskState.CANCELLED}),
    TaskState.RUNNING: frozenset(TaskState) - {TaskState.RUNNING},
    TaskState.RETRY_SCHEDULED: frozenset({TaskState.QUEUED, TaskState.CANCELLED}),
    TaskState.SUCCEEDED: frozenset(),
    TaskState.DEAD: frozenset({TaskState.QUEUED}),
    TaskState.CANCELLED: frozenset({TaskState.QUEUED}),
}


def may_move(before: TaskState, after: TaskState) -> bool:
    """Whether a task in the one state may go to the other. A state that this version does not know allows nothing."""
    return after in MOVES.get(before, ())


def check_move(before: TaskState, after: TaskState) -> None:
    """Refuse a move that is not in the table."""
    if not may_move(before, after):
        raise TaskConflict(f"a task that is {before} does not become {after}; `MOVES` has every move that is legal")


def may_retry(state: TaskState) -> bool:
    """Whether a task in this state is finished and may be put back all the same."""
    return state in TERMINAL and may_move(state, TaskState.QUEUED)
