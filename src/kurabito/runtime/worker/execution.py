"""Where handlers run that are no coroutines of the event loop: plain functions in threads, isolated ones in processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any, Final

from kurabito.clock import Clock
from kurabito.logs import get_logger
from kurabito.runtime.outcomes import Claim, Outcome, conclude, failure, too_long
from kurabito.runtime.tasks.context import StopReason, TaskContext
from kurabito.runtime.tasks.handlers import Handler
from kurabito.runtime.worker.isolation.processes import HandlerProcesses, IsolatedRun
from kurabito.runtime.worker.threads import HandlerThreads

_log = get_logger("kurabito.runtime")

LAST_CHANCE: Final = 1.0
"""Seconds that a handler has to heed a stop before it is given up."""


class Execution:
    """Runs handlers beside the event loop, and stops them wherever they run."""

    def __init__(self, max_payload: int, clock: Clock, gave_up: Callable[[], object]) -> None:
        self._max_payload = max_payload
        self._clock = clock
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
        if await ended_within(self._clock, handler.time_limit, working):
            return working.result()
        ctx.told_to_stop = ctx.told_to_stop or "time"
        if run is not None:
            run.stop()
            await working
        elif not await ended_within(self._clock, LAST_CHANCE, working):
            _log.warning("handler_abandoned", task_id=str(claim.id), task_type=claim.task_type)
            self._threads.abandon(working)
            self._gave_up()
        return failure(handler, claim, too_long(handler.time_limit))


async def ended_within(clock: Clock, seconds: float, *futures: asyncio.Future[Any]) -> bool:
    """Wait for all of these, but no longer than so many seconds; whether they ended."""
    left = {future for future in futures if not future.done()}
    ended = asyncio.Event()

    def note(future: asyncio.Future[Any]) -> None:
        left.discard(future)
        if not left:
            ended.set()

    for future in list(left):
        future.add_done_callback(note)
    return not left or await clock.wait(ended, seconds)
