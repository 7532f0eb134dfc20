"""Calling a handler, and what its end means: the outcome of a claim."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from kurabito.errors import InvalidInput, PermanentError
from kurabito.logs import get_logger
from kurabito.runtime import payloads
from kurabito.runtime.context import TaskContext
from kurabito.runtime.handlers import Handler
from kurabito.runtime.intake import check_size, check_wait
from kurabito.runtime.outcomes import Claim, Failure, Outcome, Postponed, Snooze

_log = get_logger("kurabito.runtime")


class Execution:
    """Calls handlers: coroutines where they are awaited, plain functions in threads of its own."""

    def __init__(self, threads: int, max_payload: int) -> None:
        self._size = threads
        self._max_payload = max_payload
        self._threads: ThreadPoolExecutor | None = None

    def close(self) -> None:
        """Let the threads go; a plain function that does not return keeps its own until it does."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def call(self, handler: Handler, claim: Claim, ctx: TaskContext) -> Awaitable[Any]:
        """What to wait for to have the handler's result; whatever it raises comes out."""
        arguments = handler.arguments(claim, ctx)
        if not handler.is_async:
            return self._in_thread(handler, arguments, ctx)
        if handler.time_limit is not None:
            return _in_time(handler, arguments, handler.time_limit)
        awaited: Awaitable[Any] = handler.fn(*arguments)
        return awaited

    def outcome(self, result: Any, ctx: TaskContext) -> Outcome:
        """What it means that the handler returned this."""
        if result is None:
            return ctx.success(None)
        if isinstance(result, Snooze):
            return Postponed(result.seconds)
        return ctx.success(self._stored(result))

    async def _in_thread(self, handler: Handler, arguments: tuple[Any, ...], ctx: TaskContext) -> Any:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._size, thread_name_prefix="kurabito-task")
        loop = asyncio.get_running_loop()
        context = copy_context()
        working = loop.run_in_executor(self._threads, lambda: context.run(handler.fn, *arguments))
        if handler.time_limit is None:
            return await working
        done, _ = await asyncio.wait({working}, timeout=handler.time_limit)
        if done:
            return working.result()
        ctx.told_to_stop = "time"
        await asyncio.wait({working})
        raise TimeoutError(f"ran longer than its time limit of {handler.time_limit} s")

    def _stored(self, result: Any) -> bytes:
        try:
            stored, _ = payloads.encode(result, field="result")
            check_size("result", stored, self._max_payload)
        except InvalidInput as problem:
            raise PermanentError(f"the handler did its work, but its result cannot be kept: {problem}") from problem
        return stored


def failure(handler: Handler, claim: Claim, problem: BaseException) -> Outcome:
    """What it means that the handler raised this."""
    if isinstance(problem, Snooze):
        return Postponed(problem.seconds)
    error = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    permanent = isinstance(problem, PermanentError)
    if not permanent:
        _log.debug("handler_raised", task_id=str(claim.id), task_type=claim.task_type, exc_info=problem)
    try:
        wait = 0.0 if permanent else check_wait("wait", handler.retry(claim.attempt, problem))
    except Exception as broken:  # noqa: BLE001 - a policy is the user's own code
        error += f"; and its retry policy raised {type(broken).__name__}: {broken}"
        permanent, wait = True, 0.0
    return Failure(error, wait, permanent, handler.max_attempts)


async def _in_time(handler: Handler, arguments: tuple[Any, ...], limit: float) -> Any:
    timer = asyncio.timeout(limit)
    try:
        async with timer:
            return await handler.fn(*arguments)
    except TimeoutError:
        if timer.expired():
            raise TimeoutError(f"ran longer than its time limit of {limit} s") from None
        raise
