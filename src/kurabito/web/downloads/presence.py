"""How the downloaders are: who answers, who does not and since when, and what becomes of what they have."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from kurabito.clock import to_datetime
from kurabito.db import Database
from kurabito.downloads.downloads import Downloads
from kurabito.downloads.states import Status
from kurabito.modules.registering import Services
from kurabito.modules.services import Service, ServiceType
from kurabito.runtime.paging import MAX_PAGE

_MISSED_POLLS: Final = 3
_COUNTED: Final = 100
# A poll waits for slow answers, and for its turn among the tasks.
_GRACE: Final = timedelta(seconds=30)


class DownloaderHealth(StrEnum):
    """The value is the message's key below `presence`."""

    WELL = "well"
    AWAY = "away"
    OFF = "off"

    @property
    def tone(self) -> str:
        """The state of a task that looks like it."""
        return {DownloaderHealth.WELL: "succeeded", DownloaderHealth.AWAY: "dead", DownloaderHealth.OFF: "cancelled"}[
            self
        ]


@dataclass(frozen=True, slots=True)
class Habits:
    """How downloaders are asked, and what happens when one is away."""

    interval: timedelta
    elsewhere: timedelta | None
    """After how long its downloads are sent to another one by themselves."""


@dataclass(frozen=True, slots=True)
class Downloader:
    """A downloader, and how it is."""

    service: Service
    presence: DownloaderHealth
    waiting: int
    """How many of its downloads wait for it, as far as they were counted."""
    has_more_waiting: bool = False

    @property
    def name(self) -> str:
        return self.service.registration.service_name


class DownloaderHealths:
    """Looks at all of them."""

    def __init__(self, database: Database, services: Services, downloads: Downloads, habits: Habits) -> None:
        self._database = database
        self.services = services
        self.habits = habits
        self._downloads = downloads

    async def everyone(self) -> list[Downloader]:
        """Every downloader, the one that is asked first at the front."""
        known = [
            service
            for service in await self.services.page(limit=MAX_PAGE)
            if service.registration.service_type is ServiceType.DOWNLOADER
        ]
        known.sort(key=lambda service: (-service.priority, service.id))
        waiting = await asyncio.gather(*(self._waiting(service) for service in known))
        # The database's time, as it is what wrote when each was seen.
        now = await self._database.read(lambda conn: conn.now())
        return self._seen(known, waiting, to_datetime(now))

    async def _waiting(self, service: Service) -> int:
        found = await self._downloads.page(status=Status.DOWNLOADER_ERROR, module_id=service.id, limit=_COUNTED + 1)
        return len(found)

    def _seen(self, known: Sequence[Service], waiting: Sequence[int], now: datetime) -> list[Downloader]:
        silent = now - self.habits.interval * _MISSED_POLLS - _GRACE
        return [
            Downloader(
                service,
                _presence(service, waits > 0 or service.last_seen_at < silent),
                min(waits, _COUNTED),
                has_more_waiting=waits > _COUNTED,
            )
            for service, waits in zip(known, waiting, strict=True)
        ]


def _presence(service: Service, is_away: bool) -> DownloaderHealth:
    if not service.is_enabled:
        return DownloaderHealth.OFF
    return DownloaderHealth.AWAY if is_away else DownloaderHealth.WELL
