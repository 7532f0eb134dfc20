"""Who offers something to a downloader, and who takes something away from it, do so one after the other.

Else a download could be cancelled there in the moment in which it is wanted again.
"""

from __future__ import annotations

import asyncio


class DownloaderLocks:
    """One turn at a time at each downloader."""

    def __init__(self) -> None:
        self._locks: dict[int, asyncio.Lock] = {}

    def at(self, module_id: int) -> asyncio.Lock:
        """To be held while something is offered there or taken away, and what came of it is written."""
        return self._locks.setdefault(module_id, asyncio.Lock())
