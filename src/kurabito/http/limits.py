"""How much time and space one request may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from kurabito.clock import Clock
from kurabito.errors import InvalidInput
from kurabito.http.retries import PASSING

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request may cost. The defaults suit feeds and JSON; a caller who knows better gives its own."""

    seconds: float = 30.0
    """For one attempt with its redirects, from the moment it is its turn."""
    connect_seconds: float = 10.0
    """For finding the host, connecting and agreeing on TLS."""
    idle_seconds: float = 20.0
    """For the next bytes to come."""
    max_bytes: int = 16 * 1024 * 1024
    """Of the answer, as it was sent and as it was unpacked."""
    refusal_bytes: int = 0
    """Bytes to read of an error response, so that the caller learns the reason; 0 reads none of it."""
    redirects: int = 5
    attempts: int = 3
    passing: frozenset[int] = PASSING
    """Answers that another attempt may change; some hosts say 500 and mean the moment."""
    patience: float = 60.0
    """The longest wait for another attempt; a host that asks for more is left to the caller."""

    def __post_init__(self) -> None:
        for name in ("seconds", "connect_seconds", "idle_seconds", "max_bytes", "attempts"):
            if not getattr(self, name) > 0:
                raise InvalidInput(name, f"must be more than 0, got {getattr(self, name)!r}")


async def within(
    clock: Clock,
    seconds: float,
    work: Coroutine[Any, Any, T],
    *,
    discard: Callable[[T], Awaitable[object]] | None = None,
) -> T:
    """The outcome of `work`, or TimeoutError after `seconds` of the clock.

    `discard` gets an outcome that came in the moment when the caller was cancelled or the time was up: it would be lost, and
    with it a connection that is never closed.
    """
    done = asyncio.Event()

    def settled(task: asyncio.Future[T]) -> None:
        # Retrieved here: when the time was up first, no other code does.
        if not task.cancelled():
            task.exception()
        done.set()

    task = asyncio.ensure_future(work)
    task.add_done_callback(settled)
    try:
        if not await clock.wait(done, seconds):
            raise TimeoutError
    except BaseException:
        # What it holds (a connection, a file) is given back before the caller continues.
        task.cancel()
        await asyncio.wait({task})
        if discard is not None and not task.cancelled() and task.exception() is None:
            await discard(task.result())
        raise
    return task.result()
