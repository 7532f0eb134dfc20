"""Work that several want at the same time is done once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Callers that ask for the same work wait for one run of it, and share its result."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Future[T]] = {}

    async def do(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """The outcome of `work`, or of the one under way for the same key."""
        while (first := self._under_way.get(key)) is not None:
            await asyncio.wait({first})
            if not first.cancelled():
                return first.result()
        outcome = self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            result = await work()
            outcome.set_result(result)
        except Exception as error:
            outcome.set_exception(error)
            # Retrieved here: there may be no other caller that waits for it.
            outcome.exception()
            raise
        finally:
            # One that was cancelled says nothing: the next who waits begins again.
            outcome.cancel()
            del self._under_way[key]
        return result
