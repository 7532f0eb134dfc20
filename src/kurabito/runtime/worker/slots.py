"""Slots: a fixed number of coroutines that run handlers, one after another, and know nothing of the queue.

A slot lives on from task to task, because making a coroutine's task costs more than running a short handler. It is
replaced when a handler was cancelled in it or left something behind in its context.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from contextvars import copy_context
from typing import Final

from kurabito.clock import Clock
from kurabito.logs import get_logger
from kurabito.runtime.outcomes import Claim, Failure, Outcome, Released, Settlement, failure, outcome_of, too_long
from kurabito.runtime.port import Beat
from kurabito.runtime.tasks.context import TaskContext
from kurabito.runtime.tasks.handlers import Handler
from kurabito.runtime.tasks.registry import Registry
from kurabito.runtime.worker.execution import LAST_CHANCE, Execution, ended_within
from kurabito.runtime.worker.lineage import Lineage
from kurabito.runtime.worker.time_limits import TimeLimits

_log = get_logger("kurabito.runtime")
_IN_A_ROW: Final = 64

_Run = tuple[TaskContext, Handler, "asyncio.Task[None]"]
"""A handler at work, and the slot it works in. Not a class: one is made for every task."""


class Slots:
    """Runs claimed tasks, at most `size` at once, and collects how they ended."""

    def __init__(
        self, registry: Registry, size: int, max_payload: int, clock: Clock, tell_dispatcher: Callable[[], None]
    ) -> None:
        self.started = 0
        self.tell_news: Callable[[], object] = lambda: None
        """Called in any thread when there is progress to tell."""
        self.fail: Callable[[str], object] = lambda _why: None
        """Called when this worker had better end, with the reason."""
        self._handlers = registry.handlers
        self._clock = clock
        self._size = size
        self._max_payload = max_payload
        self._tell_dispatcher = tell_dispatcher
        self._ahead: deque[Claim] = deque()
        self._ahead_since = 0.0
        # By the identity of the claim: of a task whose lease ran out and that came back to us, two may be at work.
        self._running: dict[int, _Run] = {}
        self._held: dict[int, Claim] = {}
        self._outcomes: list[Settlement] = []
        self._slots: set[asyncio.Task[None]] = set()
        self._parked: list[asyncio.Future[None]] = []
        self._rousing = False
        self._execution = Execution(max_payload, clock, self._gave_up)
        self.limits = TimeLimits(clock, self._give_up)
        # What the worker runs is not for a copy of its process to end.
        self.lineage = Lineage(self._running, self._ahead)

    @property
    def held(self) -> Collection[Claim]:
        """The tasks that are ours: ahead, running, and ended but not yet settled."""
        return self._held.values()

    @property
    def busy(self) -> bool:
        return bool(self._running)

    @property
    def abandoned(self) -> int:
        """How many handlers were given up and still run."""
        return self._execution.abandoned + len(self.limits.abandoned)

    @property
    def keeps_ahead_waiting(self) -> bool:
        """Whether claims wait for a handler to end, because every slot is busy."""
        return bool(self._ahead) and len(self._running) >= self._size

    @property
    def has_outcomes(self) -> bool:
        return bool(self._outcomes)

    def add(self, claims: Sequence[Claim], apart: AbstractSet[Claim] = frozenset()) -> None:
        """Take claims over. Those that are to stay apart are only held; the others are started as slots become free."""
        for claim in claims:
            if claim.key in self._held:
                # It was ours, and the lease ran out before we were told.
                self.lose([self._held[claim.key]])
            self._held[claim.key] = claim
        if not self._ahead:
            self._ahead_since = self._clock.monotonic()
        self._ahead.extend([claim for claim in claims if claim not in apart] if apart else claims)
        self._rouse()

    def start(self, claim: Claim) -> None:
        """Start a claim that was only held, unless it was lost meanwhile."""
        if self._held.get(claim.key) is claim:
            self._ahead.append(claim)
            self._rouse()

    def take_outcomes(self) -> list[Settlement]:
        """How tasks ended since this was last asked."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def take_ahead(self, older_than: float = 0.0) -> list[Claim]:
        """Claims that were not started, if the first of them has waited this long."""
        if not self._ahead or self._clock.monotonic() - self._ahead_since < older_than:
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
            if (run := self._running.get(id(claim))) is not None:
                self._execution.stop(*run, "lost")
            else:
                if claim in self._ahead:
                    self._ahead.remove(claim)
                self._let_go(claim)
                self._tell_dispatcher()

    def lose_all(self) -> int:
        """Stop everything: our leases have ended without our hearing of it. How many tasks that were."""
        self.lose(claims := list(self._held.values()))
        return len(claims)

    def beats(self, *, news_only: bool = False) -> list[Beat]:
        """A beat for every task that is ours; safe in any thread."""
        runs = self._running.copy()
        if news_only:
            reports = [(ctx.claim, ctx.take_progress()) for ctx, _, _ in runs.values()]
            return [Beat(claim, progress) for claim, progress in reports if progress is not None]
        return [
            Beat(claim, runs[id(claim)][0].take_progress() if id(claim) in runs else None)
            for claim in self._held.copy().values()
        ]

    async def interrupt(self) -> list[Settlement]:
        """Stop every handler; the tasks of those that do not obey are put back all the same."""
        runs = list(self._running.values())
        for run in runs:
            self._execution.stop(*run, "shutdown")
        if runs:
            await ended_within(self._clock, LAST_CHANCE, *(slot for _, _, slot in runs))
        stubborn = [ctx.claim for ctx, _, _ in self._running.values() if ctx.told_to_stop == "shutdown"]
        for claim in stubborn:
            _log.warning("handler_does_not_stop", task_id=str(claim.id), task_type=claim.task_type)
        return [(claim, Released()) for claim in stubborn]

    async def close(self) -> None:
        """End the slots, which have nothing left to do."""
        slots = self._slots | self.limits.abandoned
        for slot in slots:
            slot.cancel()
        if slots:
            await ended_within(self._clock, LAST_CHANCE, *slots)
        await asyncio.to_thread(self._execution.close)

    def _let_go(self, claim: Claim) -> None:
        if self._held.get(claim.key) is claim:
            del self._held[claim.key]

    def _rouse(self) -> None:
        """Have one more slot look for work. It rouses the next one, so an idle worker wakes no more than it needs."""
        if self._rousing or not self._ahead:
            return
        while self._parked:
            parked = self._parked.pop()
            # A handler may have cancelled the very slot that it ran in.
            if not parked.done():
                self._rousing = True
                parked.set_result(None)
                return
        if len(self._slots) < self._size:
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
                if not await self._run(claim, me) or me.cancelling():
                    return
                try:
                    if copy_context() != clean:
                        return
                except BaseException:  # noqa: BLE001 - comparing runs the code of what a handler left behind
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
        self._ahead_since = self._clock.monotonic()
        handler = self._handlers.get(claim.task_type)
        if handler is None:
            error = f"no handler is registered for {claim.task_type!r} in the worker that claimed it"
            self._end(claim, Failure(error, permanent=True))
            return True
        ctx = TaskContext(claim, self._max_payload, self.tell_news)
        self._running[id(claim)] = (ctx, handler, slot)
        if self._ahead and len(self._running) >= self._size:
            # From now on what is ahead waits for a handler to end: the dispatcher keeps an eye on how long.
            self._tell_dispatcher()
        reusable = True
        try:
            if not handler.in_loop:
                outcome = await self._execution.apart(handler, claim, ctx)
            else:
                called = handler.fn(*handler.arguments(claim, ctx))
                limit = handler.time_limit
                result = await (called if limit is None else self.limits.keep(claim, limit, called))
                # The usual end first: it is nearly all of the traffic.
                outcome = ctx.success(None) if result is None else outcome_of(result, ctx, self._max_payload)
        except asyncio.CancelledError as cancelled:
            outcome = Released() if ctx.told_to_stop == "shutdown" else failure(handler, claim, cancelled)
            reusable = False
        except BaseException as problem:  # noqa: BLE001 - whatever a handler raises is how its attempt ended
            outcome = failure(handler, claim, problem)
            # It cannot be known whether the handler or this slot was to be closed.
            reusable = not issubclass(type(problem), GeneratorExit)
        if self._running.pop(id(claim), None) is None:
            # It was given up and its task is settled; or this is a copy of the process that the handler made.
            self.lineage.end_a_copy()
            return False
        if ctx.told_to_stop is not None:
            self._end_stopped(claim, ctx, outcome)
            return reusable and ctx.told_to_stop == "time"
        self._end(claim, outcome)
        return reusable

    def _end_stopped(self, claim: Claim, ctx: TaskContext, outcome: Outcome) -> None:
        """End a task whose handler was told to stop."""
        if ctx.told_to_stop == "lost":
            # Cancelled, or another's by now: there is nothing left to write.
            self._let_go(claim)
            self._tell_dispatcher()
        else:
            self._end(claim, Released() if ctx.told_to_stop == "shutdown" and ctx.heeded else outcome)

    def _give_up(self, claim: Claim) -> None:
        """Settle the task of a coroutine that ignores its cancellation, and let another slot take its place."""
        if (run := self._running.pop(id(claim), None)) is None:
            return
        ctx, handler, slot = run
        _log.warning("handler_abandoned", task_id=str(claim.id), task_type=claim.task_type)
        assert handler.time_limit is not None
        ctx.told_to_stop = ctx.told_to_stop or "time"
        self._end_stopped(claim, ctx, failure(handler, claim, too_long(handler.time_limit)))
        self._slots.discard(slot)
        self.limits.abandon(slot)
        self._rouse()
        self._gave_up()

    def _gave_up(self) -> None:
        if (count := self.abandoned) > self._size:
            self.fail(f"{count} handlers are over their time limit and cannot be stopped; use isolation='process'")

    def _end(self, claim: Claim, outcome: Outcome) -> None:
        self._outcomes.append((claim, outcome))
        if len(self._outcomes) == 1:
            # The dispatcher is woken once for all outcomes that are there when it comes.
            self._tell_dispatcher()
