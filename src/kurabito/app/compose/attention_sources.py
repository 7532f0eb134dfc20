"""What disks, downloads, metadata, notifications and the database add to the list of attention."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from kurabito.app.compose.downloads import download_root
from kurabito.app.database import unknown_migrations
from kurabito.attention import (
    ActionId,
    AttentionAction,
    AttentionCode,
    AttentionItem,
    AttentionSource,
    Severity,
)
from kurabito.contact import ContactHealth
from kurabito.db import Database
from kurabito.downloads.downloads import Downloads
from kurabito.downloads.states import Status
from kurabito.library.service import LibraryService
from kurabito.maintenance.disk_space import DiskReport, disk_space
from kurabito.metadata.health import MetadataSource, SourceHealth, SourceHealths, SourceState
from kurabito.notifications.service import Notifications
from kurabito.settings import Settings

_COUNTED: Final = 100
_DISKS_KNOWN_FOR: Final = 3.0


def full_disks(settings: Settings, libraries: LibraryService) -> AttentionSource:
    """Disks of ours and of libraries that are nearly full."""
    # Those of libraries may be shares that do not answer, so they are looked at as *Home* does.
    report = DiskReport(known_for=_DISKS_KNOWN_FOR)

    async def look() -> Sequence[AttentionItem]:
        own = dict.fromkeys((settings.state, download_root(settings)))
        found = await asyncio.gather(*(asyncio.to_thread(disk_space, folder) for folder in own))
        known = {(space.free, space.total) for space in found}
        others = await report.look(library.path for library in (await libraries.by_id()).values())
        found += [space for space in others if (space.free, space.total) not in known]
        return [
            AttentionItem(
                code=AttentionCode.DISK_FULL,
                severity=space.severity,
                facts={"folder": str(space.folder), "free": space.free},
                action=AttentionAction(ActionId.FREE_SPACE, str(space.folder)),
            )
            for space in found
            if space.severity is not Severity.OK
        ]

    return look


def failed_and_stalled(downloads: Downloads) -> AttentionSource:
    """Downloads that failed or stand still."""

    async def look() -> Sequence[AttentionItem]:
        running = await downloads.page(status=Status.DOWNLOADING, limit=_COUNTED)
        counts = {
            AttentionCode.DOWNLOADS_FAILED: (await downloads.count_failed(_COUNTED), ActionId.RETRY_DOWNLOADS),
            AttentionCode.DOWNLOADS_STALLED: (sum(is_stalled for _, is_stalled in running), ActionId.OPEN_DOWNLOADS),
        }
        return [
            AttentionItem(
                code=code,
                severity=Severity.WARNING,
                facts={"count": count},
                action=AttentionAction(action),
            )
            for code, (count, action) in counts.items()
            if count
        ]

    return look


def changed_schema(database: Database) -> AttentionSource:
    """A database that a newer version has updated while this one runs."""

    async def look() -> Sequence[AttentionItem]:
        found = await asyncio.to_thread(unknown_migrations, database)
        if not found:
            return []
        facts = {"name": found[-1]}
        action = AttentionAction(ActionId.RESTART)
        return [AttentionItem(code=AttentionCode.SCHEMA_CHANGED, severity=Severity.WARNING, facts=facts, action=action)]

    return look


def sources_and_index(
    sources: SourceHealths, count_open: Callable[[], Awaitable[int]], has_shows: Callable[[], Awaitable[bool]]
) -> AttentionSource:
    """Sources of metadata that fail, and an index or a key that is missing while it would help."""

    async def look() -> Sequence[AttentionItem]:
        found = await sources.all()
        failing = [_failing(health) for health in found.values() if health.state is SourceState.FAILING]
        missing, waiting = [], await count_open()
        if found[MetadataSource.INDEX].state is SourceState.OFF and waiting:
            missing.append((AttentionCode.INDEX_MISSING, ActionId.FETCH_INDEX))
        # Folders of western shows and films have no other source.
        if found[MetadataSource.TMDB].state is SourceState.OFF and (waiting or await has_shows()):
            missing.append((AttentionCode.KEY_MISSING, ActionId.ENTER_KEY))
        return [
            *failing,
            *(
                AttentionItem(code=code, severity=Severity.NOTICE, action=AttentionAction(action))
                for code, action in missing
            ),
        ]

    return look


def failing_destinations(notifications: Notifications) -> AttentionSource:
    """Destinations of notifications that do not take messages."""

    async def look() -> Sequence[AttentionItem]:
        return [
            AttentionItem(
                code=AttentionCode.NOTIFICATIONS_FAILING,
                severity=Severity.WARNING,
                facts={"id": one.id, "name": one.settings.name, "failures": one.status.failures},
                since=one.status.last_success_at,
                action=AttentionAction(ActionId.TEST_DESTINATION, one.id),
            )
            for one in await notifications.everything()
            if one.health is ContactHealth.FAILING
        ]

    return look


def _failing(health: SourceHealth) -> AttentionItem:
    return AttentionItem(
        code=AttentionCode.METADATA_SOURCE_FAILING,
        severity=Severity.WARNING,
        facts={"source": health.source, "failure": health.failure, "held_back": health.held_back},
        since=health.last_success_at,
        action=AttentionAction(
            ActionId.FETCH_INDEX if health.source is MetadataSource.INDEX else ActionId.SYNC_METADATA, health.source
        ),
    )
