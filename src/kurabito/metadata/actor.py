"""The actor: reads its mailbox, keeps time, and never waits for a sync."""

from __future__ import annotations

import asyncio
from typing import Final

from kurabito.clock import Clock, SystemClock
from kurabito.logs import get_logger
from kurabito.metadata.messages import Mailbox, MetadataHandle, MetadataMessage
from kurabito.metadata.runner import MetadataRunner

SYNC_INTERVAL: Final = 3600.0

_log = get_logger(__name__)


class MetadataActor:
    """Starts syncs: on request, once an hour, and at its own start, which also continues after a crash.

    actor = MetadataActor(runner)
    await actor.handle.trigger_sync()
    await actor.run()
    """

    def __init__(self, runner: MetadataRunner, *, clock: Clock | None = None, mailbox: Mailbox | None = None) -> None:
        self._runner = runner
        self._clock = clock or SystemClock()
        self._mailbox = mailbox or Mailbox()
        self.handle = MetadataHandle(self._mailbox)
        self._in_hand: list[MetadataMessage] = []
        """Messages taken out of the mailbox and not handled yet; a stop must not lose them."""

    async def run(self) -> None:
        """Run until a message says to stop, or this coroutine is cancelled."""
        self._mailbox.is_read = True
        at_work = {asyncio.create_task(self._read()), asyncio.create_task(self._keep_time())}
        asked_to_close = asyncio.create_task(self._mailbox.closing.wait())
        try:
            await asyncio.wait({asked_to_close, *at_work}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._mailbox.closing.set()
            for task in (asked_to_close, *at_work):
                task.cancel()
            await asyncio.gather(*at_work, return_exceptions=True)
            await self._runner.stop([*self._in_hand, *self._mailbox.take_all()])
            self._mailbox.is_read = False
            self._mailbox.closed.set()

    async def _read(self) -> None:
        while True:
            message = await self._mailbox.take()
            self._in_hand = [message]
            try:
                await self._runner.handle(message)
            except Exception:  # noqa: BLE001 - one message that cannot be followed must not be the last
                _log.exception("message failed", message=type(message).__name__)
            self._in_hand = []

    async def _keep_time(self) -> None:
        while True:
            try:
                await self._runner.begin_sync()
            except Exception:  # noqa: BLE001 - the database may be back in an hour
                _log.exception("sync not started")
            await self._clock.wait(asyncio.Event(), SYNC_INTERVAL)
