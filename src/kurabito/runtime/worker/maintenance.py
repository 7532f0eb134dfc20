"""What a worker does for the queue beside running tasks. Every worker does it; each step is safe to do twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self, TypeVar

from kurabito.clock import SECOND, Clock
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.runtime.port import WorkQueue
from kurabito.runtime.schedules.schedule import Schedule
from kurabito.runtime.tasks.registry import Registry
from kurabito.runtime.worker.locks import WorkerLock, expire_dead_workers

T = TypeVar("T")

_log = get_logger("kurabito.runtime")

_LOOK_FOR_DEAD: Final = 0.5
_PURGE_EVERY: Final = 300.0
_LOOK_AT_THE_CLOCK: Final = 30.0


class QueueMaintenance:
    """The small loops that keep a queue in order."""

    def __init__(
        self,
        queue: WorkQueue,
        registry: Registry,
        worker: str,
        clock: Clock,
        *,
        heartbeat: float,
        purge: Callable[[], Awaitable[object]],
        look_again: Callable[[], None],
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._purge = purge
        self._registry = registry
        self._worker = worker
        self._heartbeat = heartbeat
        self._look_again = look_again
        self.fail: Callable[[str], object] = lambda _why: None
        """Called when one of the loops ended, which none does unless it fails."""
        self._folder = queue.locks_folder
        self._loops: list[asyncio.Task[None]] = []
        self._locked = ExitStack()
        self._leaving = False

    async def __aenter__(self) -> Self:
        if self._folder is not None:
            lock = self._locked.enter_context(WorkerLock(self._folder, self._worker, self._heartbeat))
            if lock.predecessor_died:
                # No other worker can find that one dead any more: its lock is ours now.
                await _safely(lambda: self._queue.expire_worker(self._worker))
            self._loops.append(asyncio.create_task(self._forever(self._expire_dead, _LOOK_FOR_DEAD)))
        self._loops.append(asyncio.create_task(self._forever(self._recover, self._heartbeat)))
        self._loops.append(asyncio.create_task(self._forever(self._purge, _PURGE_EVERY)))
        self._loops += [asyncio.create_task(self._keep_schedule(schedule)) for schedule in self._registry.schedules]
        for loop in self._loops:
            loop.add_done_callback(self._loop_ended)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving = True
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        self._locked.close()

    async def _forever(self, step: Callable[[], Awaitable[object]], every: float) -> None:
        while True:
            await _safely(step)
            await self._clock.sleep(every)

    def _loop_ended(self, loop: asyncio.Task[None]) -> None:
        if not self._leaving:
            why = "was cancelled" if loop.cancelled() else f"ended with {loop.exception()!r}"
            self.fail(f"a loop that keeps the queue in order {why}")

    async def _recover(self) -> None:
        """Take tasks from workers that stopped renewing their leases, queue what is due, and have a look ourselves."""
        try:
            if recovered := await self._queue.recover():
                _log.warning("leases_recovered", worker=self._worker, tasks=recovered)
            await self._queue.promote()
        finally:
            # Also after a failure: what claims knows when a queue is beyond repair, and an idle worker asks nothing else.
            self._look_again()

    async def _expire_dead(self) -> None:
        """A worker of this file that died on this machine is noticed by its lock, long before its leases end."""
        assert self._folder is not None
        for name in await expire_dead_workers(self._folder, self._queue.expire_worker):
            _log.warning("worker_died", worker=name)
            await self._queue.recover()

    async def _keep_schedule(self, schedule: Schedule) -> None:
        while True:
            pause = await _safely(lambda: self._fire(schedule))
            await self._clock.sleep(self._heartbeat if pause is None else pause)

    async def _fire(self, schedule: Schedule) -> float:
        """Enqueue the task of the last tick; how many seconds to sleep then.

        Ticks go by the clock of the queue: of the machines that keep a schedule one may be ahead of all others.
        """
        now = await self._queue.now()
        tick, next_tick = schedule.rule.latest(now), schedule.rule.next(now)
        task = schedule.prepare(self._queue.max_payload)
        await self._queue.fire(schedule.name, tick, task, next_tick=next_tick)
        # A machine that is suspended sleeps on when it wakes up, so it looks at the clock in between.
        return min((next_tick - now) / SECOND, _LOOK_AT_THE_CLOCK)


async def _safely(step: Callable[[], Awaitable[T]]) -> T | None:
    """One failure of the maintenance is told and does not end it."""
    try:
        return await step()
    except KurabitoError as problem:
        _log.warning("maintenance_failed", problem=str(problem))
    except Exception:  # noqa: BLE001 - a fault of one step must not silently end the others
        _log.exception("maintenance_failed")
    return None
