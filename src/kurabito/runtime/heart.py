"""The heart of a worker: a thread that renews its leases, so that busy handlers cannot starve them."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Final

from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.runtime.port import Presence, Queue
from kurabito.runtime.slots import Slots

_log = get_logger("kurabito.runtime")

_NEWS_EVERY: Final = 0.2
_RETRY: Final = 0.5


class Heart:
    """Beats every few seconds, and in between when there is progress to tell or a task was cancelled."""

    def __init__(self, queue: Queue, presence: Presence, slots: Slots, lease: float, interval: float) -> None:
        self._queue = queue
        self._presence = presence
        self._slots = slots
        self._lease = lease
        self._interval = interval
        self._roused = threading.Event()
        self._urgent = False
        self._has_news = False
        self._stopping = False
        slots.tell_news = self._hear_news
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="kurabito-heart", daemon=True)

    async def start(self) -> None:
        """Say that the worker lives, and go on saying it."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._beat)
        self._thread.start()

    async def stop(self) -> None:
        """Stop, and take the worker off the list of the living."""
        self.halt()
        await asyncio.to_thread(self._thread.join)
        try:
            await asyncio.to_thread(self._queue.depart, self._presence.name)
        except KurabitoError as problem:
            _log.warning("could_not_depart", worker=self._presence.name, problem=str(problem))

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

    def _run(self) -> None:
        due = time.monotonic() + self._interval
        told = 0.0
        while True:
            # Progress is told a few times a second; a worker without any sleeps from beat to beat.
            until = min(due, told + _NEWS_EVERY) if self._has_news else due
            self._roused.wait(max(0.0, until - time.monotonic()))
            self._roused.clear()
            if self._stopping:
                return
            now = time.monotonic()
            whole = self._urgent or now >= due
            if not whole and (not self._has_news or now < told + _NEWS_EVERY):
                continue
            # Forgotten before the beat: what is said while it goes on is told by the next one.
            self._urgent = self._has_news = False
            told = now
            if not self._beat_safely(news_only=not whole):
                due = time.monotonic() + min(_RETRY, self._interval)
            elif whole:
                due = time.monotonic() + self._interval

    def _beat_safely(self, *, news_only: bool) -> bool:
        try:
            self._beat(news_only=news_only)
        except KurabitoError as problem:
            _log.warning("heartbeat_failed", worker=self._presence.name, problem=str(problem))
            return False
        except Exception:  # noqa: BLE001 - a worker whose heart stops loses everything it runs
            _log.exception("heartbeat_failed", worker=self._presence.name)
            return False
        return True

    def _beat(self, *, news_only: bool = False) -> None:
        beats = self._slots.beats(news_only=news_only)
        if news_only and not beats:
            return
        presence = None if news_only else self._presence
        lost = self._queue.heartbeat(beats, lease=self._lease, presence=presence)
        if lost and self._loop is not None:
            self._loop.call_soon_threadsafe(self._slots.lose, lost)
