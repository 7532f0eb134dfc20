"""Threads that run blocking functions for coroutines.

An executor does the same with more ceremony: handing a function over takes it as long as a short statement takes the
database, and an idle worker waits for just that.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from kurabito.errors import DatabaseUnavailable

T = TypeVar("T")

_Order = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class Threads:
    """At most `most` threads, each started when all others are busy. `begin` runs first in each."""

    def __init__(self, most: int, name: str, begin: Callable[[], object] = lambda: None) -> None:
        self._most = most
        self._name = name
        self._begin = begin
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False

    async def run(self, fn: Callable[[], T]) -> T:
        """What the function returns or raises. One whose caller stopped waiting before it began is not run."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        with self._lock:
            if self._closed:
                raise DatabaseUnavailable("the database is closed")
            if not self._idle.acquire(blocking=False) and len(self._threads) < self._most:
                self._start_another()
            self._orders.put((fn, answer, loop))
        return await answer

    def close(self) -> None:
        """Let everything that was asked for end, then the threads."""
        with self._lock:
            self._closed = True
            for _ in self._threads:
                self._orders.put(None)
        for thread in self._threads:
            thread.join()

    def _start_another(self) -> None:
        thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        self._begin()
        while (order := self._orders.get()) is not None:
            _carry_out(*order)
            # Nothing of it is kept while the thread waits.
            del order
            self._idle.release()


def _carry_out(fn: Callable[[], Any], answer: asyncio.Future[Any], loop: asyncio.AbstractEventLoop) -> None:
    if answer.cancelled():
        return
    try:
        result, problem = fn(), None
    except BaseException as raised:  # noqa: BLE001 - it belongs to the caller
        result, problem = None, raised
    try:
        loop.call_soon_threadsafe(_give, answer, result, problem)
    except RuntimeError:
        # The loop is closed, so the caller is gone. The thread serves the others.
        return


def _give(answer: asyncio.Future[Any], result: Any, problem: BaseException | None) -> None:
    if answer.done():
        return
    if problem is None:
        answer.set_result(result)
    else:
        answer.set_exception(raisable(problem))


def raisable(problem: BaseException) -> BaseException:
    """The error as a future can carry it: one that is StopIteration would never arrive, and its caller wait for ever."""
    if not isinstance(problem, StopIteration):
        return problem
    error = RuntimeError("the function raised StopIteration")
    error.__cause__ = problem
    return error
