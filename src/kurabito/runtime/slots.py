"""Slots: a fixed number of coroutines that run handlers, one after another, and know nothing of the queue.

A slot lives on from task to task, because making a coroutine's task costs more than running a short handler. It is
replaced when a handler was cancelled in it or left something behind in its context.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Final

from kurabito.errors import InvalidInput, PermanentError
from kurabito.logs import get_logger
from kurabito.runtime import payloads
from kurabito.runtime.context import TaskContext
from kurabito.runtime.handlers import Handler
from kurabito.runtime.intake import check_size, check_wait
from kurabito.runtime.outcomes import Claim, Failure, Outcome, Postponed, PutBack, Settlement, Snooze, Success
from kurabito.runtime.port import Beat
from kurabito.runtime.registry import Registry

_log = get_logger("kurabito.runtime")

_IN_A_ROW: Final = 64
_LAST_CHANCE: Final = 1.0
_NOTHING: Final = Success()


class _Run:
    """A handler at work."""

    __slots__ = ("claim", "ctx", "handler", "slot", "why")

    def __init__(self, claim: Claim, ctx: TaskContext, handler: Handler, slot: asyncio.Task[None]) -> None:
        self.claim = claim
        self.ctx = ctx
        self.handler = handler
        self.slot = slot
        self.why: str | None = None
        """Why it was told to stop: "lost" or "shutdown"."""

    def stop(self, why: str) -> None:
        self.why = why
        self.ctx.stop()
        # A thread cannot be interrupted: a plain function looks at ctx.cancelled.
        if self.handler.is_async:
            self.slot.cancel()


class Slots:
    """Runs claimed tasks, at most `size` at once, and collects how they ended."""

    def __init__(self, registry: Registry, size: int, max_payload: int, tell_pump: Callable[[], None]) -> None:
        self.started = 0
        self.tell_news: Callable[[], object] = lambda: None
        """Called in any thread when there is progress to tell."""
        self.held_by_type: Counter[str] = Counter()
        self._registry = registry
        self._size = size
        self._max_payload = max_payload
        self._tell_pump = tell_pump
        self._ahead: deque[Claim] = deque()
        self._ahead_since = 0.0
        self._running: dict[int, _Run] = {}
        self._held: dict[int, Claim] = {}
        self._outcomes: list[Settlement] = []
        self._slots: set[asyncio.Task[None]] = set()
        self._parked: list[asyncio.Future[None]] = []
        self._rousing = False
        self._threads: ThreadPoolExecutor | None = None

    @property
    def held_count(self) -> int:
        """How many tasks are ours: ahead, running, and ended but not yet settled."""
        return len(self._held)

    @property
    def busy(self) -> bool:
        return bool(self._running)

    @property
    def all_busy(self) -> bool:
        return len(self._running) >= self._size

    def holds(self, claim: Claim) -> bool:
        return self._held.get(claim.key) is claim

    @property
    def holds_suspect(self) -> bool:
        return any(claim.is_suspect for claim in self._held.values())

    @property
    def has_ahead(self) -> bool:
        return bool(self._ahead)

    @property
    def has_outcomes(self) -> bool:
        return bool(self._outcomes)

    def add(self, claims: Sequence[Claim]) -> None:
        """Take claims over; they are started in this order as slots become free."""
        if not self._ahead:
            self._ahead_since = time.monotonic()
        self._ahead.extend(claims)
        for claim in claims:
            self._held[claim.key] = claim
            self.held_by_type[claim.task_type] += 1
        self._rouse()

    def take_outcomes(self) -> list[Settlement]:
        """How tasks ended since this was last asked."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def take_ahead(self, older_than: float = 0.0) -> list[Claim]:
        """Claims that were not started, if the first of them has waited this long."""
        if not self._ahead or time.monotonic() - self._ahead_since < older_than:
            return []
        taken = list(self._ahead)
        self._ahead.clear()
        return taken

    def settled(self, settlements: Sequence[Settlement], lost: Sequence[Claim]) -> None:
        """Let go of tasks whose end is written, or that were another's by then."""
        for claim, _ in settlements:
            self._let_go(claim)
        for claim in lost:
            _log.warning("lease_lost", task_id=str(claim.id), task_type=claim.task_type)

    def lose(self, claims: Sequence[Claim]) -> None:
        """Stop what is no longer ours: cancelled, or taken over by another worker."""
        for claim in claims:
            if self._held.get(claim.key) is not claim:
                continue
            run = self._running.get(claim.key)
            if run is not None and run.claim is claim:
                run.stop("lost")
            elif claim in self._ahead:
                self._ahead.remove(claim)
                self._let_go(claim)
                self._tell_pump()

    def beats(self, *, news_only: bool = False) -> list[Beat]:
        """A beat for every task that is ours; safe in any thread."""
        runs = self._running.copy()
        if news_only:
            told = [(run.claim, run.ctx.take_news()) for run in runs.values()]
            return [Beat(claim, progress) for claim, progress in told if progress is not None]
        return [
            Beat(claim, runs[claim.key].ctx.take_news() if claim.key in runs else None)
            for claim in self._held.copy().values()
        ]

    async def interrupt(self) -> list[Settlement]:
        """Stop every handler; the tasks of those that do not obey are put back all the same."""
        runs = list(self._running.values())
        for run in runs:
            run.stop("shutdown")
        if runs:
            await asyncio.wait([run.slot for run in runs], timeout=_LAST_CHANCE)
        stubborn = [run for run in self._running.values() if run.why == "shutdown"]
        for run in stubborn:
            _log.warning("handler_does_not_stop", task_id=str(run.claim.id), task_type=run.claim.task_type)
        return [(run.claim, PutBack()) for run in stubborn]

    async def close(self) -> None:
        """End the slots, which have nothing left to do."""
        for slot in self._slots:
            slot.cancel()
        if self._slots:
            await asyncio.wait(self._slots, timeout=_LAST_CHANCE)
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _let_go(self, claim: Claim) -> None:
        if self._held.get(claim.key) is claim:
            del self._held[claim.key]
            self.held_by_type[claim.task_type] -= 1

    def _rouse(self) -> None:
        """Have one more slot look for work. It rouses the next one, so an idle worker wakes no more than it needs."""
        if self._rousing or not self._ahead:
            return
        if self._parked:
            self._rousing = True
            self._parked.pop().set_result(None)
        elif len(self._slots) < self._size:
            self._rousing = True
            slot = asyncio.create_task(self._slot(), name="kurabito slot")
            self._slots.add(slot)
            slot.add_done_callback(self._retire)

    def _retire(self, slot: asyncio.Task[None]) -> None:
        self._slots.discard(slot)
        self._rouse()

    async def _slot(self) -> None:
        me = asyncio.current_task()
        assert me is not None
        loop = asyncio.get_running_loop()
        clean = copy_context()
        in_a_row = 0
        while True:
            self._rousing = False
            while self._ahead:
                claim = self._ahead.popleft()
                self._rouse()
                if not await self._run(claim, me) or copy_context() != clean:
                    return
                in_a_row += 1
                if in_a_row >= _IN_A_ROW:
                    # A handler that never waits must not keep the loop from everything else.
                    in_a_row = 0
                    await asyncio.sleep(0)
            parked = loop.create_future()
            self._parked.append(parked)
            await parked

    async def _run(self, claim: Claim, slot: asyncio.Task[None]) -> bool:
        """Run one task; false when this slot must not be used again."""
        self.started += 1
        self._ahead_since = time.monotonic()
        handler = self._registry.handler(claim.task_type)
        if handler is None:
            error = f"no handler is registered for {claim.task_type!r} in the worker that claimed it"
            self._end(claim, Failure(error, permanent=True))
            return True
        ctx = TaskContext(claim, self._max_payload, self.tell_news)
        run = self._running[claim.key] = _Run(claim, ctx, handler, slot)
        if self._ahead and self.all_busy:
            # From now on what is ahead waits for somebody to end: the pump keeps an eye on how long.
            self._tell_pump()
        try:
            outcome = await self._call(handler, claim, ctx)
        except asyncio.CancelledError as cancelled:
            outcome = PutBack() if run.why == "shutdown" else self._failed(handler, claim, cancelled)
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - whatever a handler raises is how its attempt ended
            outcome = self._failed(handler, claim, problem)
        if run.why == "shutdown" and ctx.heeded:
            outcome = PutBack()
        del self._running[claim.key]
        if run.why == "lost":
            # Cancelled, or another's by now: there is nothing left to write.
            self._let_go(claim)
            self._tell_pump()
        else:
            self._end(claim, outcome)
        return run.why is None

    async def _call(self, handler: Handler, claim: Claim, ctx: TaskContext) -> Outcome:
        arguments = handler.arguments(claim, ctx)
        if not handler.is_async:
            result = await self._in_thread(handler, arguments, ctx)
        elif handler.time_limit is None:
            result = await handler.fn(*arguments)
        else:
            result = await _in_time(handler, arguments, handler.time_limit)
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
        ctx.stop()
        await asyncio.wait({working})
        raise TimeoutError(f"ran longer than its time limit of {handler.time_limit} s")

    def _stored(self, result: Any) -> bytes:
        try:
            stored, _ = payloads.encode(result, field="result")
            check_size("result", stored, self._max_payload)
        except InvalidInput as problem:
            raise PermanentError(f"the handler did its work, but its result cannot be kept: {problem}") from problem
        return stored

    def _failed(self, handler: Handler, claim: Claim, problem: BaseException) -> Outcome:
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

    def _end(self, claim: Claim, outcome: Outcome) -> None:
        self._outcomes.append((claim, outcome))
        self._tell_pump()


async def _in_time(handler: Handler, arguments: tuple[Any, ...], limit: float) -> Any:
    timer = asyncio.timeout(limit)
    try:
        async with timer:
            return await handler.fn(*arguments)
    except TimeoutError:
        if timer.expired():
            raise TimeoutError(f"ran longer than its time limit of {limit} s") from None
        raise
