"""Writes the findings of a sync in batches: one transaction each would cost more than finding them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from kurabito.clock import SECOND, Clock
from kurabito.db import Connection, Database
from kurabito.errors import DatabaseUnavailable
from kurabito.logs import get_logger

Finding = Callable[[Connection], object]

_AT_ONCE: Final = 20
_SOON: Final = SECOND // 2

_log = get_logger(__name__)


class WriteBatch:
    """Collects findings and writes them in their order. A crash loses the last few, which the next sync finds again."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._noted: list[Finding] = []
        self._written_at = 0
        self._turn = asyncio.Lock()

    async def note(self, finding: Finding) -> None:
        """Have a finding written: now if the last time is a while ago or enough came together, else with the next ones."""
        self._noted.append(finding)
        if len(self._noted) >= _AT_ONCE or self._clock.now() - self._written_at >= _SOON:
            await self.write()

    async def write(self) -> None:
        """Write what was noted so far."""
        async with self._turn:
            noted, self._noted = self._noted, []
            self._written_at = self._clock.now()
            if noted:
                await self._write(noted)

    async def _write(self, noted: Sequence[Finding]) -> None:
        try:
            await self._database.write(lambda conn: [finding(conn) for finding in noted])
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one record must not stop the others
            if len(noted) == 1:
                _log.error("finding not written", exc_info=error)
                return
            # One that cannot be written must not take the others with it.
            for finding in noted:
                await self._write([finding])
