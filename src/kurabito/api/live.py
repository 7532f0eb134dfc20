"""Live events of tasks: one reader of the queue, any number of listeners.

    queue.events() ──► reader ──► ring of the last events ◄── listeners, each at a place of its own

A listener is no more than a place in the ring that all of them share. So another one costs next to nothing, and a slow one
holds nothing up: once the ring has gone past its place it is dropped, and may come back with the cursor it has.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from functools import cached_property
from types import TracebackType
from typing import Final, Protocol, Self

import pydantic_core

from kurabito.logs import get_logger
from kurabito.runtime.events import TaskEvent
from kurabito.wakeup import Bell

_log = get_logger(__name__)

KEPT: Final = 4096
_AT_ONCE: Final = 256
_LONGEST_BACKOFF: Final = 5.0
_NOT_TOLD: Final = frozenset({"cursor"})


class Tells(Protocol):
    """A queue, as far as it tells what happens."""

    def events(self, *, after: str | None = None) -> AsyncIterator[TaskEvent]:
        """What happens from now on, or after a cursor."""
        ...


class LiveEvent:
    """An event, and its frame once a listener needs it: made once, however many listen."""

    def __init__(self, event: TaskEvent) -> None:
        self.event = event

    @cached_property
    def frame(self) -> bytes:
        """The event as a stream of server-sent events carries it."""
        event = self.event
        facts = {each.name: getattr(event, each.name) for each in fields(event) if each.name not in _NOT_TOLD}
        return b"id: %b\nevent: %b\ndata: %b\n\n" % (
            event.cursor.encode(),
            event.name.encode(),
            # JSON has no line breaks of its own, so it is one line of data.
            pydantic_core.to_json(facts),
        )


class Live:
    """The events of a queue for this process. `hear`, if given, is called with each of them."""

    def __init__(self, queue: Tells, *, hear: Callable[[TaskEvent], object] | None = None, kept: int = KEPT) -> None:
        self._queue = queue
        self._hear = hear
        self._ring: list[LiveEvent | None] = [None] * kept
        self._first = 0
        """Before this place nothing can be resumed: what came before it is not known."""
        self._next = 0
        self._news = asyncio.Event()
        self._resting = 0
        self._reader: asyncio.Task[None] | None = None
        self.listeners = 0
        self.ending = Bell()
        """Rings when the server stops: requests that wait for an event should answer now."""
        self.ended = False

    async def __aenter__(self) -> Self:
        # Made here and not in the reader: everything after this line is told.
        self._reader = asyncio.create_task(self._read(self._queue.events()), name="live")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        if self._reader is not None:
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader

    def end(self) -> None:
        """End every stream at once. A server that stops calls it first, else it would wait for its listeners."""
        self.ended = True
        self._wake()
        self.ending.ring()

    @property
    def newest(self) -> str:
        """The cursor of the last event; empty when there was none."""
        sent = self._ring[(self._next - 1) % len(self._ring)] if self._next > self._oldest else None
        return sent.event.cursor if sent is not None else ""

    @contextmanager
    def listen(self, after: str | None = None) -> Iterator[LiveListener]:
        """Hear what happens from now on, or from the event after that cursor if it is still known."""
        place = self._next if after is None else self._place_after(after)
        self.listeners += 1
        try:
            yield LiveListener(self, self._next if place is None else place, missed=place is None)
        finally:
            self.listeners -= 1

    @property
    def _oldest(self) -> int:
        return max(self._first, self._next - len(self._ring))

    def _place_after(self, cursor: str) -> int | None:
        # From the newest on: a client that comes back was seldom away for long.
        for place in range(self._next - 1, self._oldest - 1, -1):
            sent = self._ring[place % len(self._ring)]
            if sent is not None and sent.event.cursor == cursor:
                return place + 1
        return None

    async def _read(self, stream: AsyncIterator[TaskEvent]) -> None:
        cursor: str | None = None
        backoff = 0.1
        while True:
            try:
                async for event in stream:
                    cursor = event.cursor
                    backoff = 0.1
                    self._tell(event)
                    if self._next % _AT_ONCE == 0:
                        # A burst is handed out without a pause, and the listeners must keep up with it.
                        await asyncio.sleep(0)
            except Exception as problem:  # noqa: BLE001 - whatever it was, going deaf for good would be worse
                _log.warning("live_interrupted", problem=str(problem), again_in=backoff)
            await asyncio.sleep(backoff)
            backoff = min(backoff * 2, _LONGEST_BACKOFF)
            if cursor is None:
                # Nothing says where to continue, so no listener may believe to have heard everything.
                self._first = self._next = self._next + 1
                self._wake()
            stream = self._queue.events(after=cursor)

    def _tell(self, event: TaskEvent) -> None:
        self._ring[self._next % len(self._ring)] = LiveEvent(event)
        self._next += 1
        if self._hear is not None:
            self._hear(event)
        self._wake()

    def _wake(self) -> None:
        if self._resting:
            news, self._news, self._resting = self._news, asyncio.Event(), 0
            news.set()


class LiveListener:
    """One who listens, and how far they have heard."""

    def __init__(self, live: Live, place: int, *, missed: bool) -> None:
        self._live = live
        self._place = place
        self.missed = missed
        """The cursor is too old: what happened since is not known here, so a listener has to load everything again."""

    async def hear(self, patience: float) -> list[LiveEvent] | None:
        """What happened since the last call, as soon as something did; nothing after `patience` seconds.

        None is the end: the server stops, or the ring has gone past this listener.
        """
        live = self._live
        if self._place == live._next and not live.ended:
            live._resting += 1
            try:
                async with asyncio.timeout(patience):
                    await live._news.wait()
            except TimeoutError:
                return []
        if live.ended or self._place < live._oldest:
            return None
        until = min(live._next, self._place + _AT_ONCE)
        sent = [live._ring[place % len(live._ring)] for place in range(self._place, until)]
        self._place = until
        return [each for each in sent if each is not None]
