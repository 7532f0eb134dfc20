"""Why a task is where it is: codes with facts, which the page puts into words of the reader's language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from kurabito.runtime import TaskRecord, TaskState

_LOST: Final = re.compile(r"(?P<code>LEASE_EXPIRED|WORKER_LOST): .*worker (?P<worker>\S+) stopped renewing", re.DOTALL)


class Why(StrEnum):
    """What a task waits for; the value is the message's key below `waiting`."""

    NO_WORKER = "no_worker"
    RETRY = "retry"
    DUE = "due"
    IN_LINE = "in_line"


@dataclass(frozen=True, slots=True)
class ShownReason:
    """One reason and what it is about."""

    why: Why
    facts: Mapping[str, object] = field(default_factory=dict)


def waits_for(task: TaskRecord) -> list[ShownReason]:
    """What has to happen before the task runs, the gravest first; nothing when it does not wait."""
    reasons = [ShownReason(Why.NO_WORKER)] if task.no_worker else []
    if task.state is TaskState.RETRY_SCHEDULED:
        if task.attempts:
            facts = {"attempt": task.attempts + 1, "most": task.max_attempts, "when": task.next_run_at}
            reasons.append(ShownReason(Why.RETRY, facts))
        else:
            reasons.append(ShownReason(Why.DUE, {"when": task.next_run_at}))
    elif task.state is TaskState.QUEUED and not task.no_worker:
        reasons.append(ShownReason(Why.IN_LINE))
    return reasons


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error that the runtime itself wrote on a task; its key is below `task_error`."""

    code: str
    worker: str


def known_error(text: str) -> KnownError | None:
    """The error behind a stored text when it is one of ours; a handler's own words stay as they are."""
    found = _LOST.match(text)
    return None if found is None else KnownError(found["code"].lower(), found["worker"])
