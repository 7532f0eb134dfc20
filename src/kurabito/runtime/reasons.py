"""Why a task is where it is: codes with facts, for the API and the pages to put into words."""

from __future__ import annotations

from enum import StrEnum

from kurabito.reasons import Reason
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.outcomes import POISON, lost_lease_error
from kurabito.runtime.states import TaskState


class WaitReason(StrEnum):
    """What a task waits for."""

    NO_WORKER = "no_worker"
    RETRY = "retry"
    """For `attempt` of `most`, `when` it is due."""
    DUE = "due"
    """For its time, `when`."""
    IN_LINE = "in_line"


class LostReason(StrEnum):
    """Why the queue itself took a task from its `worker`."""

    LEASE_EXPIRED = "lease_expired"
    WORKER_LOST = "worker_lost"
    """It was the last of too many, and the task is dead."""


def waits_for(task: TaskRecord) -> list[Reason[WaitReason]]:
    """What has to happen before the task runs, the gravest first; nothing when it does not wait."""
    reasons = [Reason(WaitReason.NO_WORKER)] if task.no_worker else []
    if task.state is TaskState.RETRY_SCHEDULED:
        if task.attempts:
            facts = {"attempt": task.attempts + 1, "most": task.max_attempts, "when": task.next_run_at}
            reasons.append(Reason(WaitReason.RETRY, facts))
        else:
            reasons.append(Reason(WaitReason.DUE, {"when": task.next_run_at}))
    elif task.state is TaskState.QUEUED and not task.no_worker:
        reasons.append(Reason(WaitReason.IN_LINE))
    return reasons


def lost_worker(error: str) -> Reason[LostReason] | None:
    """The reason behind a stored error that the queue itself wrote; None for what a handler said."""
    text = error.removeprefix(POISON)
    for name in text.split(" ")[2:3]:
        if text == lost_lease_error(name):
            code = LostReason.LEASE_EXPIRED if text == error else LostReason.WORKER_LOST
            return Reason(code, {"worker": name})
    return None
