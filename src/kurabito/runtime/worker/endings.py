"""What the end of a handler means: the outcome of a claim.

Every way in which a handler can end is an outcome: whatever it returns, raises, or does not do in time. Nothing in here but
`outcome_of` raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kurabito.errors import InvalidInput
from kurabito.logs import get_logger
from kurabito.runtime.errors import PermanentError
from kurabito.runtime.outcomes import Claim, Failure, Outcome, Snooze, Snoozed
from kurabito.runtime.tasks import payloads
from kurabito.runtime.tasks.context import TaskContext
from kurabito.runtime.tasks.handlers import Handler
from kurabito.runtime.tasks.intake import check_size, check_wait
from kurabito.runtime.worker.failures import describe, trace_of

_log = get_logger("kurabito.runtime")


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
