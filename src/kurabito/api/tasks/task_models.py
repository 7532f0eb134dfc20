"""Tasks as they leave through the API."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

import pydantic_core
from pydantic import BaseModel, Field

from kurabito.reasons import Reason
from kurabito.runtime import TaskRecord, TaskState
from kurabito.runtime.model import Progress
from kurabito.runtime.reasons import WaitReason, waits_for
from kurabito.runtime.tasks.payloads import BYTES, JSON


class ProgressAnswer(BaseModel):
    """How far the work is."""

    done: int
    total: int | None = Field(description="null while it is not known")

    @classmethod
    def of(cls, progress: Progress | None) -> Self | None:
        return None if progress is None else cls(done=progress.done, total=progress.total)


class AttemptErrorAnswer(BaseModel):
    """One attempt that did not end well."""

    attempt: int
    at: datetime
    error: str
    traceback: str | None = Field(description="where the error came from, as far as the worker could tell")


class ReasonAnswer(BaseModel):
    """Why a task waits: a code to translate, and what belongs into its sentence."""

    code: Literal["no_worker", "scheduled", "retry"]
    parameters: dict[str, str | int]


class TaskAnswer(BaseModel):
    """A task at one moment. Times are UTC."""

    id: UUID
    task_type: str
    state: TaskState
    payload: Any = Field(description="the JSON itself; base64 when `content_type` is another than application/json")
    content_type: str
    priority: int = Field(description="the larger goes first")
    unique_key: str | None
    attempts: int
    max_attempts: int
    lost_leases: int = Field(description="how many workers were lost while they ran it")
    progress: ProgressAnswer | None
    result: Any = Field(
        description="the JSON itself; base64 when `result_content_type` is another than application/json"
    )
    result_content_type: str
    last_error: str | None
    errors: list[AttemptErrorAnswer] = Field(description="the attempts that failed, oldest first")
    reason: ReasonAnswer | None = Field(description="why it waits; null when it does not, or only for its turn")
    next_run_at: datetime | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    lease_expires_at: datetime | None
    worker: str | None = Field(description="who has it, or had it last")
    no_worker: bool = Field(description="it waits, and no living worker runs its type")
    unreadable: list[str] = Field(description="fields whose stored values this version does not understand")

    @classmethod
    def of(cls, task: TaskRecord) -> Self:
        payload, content_type = shown(task.payload, task.content_type)
        result, result_type = None, JSON
        if task.stored_result is not None:
            result, result_type = shown(task.stored_result, task.result_content_type)
        return cls(
            id=task.id,
            task_type=task.task_type,
            state=task.state,
            payload=payload,
            content_type=content_type,
            priority=task.priority,
            unique_key=task.unique_key,
            attempts=task.attempts,
            max_attempts=task.max_attempts,
            lost_leases=task.lost_leases,
            progress=ProgressAnswer.of(task.progress),
            result=result,
            result_content_type=result_type,
            last_error=task.last_error,
            errors=[
                AttemptErrorAnswer(attempt=one.attempt, at=one.at, error=one.error, traceback=one.traceback)
                for one in task.errors
            ],
            reason=_reason(task),
            next_run_at=task.next_run_at,
            created_at=task.created_at,
            updated_at=task.updated_at,
            started_at=task.started_at,
            finished_at=task.finished_at,
            lease_expires_at=task.lease_expires_at,
            worker=task.worker,
            no_worker=task.no_worker,
            unreadable=list(task.unreadable),
        )


def shown(data: bytes, content_type: str) -> tuple[Any, str]:
    """Stored bytes as an answer carries them, and the content type that tells how: JSON as itself, all else as base64."""
    if content_type == JSON:
        try:
            # The strict parser refuses what is no JSON to others: NaN, half characters, hundreds of levels.
            return pydantic_core.from_json(data, allow_inf_nan=False), JSON
        except ValueError:
            content_type = BYTES
    return base64.b64encode(data).decode(), content_type


def _reason(task: TaskRecord) -> ReasonAnswer | None:
    match waits_for(task):
        case [Reason(code=WaitReason.NO_WORKER), *_]:
            return ReasonAnswer(code="no_worker", parameters={"task_type": task.task_type})
        case [Reason(code=WaitReason.DUE, facts={"when": datetime() as when})]:
            return ReasonAnswer(code="scheduled", parameters={"next_run_at": when.isoformat()})
        case [Reason(code=WaitReason.RETRY, facts={"when": datetime() as when})]:
            counts = {"attempts": task.attempts, "max_attempts": task.max_attempts}
            return ReasonAnswer(code="retry", parameters={"next_run_at": when.isoformat(), **counts})
        case _:
            return None
