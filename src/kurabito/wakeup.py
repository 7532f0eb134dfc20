"""A bell that any thread may ring and any coroutine may wait for.

It carries no data: a listener reads the database, which is the only truth. Several rings before the listener looks
count as one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager


class Bell:
    """Wakes every listener, from whatever thread it is rung."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[int, tuple[asyncio.AbstractEventLoop, Callable[[], object]]] = {}
        self._next = 0

    def ring(self, but: Collection[Callable[[], object]] = ()) -> None:
        """Wake the listeners but these; safe in any thread, and in none of their way."""
        if not self._listeners:
            return
        with self._lock:
            listeners = list(self._listeners.values())
        here = _running_loop()
        for loop, hear in listeners:
            if hear in but:
                continue
            if loop is here:
                hear()
            elif not loop.is_closed():
                loop.call_soon_threadsafe(hear)

    @contextmanager
    def listen(self, hear: Callable[[], object]) -> Iterator[None]:
        """Call `hear` on this coroutine's loop at each ring, while the block runs. It must be quick and not raise."""
        with self._lock:
            key, self._next = self._next, self._next + 1
            self._listeners[key] = (asyncio.get_running_loop(), hear)
        try:
            yield
        finally:
            with self._lock:
                del self._listeners[key]


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
