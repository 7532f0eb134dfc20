"""What brings tasks and jobs together is asked how it is: it ends, or fails again and again, unseen by those who ask for scans."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from kurabito.library.scans.queue import ScanQueueService

if TYPE_CHECKING:
    from kurabito.library.loop import Reconciler
    from kurabito.runtime.delegation import DelegatedTasks


class Quiet:
    """A queue of which nothing is asked."""

    def delegate(self, _types: object) -> None:
        """Leave those to others."""


class Ending:
    """A loop that ends when it is told to."""

    def __init__(self) -> None:
        self.trouble: str | None = None
        self.end = asyncio.Event()

    async def run(self) -> None:
        await self.end.wait()


async def test_a_loop_that_ended_or_fails_is_a_trouble() -> None:
    loop = Ending()
    scans = ScanQueueService(cast("DelegatedTasks", Quiet()), cast("Reconciler", loop))
    assert scans.trouble is None
    loop.trouble = "the database is away"
    assert scans.trouble == "the database is away"
    loop.end.set()
    async with asyncio.timeout(10):
        while scans.trouble == "the database is away":
            await asyncio.sleep(0)
    assert scans.trouble == "what brings tasks and jobs together has ended"
    await scans.shutdown()


async def test_a_process_that_only_asks_has_no_such_trouble() -> None:
    assert ScanQueueService(cast("DelegatedTasks", Quiet())).trouble is None
