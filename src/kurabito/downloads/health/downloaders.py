"""Downloader health: which downloaders answer, which do not, and how many downloads wait for each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from kurabito.clock import to_datetime
from kurabito.db import Database
from kurabito.downloads.downloads import Downloads
from kurabito.downloads.states import Status
from kurabito.modules.registration import Services
from kurabito.modules.services import Service, ServiceType
from kurabito.runtime.paging import MAX_PAGE

_MISSED_POLLS: Final = 3
_COUNTED: Final = 100
# A poll waits for slow answers, and for its turn among the tasks.
_GRACE: Final = timedelta(seconds=30)


class DownloaderHealth(StrEnum):
    """Whether a downloader answers."""

    HEALTHY = "healthy"
    UNREACHABLE = "unreachable"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class PollPolicy:
    """How often downloaders are polled, and what happens when one is unreachable."""

    interval: timedelta
    elsewhere: timedelta | None
    """After how long its downloads are sent to another downloader; None for never."""


@dataclass(frozen=True, slots=True)
class Downloader:
    """A downloader, its health, and the downloads that wait for it."""

    service: Service
    health: DownloaderHealth
    waiting: int
    """How many of its downloads wait for it, as far as they were counted."""
    has_more_waiting: bool = False

    @property
    def name(self) -> str:
        return self.service.registration.service_name


class DownloaderHealths:
    """Looks at the downloaders of one database."""

    def __init__(self, database: Database, services: Services, downloads: Downloads, policy: PollPolicy) -> None:
        self._database = database
        self._downloads = downloads
        self.services = services
        self.policy = policy

    async def everyone(self) -> list[Downloader]:
        """Every downloader, the one that is asked first at the front."""
        found = await self.of(await self.services.page(limit=MAX_PAGE))
        return sorted(found, key=lambda one: (-one.service.priority, one.service.id))

    async def of(self, services: Iterable[Service]) -> list[Downloader]:
        """Those of these services that are downloaders, in their order."""
        known = [one for one in services if one.registration.service_type is ServiceType.DOWNLOADER]
        if not known:
            return []
        waiting = await asyncio.gather(
            *(
                self._downloads.page(status=Status.DOWNLOADER_ERROR, module_id=service.id, limit=_COUNTED)
                for service in known
            )
        )
        # The database's time, as it is what wrote when each was seen.
        now = to_datetime(await self._database.read(lambda conn: conn.now()))
        return [
            Downloader(
                service,
                downloader_health(service, len(waits), now=now, interval=self.policy.interval),
                len(waits),
                has_more_waiting=waits.next_cursor is not None,
            )
            for service, waits in zip(known, waiting, strict=True)
        ]


def downloader_health(service: Service, waiting: int, *, now: datetime, interval: timedelta) -> DownloaderHealth:
    """The health of a downloader: unreachable after a poll that it missed, or when it was not polled for long."""
    if not service.is_enabled:
        return DownloaderHealth.DISABLED
    silent_since = now - interval * _MISSED_POLLS - _GRACE
    is_silent = waiting > 0 or service.unreachable_since is not None or service.last_seen_at < silent_since
    return DownloaderHealth.UNREACHABLE if is_silent else DownloaderHealth.HEALTHY
