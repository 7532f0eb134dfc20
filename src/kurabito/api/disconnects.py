"""Noticing that a client has left while it is still being served."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.types import Receive


@asynccontextmanager
async def watched(receive: Receive, on_leaving: Callable[[], object]) -> AsyncIterator[Callable[[], bool]]:
    """Call `on_leaving` when the client leaves while the block runs; gives a function that says whether it has.

    The request's body must have been read before.
    """

    async def until_gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        on_leaving()

    watching = asyncio.create_task(until_gone())
    try:
        yield watching.done
    finally:
        watching.cancel()
        await asyncio.wait({watching})
