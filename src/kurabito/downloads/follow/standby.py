"""A second feed of a show, which is read when the first one is silent."""

from __future__ import annotations

from typing import Final

from kurabito import logs
from kurabito.clock import SECOND
from kurabito.db import Connection, Database, Queries
from kurabito.downloads.wanted.store import is_over
from kurabito.feeds.service import Subscriptions
from kurabito.runtime import Registry

log = logs.get_logger(__name__)

SILENT_DAYS: Final = 10
STAND_IN: Final = "follow.stand_in"
_EVERY: Final = 3_600.0
_SQL: Final = Queries("kurabito.downloads.follow", "standby.sql")
_DAY: Final = 24 * 3_600 * SECOND


def stand_by(conn: Connection, subscription_id: int, stands_in_for: int, silent_days: int) -> None:
    """Have a feed stand by for another one."""
    values = {"subscription_id": subscription_id, "stands_in_for": stands_in_for, "silent_days": silent_days}
    conn.run(_SQL.stand_by, values)


class StandIns:
    """Switches feeds on that stand by."""

    def __init__(self, database: Database, subscriptions: Subscriptions) -> None:
        self._database = database
        self._subscriptions = subscriptions

    def join(self, registry: Registry) -> None:
        """Look every hour."""
        registry.task(STAND_IN)(self.look)
        registry.every(_EVERY, STAND_IN, unique_key=STAND_IN)

    async def look(self) -> int:
        """Have feeds take over whose first one was silent for too long; how many did. A show that is over may be silent."""

        def silent(conn: Connection) -> list[int]:
            found = conn.all(_SQL.silent, {"day": _DAY})
            return [one for one, series_id in found if series_id is None or not is_over(conn, series_id)]

        waiting = await self._database.read(silent)
        for subscription_id in waiting:
            # Switched on first: after a crash in between it is switched on again, which changes nothing.
            await self._subscriptions.change(subscription_id, {"is_enabled": True})
            own = {"subscription_id": subscription_id}
            await self._database.write(lambda conn, own=own: conn.run(_SQL.take_over, own))  # type: ignore[misc]
            log.info("fallback feed followed", subscription=subscription_id)
        return len(waiting)
