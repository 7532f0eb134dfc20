"""How a claim ends, as values.

Every way in which a handler can end is an outcome: whatever it returns, raises, or does not do in time. A worker says what
happened; the queue decides what becomes of the task. That decision is `transition_of`, written once for every adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from kurabito.clock import SECOND
from kurabito.errors import InvalidInput, LeaseLost
from kurabito.logs import get_logger
from kurabito.runtime.errors import PermanentError
from kurabito.runtime.model import DEFAULT_ATTEMPTS, MAX_LOST_LEASES, SUSPECT_LEASES, Progress, TaskRecord
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks import payloads
from kurabito.runtime.tasks.intake import PreparedTask, check_size, check_wait
from kurabito.runtime.worker.failures import clip_trace, describe, storable, trace_of

if TYPE_CHECKING:
    from kurabito.runtime.tasks.context import TaskContext
    from kurabito.runtime.tasks.handlers import Handler

_log = get_logger("kurabito.runtime")

POISON: Final = f"WORKER_LOST: {MAX_LOST_LEASES} workers were lost while they ran it; "


class Snooze(Exception):
    """Raise or return it in a handler: run this task again in `seconds`, and do not count the attempt."""

    def __init__(self, seconds: float) -> None:
        self.seconds = check_wait("seconds", seconds)
        super().__init__(f"again in {seconds} s")


@dataclass(slots=True, eq=False)
class Claim:
    """The right to run one task until its lease ends; the owner's token fences every write."""

    key: int
    hex: str
    task_type: str
    payload: bytes
    content_type: str
    attempt: int
    max_attempts: int | None
    owner: str
    lease_expires_at: int
    progress: Progress | None = None
    lost_leases: int = 0

    @property
    def id(self) -> UUID:
        return UUID(hex=self.hex)

    @property
    def is_suspect(self) -> bool:
        """One more lost worker and the task is dead, so it shares its worker with no other such task."""
        return self.lost_leases >= SUSPECT_LEASES


@dataclass(frozen=True, slots=True)
class Success:
    """The handler returned. Its follow-ups are enqueued in the same transaction."""

    result: bytes | None = None
    follow_ups: tuple[PreparedTask, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """The handler raised. The queue retries after `retry_in` seconds unless that was the last attempt."""

    error: str
    retry_in: float = 0.0
    permanent: bool = False
    max_attempts: int = DEFAULT_ATTEMPTS
    """The handler's limit, which holds unless the task was enqueued with its own."""
    traceback: str | None = None
    """Where the error came from, for the person who looks for the fault."""


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The handler asked to be called again later; the attempt is given back."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Released:
    """The worker could not run it after all (shutdown, claimed ahead too far); the attempt is given back."""


Outcome = Success | Failure | Snoozed | Released
Settlement = tuple[Claim, Outcome]
Settlements = Sequence[Settlement]


@dataclass(frozen=True, slots=True)
class Transition:
    """What a settlement makes of the task."""

    state: TaskState
    attempts: int
    max_attempts: int | None
    delay: int | None = None
    """Microseconds until the next run, for RETRY_SCHEDULED."""
    error: str | None = None
    result: bytes | None = None
    traceback: str | None = None


def transition_of(claim: Claim, outcome: Outcome) -> Transition:
    """What becomes of the task, given how its claim ended."""
    match outcome:
        case Success(result=result):
            return Transition(TaskState.SUCCEEDED, claim.attempt, claim.max_attempts, result=result)
        case Failure(error=error, retry_in=retry_in, permanent=permanent):
            limit = claim.max_attempts or outcome.max_attempts
            hopeless = permanent or claim.attempt >= limit
            return Transition(
                TaskState.DEAD if hopeless else TaskState.RETRY_SCHEDULED,
                claim.attempt,
                limit,
                None if hopeless else microseconds(retry_in),
                storable(error),
                traceback=None if outcome.traceback is None else clip_trace(outcome.traceback),
            )
        case Snoozed(seconds=seconds):
            return Transition(TaskState.RETRY_SCHEDULED, claim.attempt - 1, claim.max_attempts, microseconds(seconds))
        case Released():
            return Transition(TaskState.QUEUED, claim.attempt - 1, claim.max_attempts)


def too_long(limit: float) -> TimeoutError:
    """What is raised for a handler that is over its limit."""
    return TimeoutError(f"ran longer than its time limit of {limit} s")


def conclude(
    handler: Handler,
    claim: Claim,
    ctx: TaskContext,
    max_payload: int,
    call: Callable[..., Any],
) -> Outcome:
    """Have a handler called with its arguments, and say how that ended."""
    try:
        return outcome_of(call(handler.fn, *handler.arguments(claim, ctx)), ctx, max_payload)
    except BaseException as problem:  # noqa: BLE001 - whatever a handler raises is how its attempt ended
        return failure(handler, claim, problem)


def outcome_of(result: Any, ctx: TaskContext, max_payload: int) -> Outcome:
    """What it means that a handler returned this."""
    if result is None:
        return ctx.success(None)
    if isinstance(result, Snooze):
        return Snoozed(check_wait("seconds", result.seconds))
    try:
        stored = payloads.encode_result(result)
        check_size("result", stored, max_payload)
    except InvalidInput as problem:
        raise PermanentError(f"the handler did its work, but its result cannot be kept: {problem}") from problem
    return ctx.success(stored)


def failure(handler: Handler, claim: Claim, problem: BaseException) -> Outcome:
    """What it means that the handler raised this."""
    # By its type: what an object says its class is may be a lie.
    if issubclass(type(problem), Snooze):
        try:
            return Snoozed(check_wait("seconds", problem.seconds))  # type: ignore[attr-defined]
        except Exception as broken:  # noqa: BLE001 - what it says was changed, so it says nothing
            problem = broken
    error, traceback = describe(problem), trace_of(problem)
    permanent = issubclass(type(problem), PermanentError)
    if not permanent:
        _log.debug("handler_raised", task_id=str(claim.id), task_type=claim.task_type, error=error, exception=traceback)
    try:
        wait = 0.0 if permanent else check_wait("wait", handler.retry(claim.attempt, problem))
    except BaseException as broken:  # noqa: BLE001 - a policy is the user's own code
        error += f"; and its retry policy raised {describe(broken)}"
        permanent, wait = True, 0.0
    return Failure(error, wait, permanent, handler.max_attempts, traceback)


def microseconds(seconds: float) -> int:
    """A wait of `seconds` that is never negative."""
    return max(0, round(seconds * SECOND))


def lease_lost(task: TaskRecord) -> LeaseLost:
    """What a worker is told that works on a task without its lease."""
    now = f"{task.worker} has it" if task.worker and task.state is TaskState.RUNNING else f"it is {task.state}"
    return LeaseLost(f"the lease on task {task.id} is not yours any more: {now}; stop working on it")


def lost_lease_error(owner: str | None) -> str:
    """What is written on a task whose worker was lost."""
    return f"LEASE_EXPIRED: worker {worker_name(owner) or 'unknown'} stopped renewing its lease"


def worker_lost_error(owner: str | None) -> str:
    """What is written on a task that took down too many workers."""
    return POISON + lost_lease_error(owner)


def worker_name(owner: str | None) -> str | None:
    """The worker's name in an owner, which is `name#token`."""
    return owner.partition("#")[0] if owner else None
