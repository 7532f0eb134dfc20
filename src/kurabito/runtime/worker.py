"""The worker: claims tasks in batches, runs their handlers, settles them together with the next claim.

The pump talks to the queue (`pump.py`), the slots run handlers (`slots.py`), a thread keeps the leases (`heart.py`), and a
few small loops keep the queue in order (`upkeep.py`). Here they begin and end together.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from kurabito.errors import InvalidInput
from kurabito.logs import get_logger
from kurabito.runtime.heart import Heart
from kurabito.runtime.port import Presence, Queue
from kurabito.runtime.presence import check_worker_name, fresh_worker_name
from kurabito.runtime.pump import Pump
from kurabito.runtime.registry import Registry
from kurabito.runtime.upkeep import Upkeep

_log = get_logger("kurabito.runtime")


class Worker:
    """Runs the tasks of a queue with the handlers of a registry, `concurrency` at once.

        async with Worker(queue, registry, concurrency=8):
            ...

    Leaving the block waits up to `grace` seconds for running handlers, then stops them and puts their tasks back.
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
        self._pump = Pump(queue, registry, presence, lease=lease, grace=grace)
        self._heart = Heart(queue, presence, self._pump.slots, lease, heartbeat)
        self._upkeep = Upkeep(queue, registry, self.name, heartbeat, self._pump.look_again)
        self._pumping: asyncio.Task[None] | None = None
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._open.enter_async_context(self._upkeep)
        self._open.enter_context(self.queue.arrivals.listen(self._pump.look_again))
        self._open.enter_context(self.queue.interrupts.listen(self._heart.beat_now))
        await self._heart.start()
        self._pumping = asyncio.create_task(self._pump.run(), name=f"{self.name} pump")
        self._pumping.add_done_callback(self._pump_ended)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def run(self) -> None:
        """Work until this coroutine is cancelled, then stop in good order."""
        async with self:
            assert self._pumping is not None
            await asyncio.shield(self._pumping)

    async def stop(self) -> None:
        """Take nothing new, let running handlers end within the grace, put back what is left, and leave."""
        if self._pumping is None:
            return
        pumping, self._pumping = self._pumping, None
        self._pump.stop()
        try:
            await pumping
        finally:
            await self._pump.slots.close()
            await self._heart.stop()
            await self._open.aclose()

    def _pump_ended(self, pumping: asyncio.Task[None]) -> None:
        """A fault of ours must not look like a living worker: without the heart its tasks go to another."""
        if not pumping.cancelled() and pumping.exception() is not None:
            _log.critical("worker_broken", worker=self.name, exc_info=pumping.exception())
            self._heart.halt()


def _check(concurrency: int, lease: float, heartbeat: float, grace: float) -> None:
    if not isinstance(concurrency, int) or concurrency < 1:
        raise InvalidInput("concurrency", f"must be at least 1, got {concurrency!r}")
    if not 0 < heartbeat < lease:
        raise InvalidInput("heartbeat", f"must be more than 0 and less than the lease of {lease} s, got {heartbeat!r}")
    if grace < 0:
        raise InvalidInput("grace", f"must not be negative, got {grace!r}")
