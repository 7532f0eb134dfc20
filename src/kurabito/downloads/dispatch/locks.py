"""At one downloader, an offer and a cleanup never run at the same time.

Else a download could be cancelled there in the moment in which it is wanted again.
"""

from __future__ import annotations

import asyncio


class DownloaderLocks:
    """One lock for each downloader."""

    def __init__(self) -> None:
        self._locks: dict[int, asyncio.Lock] = {}

    def at(self, module_id: int) -> asyncio.Lock:
        """To be held while something is offered there or removed, until the result is written."""
        return self._locks.setdefault(module_id, asyncio.Lock())
