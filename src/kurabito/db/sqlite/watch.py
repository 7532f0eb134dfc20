"""Notices what other processes commit to a SQLite file.

`PRAGMA data_version` costs three microseconds. It is asked often while things happen and seldom when nothing does, so that
an idle program stays idle. One commit now and then is what a heartbeat makes; two in a row are work.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from typing import Final

_BUSY_INTERVAL: Final = 0.003
_IDLE_INTERVAL: Final = 0.02
_IN_A_ROW: Final = 1.0
_BUSY_FOR_EACH: Final = 0.2
_STAYS_BUSY: Final = 5.0


async def watch(raw: sqlite3.Connection, hear: Callable[[str], None]) -> None:
    """Call `hear` after each commit of another connection, until this coroutine is cancelled."""
    try:
        seen: int | None = None
        changed_at = busy_until = 0.0
        while True:
            version = _version(raw)
            now = time.monotonic()
            if version is not None and version != seen:
                if seen is not None:
                    hear("")
                seen = version
                if now - changed_at < _IN_A_ROW:
                    busy_until = min(max(busy_until, now) + _BUSY_FOR_EACH, now + _STAYS_BUSY)
                changed_at = now
            await asyncio.sleep(_BUSY_INTERVAL if now < busy_until else _IDLE_INTERVAL)
    finally:
        raw.close()


def _version(raw: sqlite3.Connection) -> int | None:
    try:
        (version,) = raw.execute("PRAGMA data_version").fetchone()
    except sqlite3.Error:
        # Another process recovers the file at this moment, or puts a whole one in the place of a damaged one; the next look will
        # tell. Without looks nothing would be heard any more, and nothing would say so.
        return None
    return int(version)
