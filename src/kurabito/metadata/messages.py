"""The messages of the actor, and its mailbox."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kurabito.metadata.errors import MetadataStopped

MAILBOX_CAPACITY: Final = 64


@dataclass(frozen=True, slots=True)
class DownloadPoster:
    """Give a record the poster that is at this URL."""

    metadata_id: int
    url: str


@dataclass(frozen=True, slots=True)
class DownloadPosterBatch:
    """The same for many records."""

    tasks: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class TriggerSync:
    """Look through all records for what is missing, now."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Stop, in good order."""


MetadataMessage = DownloadPoster | DownloadPosterBatch | TriggerSync | Shutdown


class Mailbox:
    """Holds a limited number of messages; a post to a full mailbox waits. Shutdown overtakes all others."""

    def __init__(self, capacity: int = MAILBOX_CAPACITY) -> None:
        self._waiting: asyncio.Queue[MetadataMessage] = asyncio.Queue(capacity)
        self.is_read = False
        self.closing = asyncio.Event()
        self.closed = asyncio.Event()
        """The actor has stopped, and no work is left."""

    async def post(self, message: MetadataMessage) -> None:
        """Put a message in, when there is room; raises MetadataStopped once it will not be read."""
        if isinstance(message, Shutdown):
            self.closing.set()
            return
        if self.closing.is_set() or not await self._put(message):
            raise MetadataStopped("metadata is no longer filled in: Kurabito is stopping; ask again once it runs")

    async def take(self) -> MetadataMessage:
        """The message that waited longest."""
        return await self._waiting.get()

    def take_all(self) -> list[MetadataMessage]:
        """Everything that still waits."""
        return [self._waiting.get_nowait() for _ in range(self._waiting.qsize())]

    async def _put(self, message: MetadataMessage) -> bool:
        """Wait for room; false when it is closed before there was any."""
        posting = asyncio.ensure_future(self._waiting.put(message))
        closing = asyncio.ensure_future(self.closing.wait())
        try:
            await asyncio.wait({posting, closing}, return_when=asyncio.FIRST_COMPLETED)
            return posting.done()
        finally:
            closing.cancel()
            posting.cancel()


class MetadataHandle:
    """The one way to the actor from outside."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox

    async def download(self, metadata_id: int, url: str) -> None:
        """Have a poster fetched for a record."""
        await self._mailbox.post(DownloadPoster(metadata_id, url))

    async def download_batch(self, tasks: Sequence[tuple[int, str]]) -> None:
        """Have posters fetched for many records."""
        await self._mailbox.post(DownloadPosterBatch(tuple(tasks)))

    async def trigger_sync(self) -> None:
        """Have all records looked through."""
        await self._mailbox.post(TriggerSync())

    async def shutdown(self) -> None:
        """Have the actor stop, and wait until it has."""
        await self._mailbox.post(Shutdown())
        if self._mailbox.is_read:
            await self._mailbox.closed.wait()

    def is_running(self) -> bool:
        """Whether the actor reads the messages."""
        return self._mailbox.is_read and not self._mailbox.closing.is_set()
