"""Looks at the size of SQLite's log from time to time."""

from __future__ import annotations

import asyncio
from typing import Final

from kurabito.clock import Clock, SystemClock
from kurabito.logs import get_logger
from kurabito.maintenance.wal import WalMaintenance
from kurabito.rounds import Rounds

_EVERY: Final = 60.0

_log = get_logger(__name__)


class WalWatch:
    """Has the log checkpointed when it grows too large."""

    def __init__(self, maintenance: WalMaintenance, clock: Clock | None = None) -> None:
        self._maintenance = maintenance
        self._clock = clock or SystemClock()

    async def run(self) -> None:
        """Go on until cancelled."""
        never = asyncio.Event()
        rounds = Rounds("checkpoint not requested", self._clock)
        while True:
            asked = await rounds.do(self._maintenance.look_after)
            if asked is not None:
                _log.info("checkpoint requested", checkpoint=asked.id, reason=asked.reason and asked.reason.code)
            await self._clock.wait(never, _EVERY)
