"""The loop of the control plane: reconciles tasks and jobs after each event, and every second."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.db.errors import UniqueConflict
from kurabito.library import hashes
from kurabito.library.reconcile import (
    OWNER,
    FolderMatcher,
    NoMatcher,
    Situation,
    has_progress,
    observe,
    reconcile,
    report_progress,
    unmatched,
)
from kurabito.library.scans import schedules
from kurabito.library.tasks import TASK_TYPES
from kurabito.logs import get_logger
from kurabito.rounds import Rounds
from kurabito.runtime.delegation import DelegatedTasks, TaskSnapshot
from kurabito.runtime.port import Presence
from kurabito.runtime.tasks.followups import FollowUp
from kurabito.runtime.worker.locks import fresh_worker_name
from kurabito.wakeup import Bell

_EVERY: Final = 1.0
_AT_MOST_EVERY: Final = 0.05
"""A data plane commits many times a second, and each commit wakes us."""
_REPORTED_EVERY: Final = SECOND
_ANNOUNCED_EVERY: Final = 5 * SECOND
_DOUBTED_EVERY: Final = 60 * SECOND
"""Where libraries have different algorithms it takes a look at every hash."""
_BELIEVED_FOR: Final = 30.0

_log = get_logger(__name__)


class Reconciler:
    """Oversees the tasks whose work data planes do."""

    def __init__(
        self,
        queue: DelegatedTasks,
        *,
        follow_ups: Sequence[FollowUp] = (),
        matcher: FolderMatcher | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.changed = Bell()
        """Ring it to have things looked at now."""
        self._queue = queue
        self._follow_ups = tuple(follow_ups)
        self._matcher = matcher or NoMatcher()
        self._clock = clock or SystemClock()
        self._name = f"{OWNER}-{fresh_worker_name()}"
        self._rounds = Rounds("tasks and jobs not reconciled", self._clock)
        self._announced = 0
        self._reported = 0
        self._doubted = 0

    @property
    def trouble(self) -> str | None:
        """Why scans and hashes make no headway, while they make none."""
        return self._rounds.trouble

    async def run(self) -> None:
        """Go on until cancelled."""
        roused = asyncio.Event()
        with ExitStack() as listening:
            for bell in (self.changed, self._queue.work.arrivals, self._queue.work.interrupts):
                listening.enter_context(bell.listen(roused.set))
            try:
                while True:
                    roused.clear()
                    await self._rounds.do(self.tick)
                    await self._clock.wait(asyncio.Event(), _AT_MOST_EVERY)
                    await self._clock.wait(roused, _EVERY)
            finally:
                await asyncio.to_thread(self._queue.work.depart, self._name)

    async def tick(self) -> None:
        """All work that is due now."""
        await self._announce()
        await schedules.submit_due(self._queue)
        await self._doubt_hashes()
        await hashes.submit_due(self._queue)
        while await self.step():
            pass
        now = self._clock.now()
        if now - self._reported >= _REPORTED_EVERY and await self._queue.delegate_read(has_progress):
            self._reported = now
            await self._queue.delegate_write(report_progress)

    async def _doubt_hashes(self) -> None:
        now = self._clock.now()
        if now - self._doubted < _DOUBTED_EVERY:
            return
        self._doubted = now
        if files := await hashes.rehash_foreign(self._queue):
            _log.info("files of another hash algorithm are read again", files=files)

    async def step(self) -> bool:
        """Reconcile tasks and jobs once; whether something changed."""
        situation, to_match = await self._queue.delegate_read(_look)
        if situation.is_in_order:
            return False
        matched = await self._match(to_match)
        try:
            return await self._queue.delegate_write(lambda tasks: reconcile(tasks, matched, self._follow_ups))
        except UniqueConflict:
            # Another process took the slot at this very moment.
            return False

    async def _match(self, scans: Sequence[tuple[int, str]]) -> dict[str, int]:
        """How many folders of each scan are left without a match. One that cannot be matched now holds up no other."""
        left: dict[str, int] = {}
        for library_id, job_id in scans:
            try:
                left[job_id] = await self._matcher.match(library_id, job_id)
            except Exception:  # noqa: BLE001 - whatever it was, the scan stays under way and is matched later
                _log.exception("the folders of a scan could not be matched", library=library_id, job=job_id)
        return left

    async def _announce(self) -> None:
        """Register as the overseer of the tasks."""
        now = self._clock.now()
        if now - self._announced < _ANNOUNCED_EVERY:
            return
        self._announced = now
        presence = Presence(self._name, TASK_TYPES, 1)
        await asyncio.to_thread(lambda: self._queue.work.heartbeat([], lease=_BELIEVED_FOR, presence=presence))


def _look(overview: TaskSnapshot) -> tuple[Situation, list[tuple[int, str]]]:
    situation = observe(overview)
    return situation, unmatched(overview, situation)
