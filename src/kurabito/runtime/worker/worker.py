"""The worker: claims tasks in batches, runs their handlers, settles them together with the next claim.

The dispatcher claims and settles (`dispatcher.py`), the slots run handlers (`slots.py`), a thread keeps the leases
(`heartbeat.py`), and a few small loops keep the queue in order (`maintenance.py`). Here they begin and end together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, Self

from kurabito.clock import Clock, SystemClock
from kurabito.errors import InvalidInput
from kurabito.logs import get_logger
from kurabito.runtime.errors import WorkerFailed
from kurabito.runtime.port import Presence, Queue
from kurabito.runtime.tasks.registry import Registry
from kurabito.runtime.worker.dispatcher import Dispatcher
from kurabito.runtime.worker.failures import describe
from kurabito.runtime.worker.heartbeat import Heartbeat
from kurabito.runtime.worker.isolation.processes import check_isolated
from kurabito.runtime.worker.locks import check_worker_name, fresh_worker_name
from kurabito.runtime.worker.maintenance import QueueMaintenance
from kurabito.runtime.worker.supervisor import supervised_name

_log = get_logger("kurabito.runtime")


class Worker:
    """Runs the tasks of a queue with the handlers of a registry, `concurrency` at once.

        async with Worker(queue, registry, concurrency=8):
            ...

    Leaving the block waits up to `grace` seconds for running handlers, then stops them and puts their tasks back. A worker
    that cannot go on interrupts the block, and WorkerFailed comes out of it.
    """

    def __init__(
        self,
        queue: Queue,
        registry: Registry,
        *,
        concurrency: int = 8,
        name: str | None = None,
        task_types: Iterable[str] | None = None,
        lease: float = 30.0,
        heartbeat: float = 5.0,
        grace: float = 10.0,
        clock: Clock | None = None,
    ) -> None:
        _check(concurrency, lease, heartbeat, grace)
        self.name = check_worker_name(name or supervised_name() or fresh_worker_name())
        self.queue = queue
        self.registry = registry
        self.concurrency = concurrency
        self.task_types = tuple(registry.task_types if task_types is None else task_types)
        presence = Presence(self.name, self.task_types, concurrency)
        work, clock = queue.work, clock or SystemClock()
        self._dispatcher = Dispatcher(work, registry, presence, clock, lease=lease, grace=grace)
        self._heartbeat = Heartbeat(work, presence, self._dispatcher.slots, clock, lease=lease, interval=heartbeat)
        self._maintenance = QueueMaintenance(
            work,
            registry,
            self.name,
            clock,
            heartbeat=heartbeat,
            purge=queue.purge,
            look_again=self._dispatcher.look_again,
        )
        self._dispatching: asyncio.Task[None] | None = None
        self._open = AsyncExitStack()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._host: asyncio.Task[Any] | None = None
        """The task of the program's own block, which is interrupted when the worker fails."""
        self._failed: str | None = None
        self._cause: BaseException | None = None
        self.on_standstill: Callable[[str], object] = lambda _why: None
        """Called in another thread when the event loop stands still, so that nothing in it can end this worker."""
        self._dispatcher.slots.fail = self._fail
        self._maintenance.fail = self._fail
        self._heartbeat.fail = self._fail_from_thread
        self._heartbeat.stand_still = self._fail_without_loop
        _check_isolated(registry, self.task_types)

    @property
    def trouble(self) -> str | None:
        """Why it cannot work at the moment; None while it can."""
        return self._failed or self._dispatcher.trouble or self._heartbeat.trouble

    @property
    def abandoned(self) -> int:
        """How many handlers were given up and still run: they end with the process."""
        return self._dispatcher.slots.abandoned

    async def __aenter__(self) -> Self:
        try:
            await self._open.enter_async_context(self._maintenance)
            self._open.enter_context(self.queue.work.arrivals.listen(self._dispatcher.look_again))
            self._open.enter_context(self.queue.work.interrupts.listen(self._heartbeat.beat_now))
            await self._heartbeat.start()
        except BaseException:
            await self._open.aclose()
            raise
        self._loop = asyncio.get_running_loop()
        self._host = asyncio.current_task()
        self._dispatching = asyncio.create_task(self._dispatcher.run(), name=f"{self.name} dispatcher")
        self._dispatching.add_done_callback(self._dispatcher_ended)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.stop()
        finally:
            host, self._host = self._host, None
            if self._failed is not None and host is not None:
                # The program's own block was interrupted because of us, as a time-out does it.
                cancelled_by_others = host.uncancel()
                if kind is None or (issubclass(kind, asyncio.CancelledError) and not cancelled_by_others):
                    raise WorkerFailed(f"worker {self.name} stopped working: {self._failed}") from self._cause

    async def run(self) -> None:
        """Work until this coroutine is cancelled, then stop in good order; raises WorkerFailed when it cannot go on."""
        async with self:
            if self._dispatching is not None:
                await asyncio.wait({self._dispatching})

    async def stop(self) -> None:
        """Take nothing new, let running handlers end within the grace, put back what is left, and leave."""
        if self._dispatching is None:
            return
        dispatching, self._dispatching = self._dispatching, None
        self._dispatcher.stop()
        try:
            with suppress(Exception):
                # What ended it was told when it ended.
                await dispatching
        finally:
            # Each of them also when the program is cancelled meanwhile: a heartbeat that goes on would never end.
            async with AsyncExitStack() as leaving:
                leaving.push_async_callback(self._open.aclose)
                leaving.push_async_callback(self._heartbeat.stop)
                leaving.push_async_callback(self._dispatcher.slots.close)
                if self._dispatcher.slots.busy:
                    await self._dispatcher.slots.interrupt()

    def _dispatcher_ended(self, dispatching: asyncio.Task[None]) -> None:
        """A fault of ours must not look like a living worker: without the heartbeat its tasks go to another."""
        if self._dispatching is None and (dispatching.cancelled() or dispatching.exception() is None):
            return
        self._heartbeat.halt()
        if dispatching.cancelled() or (problem := dispatching.exception()) is None:
            self._fail("what claims its tasks was cancelled")
            return
        self._cause = problem
        self._fail(str(problem) if isinstance(problem, WorkerFailed) else describe(problem))

    def _fail(self, why: str) -> None:
        """End, and have the program know: its own block is interrupted, and WorkerFailed comes out of it."""
        if self._failed is not None:
            return
        self._failed = why
        _log.critical("worker_failed", worker=self.name, why=why, exc_info=self._cause)
        self._dispatcher.stop()
        if self._host is not None:
            self._host.cancel()

    def _fail_without_loop(self, why: str) -> None:
        self.on_standstill(why)
        # Should it move again after all.
        self._fail_from_thread(why)

    def _fail_from_thread(self, why: str) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._fail, why)


def _check_isolated(registry: Registry, task_types: Iterable[str]) -> None:
    for handler in map(registry.handler, task_types):
        if handler is not None and handler.isolation is not None:
            check_isolated(handler)


def _check(concurrency: int, lease: float, heartbeat: float, grace: float) -> None:
    if not isinstance(concurrency, int) or concurrency < 1:
        raise InvalidInput("concurrency", f"must be at least 1, got {concurrency!r}")
    if not 0 < heartbeat < lease:
        raise InvalidInput("heartbeat", f"must be more than 0 and less than the lease of {lease} s, got {heartbeat!r}")
    if grace < 0:
        raise InvalidInput("grace", f"must not be negative, got {grace!r}")
