"""The worker: claims tasks in batches, runs their handlers, settles them together with the next claim.

    claims ──► ahead ──► slots ──► outcomes ──► settled with the next claim

One loop, the pump, talks to the queue. The slots run handlers and never wait for the queue. A thread keeps the leases
(`heart.py`), a few small loops keep the queue in order (`upkeep.py`).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self

from kurabito.errors import InvalidInput, KurabitoError
from kurabito.logs import get_logger
from kurabito.runtime.heart import Heart
from kurabito.runtime.outcomes import Postponed, PutBack, Settlement
from kurabito.runtime.pace import Pace
from kurabito.runtime.port import Claimed, ClaimsOnArrival, InstantClaims, Presence, Queue, StandingOrder
from kurabito.runtime.presence import check_worker_name, fresh_worker_name
from kurabito.runtime.registry import Registry
from kurabito.runtime.slots import Slots
from kurabito.runtime.upkeep import Upkeep

_log = get_logger("kurabito.runtime")

_AHEAD_SECONDS: Final = 0.05
_MOST_AHEAD: Final = 1000
# Where claiming costs next to nothing: as few objects as make the garbage collector look for no cycles among them.
_MOST_AHEAD_AT_ONCE: Final = 300
_AHEAD_TOO_LONG: Final = 0.25
_LONGEST_BACKOFF: Final = 5.0
# A task that took its workers down must not take the same neighbours with it each time.
_SUSPECTS_APART: Final = 1.0


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
        self._instant = queue if isinstance(queue, InstantClaims) else None
        self._on_arrival = queue if isinstance(queue, ClaimsOnArrival) else None
        self.registry = registry
        self.concurrency = concurrency
        self.task_types = tuple(registry.task_types if task_types is None else task_types)
        handlers = [registry.handler(task_type) for task_type in self.task_types]
        self._limited = {each.task_type: each.concurrency for each in handlers if each and each.concurrency}
        self._lease = lease
        self._grace = grace
        self._wake = asyncio.Event()
        self._slots = Slots(registry, concurrency, queue.max_payload, self._wake_up)
        presence = Presence(self.name, self.task_types, concurrency)
        self._heart = Heart(queue, presence, self._slots, lease, heartbeat)
        self._upkeep = Upkeep(queue, registry, self.name, heartbeat, self._look_again)
        self._pace = Pace()
        self._look = True
        self._due: float | None = None
        self._stopping = False
        self._resting = False
        self._unsettled: list[Settlement] = []
        self._pump: asyncio.Task[None] | None = None
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._open.enter_async_context(self._upkeep)
        self._open.enter_context(self.queue.arrivals.listen(self._look_again))
        self._open.enter_context(self.queue.interrupts.listen(self._heart.beat_now))
        await self._heart.start()
        self._pump = asyncio.create_task(self._run(), name=f"{self.name} pump")
        self._pump.add_done_callback(self._pump_ended)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def run(self) -> None:
        """Work until this coroutine is cancelled, then stop in good order."""
        async with self:
            assert self._pump is not None
            await asyncio.shield(self._pump)

    async def stop(self) -> None:
        """Take nothing new, let running handlers end within the grace, put back what is left, and leave."""
        if self._pump is None:
            return
        pump, self._pump = self._pump, None
        self._stopping = True
        self._wake.set()
        try:
            await pump
        finally:
            await self._slots.close()
            await self._heart.stop()
            await self._open.aclose()

    def _pump_ended(self, pump: asyncio.Task[None]) -> None:
        """A fault of ours must not look like a living worker: without the heart its tasks go to another."""
        if not pump.cancelled() and pump.exception() is not None:
            _log.critical("worker_broken", worker=self.name, exc_info=pump.exception())
            self._heart.halt()

    async def _run(self) -> None:
        """The pump: settle what ended, claim what there is room for, wait."""
        backoff = 0.1
        while not self._stopping:
            self._wake.clear()
            self._unsettled += self._slots.take_outcomes()
            self._unsettled += self._ahead_too_long()
            try:
                await self._promote_due()
                if self._unsettled or self._look:
                    await self._turn()
                backoff = 0.1
            except KurabitoError as problem:
                _log.warning("queue_unavailable", problem=str(problem), again_in=backoff)
                self._look = True
                await asyncio.sleep(backoff)
                backoff = min(backoff * 2, _LONGEST_BACKOFF)
                continue
            if not self._look and not self._unsettled and not self._slots.has_outcomes:
                self._resting = True
                await self._rest()
                self._resting = False
        await self._finish(self._unsettled)

    async def _turn(self) -> None:
        """Settle and claim in one transaction."""
        if self._instant is not None:
            self._turn_at_once(self._instant)
            return
        self._look = False
        capacity, limit = self._room(self._unsettled)
        self._take_in(await self._claim(capacity, limit, self._unsettled), limit)

    def _turn_at_once(self, queue: InstantClaims) -> None:
        self._look = False
        capacity, limit = self._room(self._unsettled)
        claimed = queue.claim_now(self.name, capacity, limit, lease=self._lease, settling=self._unsettled)
        self._take_in(claimed, limit)

    async def _claim(self, capacity: dict[str, int], limit: int, settling: list[Settlement]) -> Claimed:
        turn = asyncio.ensure_future(self.queue.claim(self.name, capacity, limit, lease=self._lease, settling=settling))
        try:
            return await asyncio.shield(turn)
        except asyncio.CancelledError:
            # What the queue gave us must not be left running: finish this turn, then stop.
            self._stopping = True
            return await turn

    def _take_in(self, claimed: Claimed, limit: int) -> None:
        """Let go of what was settled and hand the claims to the slots; what must not run beside them is given back."""
        self._slots.settled(self._unsettled, claimed.lost)
        self._unsettled = []
        if not claimed.tasks:
            self._due = None if claimed.due_in is None else time.monotonic() + claimed.due_in
            return
        suspects = [claim for claim in claimed.tasks if claim.lost_leases and claim.is_suspect]
        # One suspect at a time: should it take this worker down, it is known which one it was.
        apart = set(suspects[not self._slots.holds_suspect :]) if suspects else set()
        self._unsettled = [(claim, Postponed(_SUSPECTS_APART)) for claim in apart]
        self._slots.add(claimed.tasks, apart)
        # There may be more as long as there is something.
        self._look = self._look or len(claimed.tasks) >= limit

    def _room(self, settling: list[Settlement]) -> tuple[dict[str, int], int]:
        """How many tasks of each type may be claimed now, and how many together, once these are settled."""
        most = _MOST_AHEAD if self._instant is None else _MOST_AHEAD_AT_ONCE
        ahead = min(most, int(self._pace.update(self._slots.started) * _AHEAD_SECONDS))
        limit = self.concurrency + ahead - self._slots.held_count + len(settling)
        if limit <= 0:
            return {}, 0
        capacity = dict.fromkeys(self.task_types, limit)
        for task_type, most in self._limited.items():
            leaving = sum(claim.task_type == task_type for claim, _ in settling)
            capacity[task_type] = max(0, most - self._slots.held_of(task_type) + leaving)
        return capacity, limit

    async def _promote_due(self) -> None:
        if self._due is not None and time.monotonic() >= self._due:
            self._due = None
            await self.queue.promote()
            self._look = True

    def _ahead_too_long(self) -> list[Settlement]:
        """What was claimed ahead and could not be started after all goes back, so that another worker can have it."""
        return [(claim, PutBack()) for claim in self._slots.take_ahead(older_than=_AHEAD_TOO_LONG)]

    async def _rest(self) -> None:
        """Wait for something to do. A queue that can claims for us meanwhile, as soon as it hears of something."""
        capacity, limit = self._room([])
        if self._on_arrival is None or limit <= 0:
            await self._sleep()
            return
        loop, answered = asyncio.get_running_loop(), asyncio.Event()

        def answer(claimed: Claimed | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._receive, claimed, limit, answered)

        order = StandingOrder(self.name, capacity, limit, self._lease, self._look_again, answer)
        self._on_arrival.stand_by(order)
        try:
            await self._sleep()
        finally:
            withdrawn = self._on_arrival.withdraw(order)
        if not withdrawn:
            # It is being answered, and what it brings counts before we claim anything else.
            await answered.wait()

    def _receive(self, claimed: Claimed | None, limit: int, answered: asyncio.Event) -> None:
        if claimed is None:
            self._look = True
        else:
            self._take_in(claimed, limit)
        answered.set()
        self._wake.set()

    async def _sleep(self) -> None:
        waits = [] if self._due is None else [max(0.0, self._due - time.monotonic())]
        if self._slots.has_ahead and self._slots.all_busy:
            waits.append(_AHEAD_TOO_LONG)
        if not waits:
            await self._wake.wait()
            return
        try:
            async with asyncio.timeout(min(waits)):
                await self._wake.wait()
        except TimeoutError:
            return

    def _wake_up(self) -> None:
        """Have the pump look: a slot has something to tell."""
        self._look = True
        self._wake.set()

    def _look_again(self) -> None:
        """Look for tasks: there may be new ones."""
        self._look = True
        if self._instant is not None and self._resting and not self._stopping:
            # Waking the pump first would take longer than the claim itself.
            self._turn_at_once(self._instant)
        self._wake.set()

    async def _finish(self, unsettled: list[Settlement]) -> None:
        unsettled += [(claim, PutBack()) for claim in self._slots.take_ahead()]
        until = time.monotonic() + self._grace
        while self._slots.busy and time.monotonic() < until:
            unsettled = await self._settle(unsettled + self._slots.take_outcomes())
            self._wake.clear()
            if self._slots.busy and not self._slots.has_outcomes:
                try:
                    async with asyncio.timeout(until - time.monotonic()):
                        await self._wake.wait()
                except TimeoutError:
                    break
        if self._slots.busy:
            unsettled += await self._slots.interrupt()
        unsettled = await self._settle(unsettled + self._slots.take_outcomes())
        if unsettled:
            _log.warning("left_to_their_leases", tasks=[str(claim.id) for claim, _ in unsettled])

    async def _settle(self, settling: list[Settlement]) -> list[Settlement]:
        """Settle without claiming; what could not be written is returned."""
        if not settling:
            return []
        try:
            self._slots.settled(settling, await self.queue.settle(settling))
        except KurabitoError as problem:
            _log.warning("queue_unavailable", problem=str(problem))
            await asyncio.sleep(0.1)
            return settling
        return []


def _check(concurrency: int, lease: float, heartbeat: float, grace: float) -> None:
    if not isinstance(concurrency, int) or concurrency < 1:
        raise InvalidInput("concurrency", f"must be at least 1, got {concurrency!r}")
    if not 0 < heartbeat < lease:
        raise InvalidInput("heartbeat", f"must be more than 0 and less than the lease of {lease} s, got {heartbeat!r}")
    if grace < 0:
        raise InvalidInput("grace", f"must not be negative, got {grace!r}")
