"""Retention: deletes what has expired, as a task like any other."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kurabito.access import Sessions
from kurabito.maintenance.backups import forget_old
from kurabito.runtime import Queue, Registry

TIDY: Final = "maintenance.tidy"
_EVERY: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Tidied:
    """How much was deleted."""

    tasks: int
    sessions: int
    backups: int


class Retention:
    """Deletes finished tasks, sessions and login links that are over, and all but the youngest backups."""

    def __init__(self, queue: Queue, sessions: Sessions, backups: Path) -> None:
        self._queue = queue
        self._sessions = sessions
        self._backups = backups

    def join(self, registry: Registry) -> None:
        """Have it done every hour."""
        registry.task(TIDY)(self.tidy)
        # Where one still waits, another would find nothing to do.
        registry.every(_EVERY, TIDY, unique_key=TIDY)

    async def tidy(self) -> Tidied:
        """Do it now. Each step is safe to do twice."""
        return Tidied(
            tasks=await self._queue.purge(),
            sessions=await self._sessions.forget_expired(),
            backups=await asyncio.to_thread(forget_old, self._backups),
        )
