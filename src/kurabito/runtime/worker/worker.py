"""The worker: claims tasks in batches, runs their handlers, settles them together with the next claim.

The pump talks to the queue (`pump.py`), the slots run handlers (`slots.py`), a thread keeps the leases (`heart.py`), and a
few small loops keep the queue in order (`upkeep.py`). Here they begin and end together.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, Self

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
    ) -> None:
        _check(concurrency, lease, heartbeat, grace)
        # A supervisor names the process's worker; taken out, so that a second one here does not claim to be the first.
        self.name = check_worker_name(name or os.environ.pop("KURABITO_WORKER_NAME", None) or fresh_worker_name())
        self.queue = queue
        self.registry = registry
        self.concurrency = concurrency
        self.task_types = tuple(registry.task_types if task_types is None else task_types)
        presence = Presence(self.name, self.task_types, concurrency)
        self._pump = Dispatcher(queue, registry, presence, lease=lease, grace=grace)
        self._heart = Heartbeat(queue, presence, self._pump.slots, lease, heartbeat)
        self._upkeep = QueueMaintenance(queue, registry, self.name, heartbeat, self._pump.look_again)
        self._pumping: asyncio.Task[None] | None = None
        self._open = AsyncExitStack()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._host: asyncio.Task[Any] | None = None
        """The task of the program's own block, which is interrupted when the worker fails."""
        self._failed: str | None = None
        self._cause: BaseException | None = None
        self.on_standstill: Callable[[str], object] = lambda _why: None
        """Called in another thread when the event loop stands still, so that nothing in it can end this worker."""
        self._pump.slots.fail = self._fail
        self._upkeep.fail = self._fail
        self._heart.fail = self._fail_from_thread
        self._heart.stand_still = self._fail_without_loop
        _check_isolated(registry, self.task_types)

    @property
    def trouble(self) -> str | None:
        """Why it cannot work at the moment; None while it can."""
        return self._failed or self._pump.trouble or self._heart.trouble

    @property
    def abandoned(self) -> int:
        """How many handlers were given up and still run: they end with the process."""
        return self._pump.slots.abandoned

    async def __aenter__(self) -> Self:
        try:
            await self._open.enter_async_context(self._upkeep)
            self._open.enter_context(self.queue.arrivals.listen(self._pump.look_again))
            self._open.enter_context(self.queue.interrupts.listen(self._heart.beat_now))
            await self._heart.start()
        except BaseException:
            await self._open.aclose()
            raise
        self._loop = asyncio.get_running_loop()
        self._host = asyncio.current_task()
        self._pumping = asyncio.create_task(self._pump.run(), name=f"{self.name} pump")
        self._pumping.add_done_callback(self._pump_ended)
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
            if self._pumping is not None:
                await asyncio.wait({self._pumping})

    async def stop(self) -> None:
        """Take nothing new, let running handlers end within the grace, put back what is left, and leave."""
        if self._pumping is None:
            return
        pumping, self._pumping = self._pumping, None
        self._pump.stop()
        try:
            with suppress(Exception):
                # What ended it was told when it ended.
                await pumping
        finally:
            if self._pump.slots.busy:
                await self._pump.slots.interrupt()
            await self._pump.slots.close()
            await self._heart.stop()
            await self._open.aclose()

    def _pump_ended(self, pumping: asyncio.Task[None]) -> None:
        """A fault of ours must not look like a living worker: without the heart its tasks go to another."""
        if self._pumping is None and (pumping.cancelled() or pumping.exception() is None):
            return
        self._heart.halt()
        if pumping.cancelled() or (problem := pumping.exception()) is None:
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
        self._pump.stop()
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
