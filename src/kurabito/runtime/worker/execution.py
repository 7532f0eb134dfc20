"""Where handlers run: coroutines in the event loop, plain functions in threads, isolated handlers in processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from functools import partial
from typing import Any, Final

from kurabito.logs import get_logger
from kurabito.runtime.outcomes import Claim, Outcome
from kurabito.runtime.tasks.context import StopReason, TaskContext
from kurabito.runtime.tasks.handlers import Handler
from kurabito.runtime.worker.endings import conclude, failure, outcome_of, too_long
from kurabito.runtime.worker.isolation.processes import HandlerProcesses, IsolatedRun
from kurabito.runtime.worker.threads import HandlerThreads

_log = get_logger("kurabito.runtime")

LAST_CHANCE: Final = 1.0
"""Seconds that a handler has to heed a stop before it is given up."""


class Execution:
    """Calls handlers: coroutines where they are awaited, plain functions in threads, isolated ones in processes."""

    def __init__(self, max_payload: int, gave_up: Callable[[], object]) -> None:
        self._max_payload = max_payload
        self._gave_up = gave_up
        """Called when one more plain function was left behind in its thread."""
        self._threads = HandlerThreads()
        self._processes = HandlerProcesses(max_payload)
        self._isolated: dict[int, IsolatedRun] = {}

    @property
    def abandoned(self) -> int:
        """How many threads still run what was given up."""
        return self._threads.abandoned

    def close(self) -> None:
        """Let the threads and processes go; a plain function that does not return keeps its own until it does."""
        self._threads.close()
        self._processes.close()

    def call(self, handler: Handler, claim: Claim, ctx: TaskContext) -> Awaitable[Any]:
        """What to wait for to have the result of a coroutine function; whatever it raises comes out."""
        awaited: Awaitable[Any] = handler.fn(*handler.arguments(claim, ctx))
        return awaited

    def outcome(self, result: Any, ctx: TaskContext) -> Outcome:
        """What it means that the handler returned this."""
        # The usual end first: it is nearly all of the traffic.
        return ctx.success(None) if result is None else outcome_of(result, ctx, self._max_payload)

    async def apart(self, handler: Handler, claim: Claim, ctx: TaskContext) -> Outcome:
        """Run a handler beside the event loop, in a thread or a process; how it ended."""
        if handler.isolation is None:
            context = copy_context()
            work: Callable[[], Outcome] = partial(conclude, handler, claim, ctx, self._max_payload, context.run)
            return await self._within_limit(handler, claim, ctx, self._threads.start(work))
        run = self._isolated[id(ctx)] = self._processes.run(handler, claim, ctx)
        try:
            return await self._within_limit(handler, claim, ctx, self._threads.start(run.to_its_end), run)
        finally:
            del self._isolated[id(ctx)]

    def stop(self, ctx: TaskContext, handler: Handler, slot: asyncio.Task[None], why: StopReason) -> None:
        """Have a handler end: a coroutine is cancelled, a process has a moment and is killed then."""
        ctx.told_to_stop = why
        # A thread cannot be interrupted: a plain function looks at ctx.cancelled.
        if handler.in_loop:
            slot.cancel()
        elif (run := self._isolated.get(id(ctx))) is not None:
            run.stop()

    async def _within_limit(
        self,
        handler: Handler,
        claim: Claim,
        ctx: TaskContext,
        working: asyncio.Future[Outcome],
        run: IsolatedRun | None = None,
    ) -> Outcome:
        if handler.time_limit is None:
            return await working
        done, _ = await asyncio.wait({working}, timeout=handler.time_limit)
        if done:
            return working.result()
        ctx.told_to_stop = ctx.told_to_stop or "time"
        if run is not None:
            run.stop()
            await working
        else:
            await asyncio.wait({working}, timeout=LAST_CHANCE)
            if not working.done():
                _log.warning("handler_abandoned", task_id=str(claim.id), task_type=claim.task_type)
                self._threads.abandon(working)
                self._gave_up()
        return failure(handler, claim, too_long(handler.time_limit))
