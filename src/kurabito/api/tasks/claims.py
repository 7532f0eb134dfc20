"""Claims for workers that are elsewhere: what a worker in this process does for itself is done for them here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from kurabito.api.live import Live
from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.errors import KurabitoError, LeaseLost
from kurabito.runtime import Queue
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.model import Progress
from kurabito.runtime.outcomes import Claim, Failure, Outcome, Released, Settlement, Snoozed, Success, worker_name
from kurabito.runtime.port import Beat, Claimed, Presence
from kurabito.runtime.tasks import payloads
from kurabito.runtime.tasks.intake import PreparedTask, check_size
from kurabito.runtime.tasks.retry import DEFAULT_RETRY
from kurabito.runtime.worker.suspects import SECONDS_APART

_LOOK_AGAIN: Final = 5.0
# Arrivals come in bursts, and a look is a write: many who wait must not look at each of them.
_BETWEEN_LOOKS: Final = 0.02
_MOST_REMEMBERED: Final = 1000


@dataclass(frozen=True, eq=False)
class ClaimRequest:
    """What a worker would like to claim, and how long it is ready to wait for it."""

    worker: str
    task_types: tuple[str, ...]
    limit: int
    wait: float
    stirred: asyncio.Event = field(default_factory=asyncio.Event)

    def stir(self) -> None:
        """Have a look: something may have changed."""
        self.stirred.set()


class ClaimDesk:
    """Claims tasks for external workers, and takes their word for what becomes of them."""

    def __init__(self, queue: Queue, live: Live, *, lease: float = 30.0, clock: Clock | None = None) -> None:
        self.lease = lease
        self._work = queue.work
        self._live = live
        self._clock = clock or SystemClock()
        self._known: dict[str, Presence] = {}
        self._suspects: dict[str, Claim] = {}

    async def claim(self, wanted: ClaimRequest, has_left: Callable[[], bool]) -> list[Claim]:
        """Tasks for the worker as soon as there are some; none when it has waited long enough, or has left."""
        # Counted as living for as long as it may wait, and then until its first heartbeat is due.
        await self._announce(self._remember(wanted), wanted.wait + self.lease)
        with self._work.arrivals.listen(wanted.stir), self._live.ending.listen(wanted.stir):
            claims = await self._first_claims(wanted, lambda: has_left() or self._live.ended)
        if claims and has_left():
            # No other worker would get them before the lease ends.
            await self._settle([(claim, Released()) for claim in claims])
            return []
        return await self._keep_apart(wanted.worker, claims)

    async def beat(self, task_id: str, token: str, progress: Progress | None) -> int:
        """Renew the lease; when it ends now."""
        claim = await self._work.held(task_id, token)
        presence = self._known.get(worker_name(token) or "")
        lost = await asyncio.to_thread(
            self._work.heartbeat, [Beat(claim, progress)], lease=self.lease, presence=presence
        )
        if lost:
            raise _lost(claim)
        return (await self._work.held(task_id, token)).lease_expires_at

    async def complete(
        self, task_id: str, token: str, result: Any, follow_ups: Callable[[int], Iterable[PreparedTask]]
    ) -> None:
        """The worker did it. What is to follow is stored in the same transaction, or not at all."""
        stored = None if result is None else payloads.encode(result, field="result")[0]
        if stored is not None:
            check_size("result", stored, self._work.max_payload)
        prepared = tuple(follow_ups(self._work.max_payload))
        await self._end(await self._work.held(task_id, token), Success(stored, prepared))

    async def fail(self, task_id: str, token: str, error: str, *, permanent: bool) -> None:
        """The worker could not do it."""
        claim = await self._work.held(task_id, token)
        wait = DEFAULT_RETRY(claim.attempt, KurabitoError(error))
        await self._end(claim, Failure(error, wait, permanent))

    async def snooze(self, task_id: str, token: str, seconds: float) -> None:
        """The worker cannot do it yet, and that is no failure."""
        await self._end(await self._work.held(task_id, token), Snoozed(seconds))

    async def _first_claims(self, wanted: ClaimRequest, is_over: Callable[[], bool]) -> list[Claim]:
        until = self._clock.now() + round(wanted.wait * SECOND)
        while True:
            wanted.stirred.clear()
            claimed = await self._take(wanted, suspects=not await self._holds_a_suspect(wanted.worker))
            if claimed.tasks:
                return claimed.tasks
            if claimed.due_in == 0 and await self._work.promote():
                continue
            left = (until - self._clock.now()) / SECOND
            if left <= 0 or is_over():
                return []
            if await self._clock.wait(wanted.stirred, min(left, claimed.due_in or _LOOK_AGAIN, _LOOK_AGAIN)):
                await asyncio.sleep(_BETWEEN_LOOKS)

    async def _take(self, wanted: ClaimRequest, *, suspects: bool) -> Claimed:
        capacity = dict.fromkeys(wanted.task_types, wanted.limit)
        claim = self._work.claim(wanted.worker, capacity, wanted.limit, lease=self.lease, suspects=suspects)
        turn = asyncio.ensure_future(claim)
        try:
            return await asyncio.shield(turn)
        except asyncio.CancelledError:
            # The server gives the request up, and what the queue is just giving to it must not be left running.
            await self._settle([(claim, Released()) for claim in (await turn).tasks])
            raise

    async def _holds_a_suspect(self, worker: str) -> bool:
        """Whether the worker still has the task that may be what kills its workers: no other must share its fate."""
        if worker not in self._suspects:
            return False
        try:
            await self._work.held(self._suspects[worker].id, self._suspects[worker].owner)
        except (LeaseLost, TaskNotFound):
            del self._suspects[worker]
            return False
        return True

    async def _keep_apart(self, worker: str, claims: list[Claim]) -> list[Claim]:
        """At most one task that may be what kills its workers: should this one die too, it is known which it was."""
        suspects = [claim for claim in claims if claim.is_suspect]
        if not suspects:
            return claims
        self._suspects[worker], *apart = suspects
        await self._settle([(claim, Snoozed(SECONDS_APART)) for claim in apart])
        return [claim for claim in claims if claim not in apart]

    async def _end(self, claim: Claim, outcome: Outcome) -> None:
        if await self._settle([(claim, outcome)]):
            raise _lost(claim)

    async def _settle(self, settling: list[Settlement]) -> list[Claim]:
        return await self._work.settle(settling) if settling else []

    def _remember(self, wanted: ClaimRequest) -> Presence:
        """What the worker says about itself, for its heartbeats to repeat."""
        presence = Presence(wanted.worker, wanted.task_types, wanted.limit)
        self._known.pop(wanted.worker, None)
        self._known[wanted.worker] = presence
        if len(self._known) > _MOST_REMEMBERED:
            forgotten = next(iter(self._known))
            del self._known[forgotten]
            self._suspects.pop(forgotten, None)
        return presence

    async def _announce(self, presence: Presence, seconds: float) -> None:
        await asyncio.to_thread(self._work.heartbeat, [], lease=seconds, presence=presence)


def _lost(claim: Claim) -> LeaseLost:
    return LeaseLost(f"task {claim.id} is no longer this worker's: it was cancelled, or its lease went to another")
