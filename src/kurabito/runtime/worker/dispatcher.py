"""The dispatcher of a worker: the one loop that claims and settles.

    claims ──► ahead ──► slots ──► outcomes ──► settled with the next claim

It claims in batches, a little ahead of what the slots can run, so that they never wait for the queue.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from kurabito.clock import Clock
from kurabito.errors import DatabaseUnavailable
from kurabito.logs import get_logger
from kurabito.runtime.outcomes import Released, Settlement
from kurabito.runtime.port import Claimed, InstantClaims, ParkedClaim, Presence, WorkQueue
from kurabito.runtime.tasks.registry import Registry
from kurabito.runtime.worker.failures import describe
from kurabito.runtime.worker.patience import Patience, settle_apart
from kurabito.runtime.worker.slots import Slots
from kurabito.runtime.worker.start_rate import StartRate
from kurabito.runtime.worker.suspects import Suspects

_log = get_logger("kurabito.runtime")

_AHEAD_SECONDS: Final = 0.05
_MOST_AHEAD: Final = 1000
# Where claiming costs next to nothing: as few objects as make the garbage collector look for no cycles among them.
_MOST_AHEAD_AT_ONCE: Final = 300
_AHEAD_TOO_LONG: Final = 0.25


class Dispatcher:
    """Settles what ended, claims what there is room for, and rests until there is something to do."""

    def __init__(
        self, queue: WorkQueue, registry: Registry, presence: Presence, clock: Clock, *, lease: float, grace: float
    ) -> None:
        self.slots = Slots(registry, presence.concurrency, queue.max_payload, clock, self._wake_up)
        self._queue = queue
        self._clock = clock
        self._instant = queue.instant
        self._on_arrival = queue.on_arrival
        self._presence = presence
        handlers = [registry.handler(task_type) for task_type in presence.task_types]
        self._limited = {each.task_type: each.concurrency for each in handlers if each and each.concurrency}
        self._lease = lease
        self._grace = grace
        self._rate = StartRate(clock)
        self._wake = asyncio.Event()
        self._look = True
        self._due: float | None = None
        self._stopping = False
        self._resting = False
        self._unsettled: list[Settlement] = []
        self._suspects = Suspects(self.slots)
        self._patience = Patience(clock, lease, "claiming")

    @property
    def trouble(self) -> str | None:
        """Why nothing can be claimed or settled at the moment."""
        return self._patience.trouble

    @property
    def is_resting(self) -> bool:
        """Whether it found nothing to do and waits to be woken."""
        return self._resting

    async def run(self) -> None:
        """Go on until told to stop; then let running handlers end within the grace, and put back what is left.

        Whatever the queue raises is tried again. What it cannot mean to raise ends the dispatcher after the length of a lease.
        """
        while not self._stopping:
            if self.slots.lineage.is_copy:
                self.slots.lineage.end_a_copy()
            self._wake.clear()
            self._unsettled += self.slots.take_outcomes()
            self._unsettled += self._ahead_too_long()
            try:
                await self._promote_due()
                if self._unsettled or self._look:
                    await self._turn()
                if self._patience.trouble is not None:
                    self._patience.restore()
            except Exception as problem:  # noqa: BLE001 - a worker must not end by what a driver raises
                self._look = True
                await self._bear(problem)
                continue
            if not self._look and not self._unsettled and not self.slots.has_outcomes:
                self._resting = True
                await self._rest()
                self._resting = False
        await self._finish(self._unsettled)

    def stop(self) -> None:
        """Take nothing new, and come to an end."""
        self._stopping = True
        self._wake.set()

    def look_again(self) -> None:
        """Look for tasks: there may be new ones."""
        self._look = True
        if self._instant is not None and self._resting and not self._stopping:
            # Waking the loop first would take longer than the claim itself.
            try:
                self._turn_at_once(self._instant)
            except Exception:  # noqa: BLE001 - the loop meets it too, and knows what to do; the caller does not
                self._look = True
        self._wake.set()

    async def _bear(self, problem: Exception) -> None:
        """Go on after a failure of the queue: at once without an outcome that it cannot store, else a little later."""
        if not isinstance(problem, DatabaseUnavailable) and self._unsettled:
            try:
                await settle_apart(self._queue, self.slots, self._unsettled)
            except Exception as worse:  # noqa: BLE001 - the queue, then, and none of the outcomes
                problem = worse
            else:
                return
        await self._clock.sleep(self._patience.wait_after(problem))

    async def _turn(self) -> None:
        """Settle and claim in one transaction."""
        if self._instant is not None:
            self._turn_at_once(self._instant)
            return
        self._look = False
        capacity, limit = self._room(self._unsettled)
        self._take_in(await self._claim(capacity, limit), limit)

    def _turn_at_once(self, queue: InstantClaims) -> None:
        self._look = False
        capacity, limit = self._room(self._unsettled)
        claimed = queue.claim_now(
            self._presence.name,
            capacity,
            limit,
            lease=self._lease,
            settling=self._unsettled,
            suspects=self._suspects.may_be_claimed(self._unsettled),
        )
        self._take_in(claimed, limit)

    async def _claim(self, capacity: dict[str, int], limit: int) -> Claimed:
        claim = self._queue.claim(
            self._presence.name,
            capacity,
            limit,
            lease=self._lease,
            settling=self._unsettled,
            suspects=self._suspects.may_be_claimed(self._unsettled),
        )
        turn = asyncio.ensure_future(claim)
        try:
            return await asyncio.shield(turn)
        except asyncio.CancelledError:
            # What the queue gave us must not be left running: finish this turn, then stop.
            self._stopping = True
            return await turn

    def _take_in(self, claimed: Claimed, limit: int) -> None:
        """Let go of what was settled and hand the claims to the slots; what must not run beside them is given back."""
        self.slots.settled(self._unsettled, claimed.lost)
        self._unsettled = []
        self._suspects.start_waiting()
        if not claimed.tasks:
            self._due = None if claimed.due_in is None else self._clock.monotonic() + claimed.due_in
            return
        apart, self._unsettled = self._suspects.keep_apart(claimed.tasks)
        self.slots.add(claimed.tasks, apart)
        # There may be more as long as there is something.
        self._look = self._look or len(claimed.tasks) >= limit

    def _room(self, settling: list[Settlement]) -> tuple[dict[str, int], int]:
        """How many tasks of each type may be claimed now, and how many together, once these are settled."""
        most = _MOST_AHEAD if self._instant is None else _MOST_AHEAD_AT_ONCE
        ahead = min(most, int(self._rate.update(self.slots.started) * _AHEAD_SECONDS))
        limit = self._presence.concurrency + ahead - len(self.slots.held) + len(settling)
        if limit <= 0:
            return {}, 0
        capacity = dict.fromkeys(self._presence.task_types, limit)
        for task_type, at_once in self._limited.items():
            leaving = sum(claim.task_type == task_type for claim, _ in settling)
            ours = sum(claim.task_type == task_type for claim in self.slots.held)
            capacity[task_type] = max(0, at_once - ours + leaving)
        return capacity, limit

    async def _promote_due(self) -> None:
        if self._due is not None and self._clock.monotonic() >= self._due:
            self._due = None
            await self._queue.promote()
            self._look = True

    def _ahead_too_long(self) -> list[Settlement]:
        """What was claimed ahead and could not be started after all goes back, so that another worker can have it."""
        return [(claim, Released()) for claim in self.slots.take_ahead(older_than=_AHEAD_TOO_LONG)]

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

        suspects = self._suspects.may_be_claimed([])
        order = ParkedClaim(self._presence.name, capacity, limit, self._lease, suspects, self.look_again, answer)
        self._on_arrival.park(order)
        try:
            await self._sleep()
        finally:
            withdrawn = self._on_arrival.unpark(order)
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
        waits = [] if self._due is None else [max(0.0, self._due - self._clock.monotonic())]
        if self.slots.keeps_ahead_waiting:
            waits.append(_AHEAD_TOO_LONG)
        await self._be_woken(within=min(waits, default=None))

    async def _be_woken(self, *, within: float | None) -> None:
        if within is None:
            await self._wake.wait()
        else:
            await self._clock.wait(self._wake, within)

    def _wake_up(self) -> None:
        """Look: a slot has something to tell."""
        self._look = True
        self._wake.set()

    async def _finish(self, unsettled: list[Settlement]) -> None:
        """Let running handlers end within the grace, stop the others, and settle all of them."""
        unsettled += [(claim, Released()) for claim in self.slots.take_ahead()]
        unsettled += [(claim, Released()) for claim in self._suspects.take_waiting()]
        until = self._clock.monotonic() + self._grace
        while self.slots.busy and self._clock.monotonic() < until:
            unsettled = await self._settle(unsettled + self.slots.take_outcomes())
            self._wake.clear()
            if self.slots.busy and not self.slots.has_outcomes:
                await self._be_woken(within=until - self._clock.monotonic())
        if self.slots.busy:
            unsettled += await self.slots.interrupt()
        unsettled = await self._settle(unsettled + self.slots.take_outcomes())
        if unsettled:
            _log.warning("leases_left_to_expire", tasks=[str(claim.id) for claim, _ in unsettled])

    async def _settle(self, settling: list[Settlement]) -> list[Settlement]:
        """Settle without claiming; what could not be written is returned."""
        if not settling:
            return []
        try:
            self.slots.settled(settling, await self._queue.settle(settling))
        except Exception as problem:  # noqa: BLE001 - what cannot be written now is left to its lease
            _log.warning("queue_unavailable", problem=describe(problem))
            if not isinstance(problem, DatabaseUnavailable):
                with suppress(Exception):
                    await settle_apart(self._queue, self.slots, settling)
            await self._clock.sleep(0.1)
            return settling
        return []
