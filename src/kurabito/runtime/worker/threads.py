"""The threads in which plain functions run.

A thread cannot be stopped from outside. One whose function does not come back in time is abandoned: its place is taken by a
new one, and whatever it gives later is dropped.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from kurabito.runtime.worker.lineage import Lineage

T = TypeVar("T")

THREAD_NAME: Final = "kurabito-task"


class _ThreadSlot:
    """A thread, and what it is asked to run."""

    __slots__ = ("answer", "inbox", "is_abandoned")

    def __init__(self) -> None:
        self.inbox: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self.answer: asyncio.Future[Any] | None = None
        self.is_abandoned = False


class HandlerThreads:
    """As many threads as there are functions at work. Only the event loop's own thread calls this."""

    def __init__(self) -> None:
        self.abandoned = 0
        """How many threads still run what was given up."""
        self._idle: list[_ThreadSlot] = []
        self._busy: dict[asyncio.Future[Any], _ThreadSlot] = {}
        self._started = 0
        self._closed = False
        self._lineage = Lineage()

    def start(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Run a function that raises nothing; the future has what it returns."""
        loop = asyncio.get_running_loop()
        place = self._idle.pop() if self._idle else self._begin(loop)
        place.answer = answer = loop.create_future()
        self._busy[answer] = place
        place.inbox.put(work)
        return answer

    def abandon(self, answer: asyncio.Future[Any]) -> None:
        """Expect nothing more of the thread that was to give this answer."""
        if (place := self._busy.pop(answer, None)) is not None:
            place.is_abandoned = True
            self.abandoned += 1

    def close(self) -> None:
        """Let the threads go; a function that does not return keeps its own until it does, or the process ends."""
        self._closed = True
        for place in self._idle:
            place.inbox.put(None)
        self._idle.clear()

    def _begin(self, loop: asyncio.AbstractEventLoop) -> _ThreadSlot:
        place = _ThreadSlot()
        self._started += 1
        # A daemon: a function that never returns must not keep the program from ending, and its task is put back.
        threading.Thread(
            target=self._serve, args=(place, loop), name=f"{THREAD_NAME}-{self._started}", daemon=True
        ).start()
        return place

    def _serve(self, place: _ThreadSlot, loop: asyncio.AbstractEventLoop) -> None:
        while (work := place.inbox.get()) is not None:
            outcome = work()
            self._lineage.end_a_copy()
            try:
                loop.call_soon_threadsafe(self._ended, place, outcome)
            except RuntimeError:
                # The loop is closed, so nothing waits for this any more.
                return
            # Nothing of it is kept while the thread waits.
            del work, outcome

    def _ended(self, place: _ThreadSlot, outcome: Any) -> None:
        answer, place.answer = place.answer, None
        if place.is_abandoned:
            self.abandoned -= 1
        if place.is_abandoned or self._closed:
            place.inbox.put(None)
        else:
            self._idle.append(place)
        if answer is not None:
            self._busy.pop(answer, None)
            if not answer.done():
                answer.set_result(outcome)
