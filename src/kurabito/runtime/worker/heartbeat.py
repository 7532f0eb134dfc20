"""The heartbeat of a worker: a thread that renews its leases, so that busy handlers cannot starve them.

It also knows when that is in vain. A worker that could not renew its leases for their whole length has lost them, although
it cannot be told so: it stops what it runs. And a worker whose event loop stands still must not say that it lives.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Final

from kurabito.clock import Clock
from kurabito.errors import DatabaseUnavailable
from kurabito.logs import get_logger
from kurabito.runtime.errors import WorkerFailed
from kurabito.runtime.outcomes import Claim
from kurabito.runtime.port import Beat, Presence, WorkQueue
from kurabito.runtime.worker.failures import describe
from kurabito.runtime.worker.patience import Patience
from kurabito.runtime.worker.slots import Slots

_log = get_logger("kurabito.runtime")

_NEWS_EVERY: Final = 0.2
_RETRY: Final = 0.5
_STANDS_STILL: Final = 10.0
"""Seconds after a time limit in which an event loop that moves at all would have seen to it."""


class Heartbeat:
    """Beats every few seconds, and in between when there is progress to tell or a task was cancelled."""

    def __init__(
        self, queue: WorkQueue, presence: Presence, slots: Slots, clock: Clock, *, lease: float, interval: float
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._presence = presence
        self._slots = slots
        self._lease = lease
        self._interval = interval
        self._roused = threading.Event()
        self._urgent = False
        self._has_news = False
        self._stopping = False
        slots.tell_news = self._hear_news
        self.fail: Callable[[str], object] = lambda _why: None
        """Called in the heartbeat's thread when the worker cannot go on, with the reason."""
        self.stand_still: Callable[[str], object] = lambda _why: None
        """Called likewise when the event loop does not move, so that nothing in it can be asked to end."""
        self._patience = Patience(clock, lease, "renewing leases")
        # Where the store is the only witness. On one machine a file's lock says that we live, and a full disk stops all.
        self._fences_itself = queue.is_remote
        self._renewed_at = 0.0
        self._fencing: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="kurabito-heartbeat", daemon=True)

    @property
    def trouble(self) -> str | None:
        """Why leases cannot be renewed at the moment."""
        return self._patience.trouble

    async def start(self) -> None:
        """Say that the worker lives, and go on saying it."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._beat)
        self._thread.start()
        if self._fences_itself:
            self._fencing = asyncio.create_task(self._fence(), name=f"{self._presence.name} fence")
            self._fencing.add_done_callback(self._fence_ended)

    async def stop(self) -> None:
        """Stop, and take the worker off the list of the living."""
        self.halt()
        if self._fencing is not None:
            self._fencing.cancel()
        await asyncio.to_thread(self._thread.join)
        try:
            await asyncio.to_thread(self._queue.depart, self._presence.name)
        except Exception as problem:  # noqa: BLE001 - the list forgets it in the end, and it must be able to leave
            _log.warning("departure_failed", worker=self._presence.name, problem=describe(problem))

    def halt(self) -> None:
        """Stop renewing."""
        self._stopping = True
        self._roused.set()

    def beat_now(self) -> None:
        """Beat at once: something that we run may have been cancelled."""
        self._urgent = True
        self._roused.set()

    def _hear_news(self) -> None:
        self._has_news = True
        self._roused.set()

    async def _fence(self) -> None:
        """Stop what we run once its leases have ended without a renewal, also while the machine slept."""
        while True:
            left = self._renewed_at + self._lease - self._clock.since_boot()
            await self._clock.sleep(max(0.0, left))
            if self._clock.since_boot() - self._renewed_at < self._lease:
                continue
            if stopped := self._slots.lose_all():
                _log.error("leases_given_up", worker=self._presence.name, tasks=stopped, seconds=self._lease)
            await self._clock.sleep(min(_RETRY, self._interval))

    def _fence_ended(self, fencing: asyncio.Task[None]) -> None:
        if not fencing.cancelled():
            self.fail(f"what stops it after a lost lease has ended: {describe(fencing.exception() or Exception())}")

    def _run(self) -> None:
        try:
            self._beat_on()
        except WorkerFailed as failed:
            self.fail(str(failed))
        except BaseException as problem:  # noqa: BLE001 - a worker without a heartbeat must not look like a living one
            _log.exception("heartbeat_stopped", worker=self._presence.name)
            self.fail(f"its heartbeat stopped: {describe(problem)}")

    def _beat_on(self) -> None:
        due = self._clock.monotonic() + self._interval
        reported = 0.0
        while True:
            # Progress is told a few times a second; a worker without any sleeps from beat to beat.
            until = min(due, reported + _NEWS_EVERY) if self._has_news else due
            self._clock.wait_blocking(self._roused, until - self._clock.monotonic())
            self._roused.clear()
            if self._stopping or self._stands_still():
                return
            now = self._clock.monotonic()
            whole = self._urgent or now >= due
            if not whole and (not self._has_news or now < reported + _NEWS_EVERY):
                continue
            # Forgotten before the beat: what is said while it goes on is told by the next one.
            self._urgent = self._has_news = False
            reported = now
            if not self._beat_safely(news_only=not whole):
                due = self._clock.monotonic() + min(_RETRY, self._interval)
            elif whole:
                due = self._clock.monotonic() + self._interval

    def _stands_still(self) -> bool:
        """Whether a handler that never yields holds the event loop, long after its time was over.

        Then nothing runs here any more, and the leases are better left to another worker.
        """
        claim = self._slots.limits.overdue(by=_STANDS_STILL)
        if claim is None:
            return False
        why = f"task {claim.id} ({claim.task_type}) holds the event loop, and its time limit is over"
        _log.critical("event_loop_stands_still", worker=self._presence.name, task_id=str(claim.id))
        self.stand_still(f"{why}; await in it, make it a plain function, or register it with isolation='process'")
        return True

    def _beat_safely(self, *, news_only: bool) -> bool:
        try:
            self._beat(news_only=news_only)
        except Exception as problem:  # noqa: BLE001 - a worker without a heartbeat loses everything it runs
            self._patience.wait_after(problem)
            return False
        return True

    def _beat(self, *, news_only: bool = False) -> None:
        beats = self._slots.beats(news_only=news_only)
        if news_only and not beats:
            return
        began = self._clock.since_boot()
        try:
            lost = self._renew(beats, None if news_only else self._presence)
        except DatabaseUnavailable:
            raise
        except Exception:
            if all(beat.progress is None for beat in beats):
                raise
            # Something that one handler reported cannot be stored: the leases of all are worth more than their progress.
            _log.exception("progress_not_storable", worker=self._presence.name)
            lost = self._renew([Beat(beat.claim) for beat in beats], None if news_only else self._presence)
        if not news_only:
            self._renewed_at = began
            self._patience.restore()
        if lost and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._slots.lose, lost)

    def _renew(self, beats: Sequence[Beat], presence: Presence | None) -> list[Claim]:
        return self._queue.heartbeat(beats, lease=self._lease, presence=presence)
