"""What each part of the product adds to the list of attention.

How a part is, it decides itself; here is only said what a person should hear of, and what helps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from kurabito.app.compose.downloads import DownloadParts, download_root
from kurabito.app.compose.feeds import FeedParts
from kurabito.app.compose.library import LibraryParts
from kurabito.app.product import Product
from kurabito.attention import (
    ActionId,
    Attention,
    AttentionAction,
    AttentionCode,
    AttentionItem,
    AttentionSource,
    Fact,
    Severity,
)
from kurabito.catalog.matching.service import Matches
from kurabito.downloads.conflicts import Conflicts
from kurabito.feeds.subscriptions import Subscription
from kurabito.library.service import LibrarySummary
from kurabito.maintenance.disk_space import disk_space
from kurabito.protocol.enums import JobStatus
from kurabito.protocol.planes import Planes
from kurabito.runtime.paging import MAX_PAGE
from kurabito.settings import Settings
from kurabito.web.downloads.presence import DownloaderHealth, DownloaderHealths, Habits
from kurabito.web.following.condition import Condition, condition_of
from kurabito.web.library.standing import LibraryStatus, Standings

_COUNTED: Final = 100


def open_attention(settings: Settings, parts: Product, troubles: Callable[[], Mapping[str, str]] = dict) -> Attention:
    """The list over the parts of the product; `troubles` are the parts of this process that do not work."""
    return Attention(
        {
            "process": _process(troubles),
            "disk": _disk(settings),
            "downloaders": _downloaders(settings, parts.downloading, parts.following, parts),
            "feeds": _feeds(parts.following),
            "libraries": _libraries(parts.shelves, parts.planes),
            "matches": _matches(parts.about.matches),
            "conflicts": _conflicts(parts.downloading.conflicts),
        }
    )


def _process(troubles: Callable[[], Mapping[str, str]]) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        return [
            AttentionItem(
                code=AttentionCode.PART_FAILED,
                severity=Severity.BROKEN,
                facts={"part": part, "why": why},
                action=AttentionAction(ActionId.READ_LOG),
            )
            for part, why in sorted(troubles().items())
        ]

    return look


def _disk(settings: Settings) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        folders = dict.fromkeys((settings.state, download_root(settings)))
        found = await asyncio.gather(*(asyncio.to_thread(disk_space, folder) for folder in folders))
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


def _downloaders(
    settings: Settings, downloading: DownloadParts, following: FeedParts, parts: Product
) -> AttentionSource:
    habits = Habits(timedelta(seconds=settings.download_poll_interval), None)
    healths = DownloaderHealths(parts.database, following.services, downloading.downloads, habits)

    async def look() -> Sequence[AttentionItem]:
        return [
            AttentionItem(
                code=AttentionCode.DOWNLOADER_UNREACHABLE,
                severity=Severity.WARNING,
                facts={
                    "id": one.service.id,
                    "name": one.name,
                    "waiting": one.waiting,
                    "has_more": one.has_more_waiting,
                },
                since=one.service.last_seen_at,
                action=AttentionAction(ActionId.OPEN_DOWNLOADER, one.service.id),
            )
            for one in await healths.everyone()
            if one.presence is DownloaderHealth.AWAY
        ]

    return look


def _feeds(following: FeedParts) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        found: list[AttentionItem] = []
        after = 0
        while page := await following.subscriptions.page(after=after, limit=MAX_PAGE):
            found += [_failing(one) for one in page if condition_of(one) is Condition.FAILING]
            after = page[-1].id
        return found

    return look


def _failing(subscription: Subscription) -> AttentionItem:
    health = subscription.health
    return AttentionItem(
        code=AttentionCode.FEED_FAILING,
        severity=Severity.WARNING,
        facts={
            "id": subscription.id,
            "name": subscription.wishes.name,
            "failures": health.failures,
            "error_code": health.error_code,
        },
        since=health.last_success_at,
        action=AttentionAction(ActionId.OPEN_SUBSCRIPTION, subscription.id),
    )


def _libraries(shelves: LibraryParts, planes: Planes) -> AttentionSource:
    standings = Standings(shelves.libraries, shelves.removal, shelves.scans, shelves.jobs, planes)

    async def look() -> Sequence[AttentionItem]:
        summaries: list[LibrarySummary] = []
        cursor = None
        while True:
            page = await shelves.libraries.list(limit=MAX_PAGE, cursor=cursor)
            summaries += page
            if (cursor := page.next_cursor) is None:
                break
        if not summaries:
            return []
        return [*_plane(await planes.living()), *_scans(await standings.of(summaries))]

    return look


def _plane(living: Sequence[object]) -> Iterator[AttentionItem]:
    if not living:
        yield AttentionItem(
            code=AttentionCode.DATA_PLANE_MISSING,
            severity=Severity.WARNING,
            action=AttentionAction(ActionId.START_DATA_PLANE),
        )


def _scans(statuses: Sequence[LibraryStatus]) -> Iterator[AttentionItem]:
    for status in statuses:
        library, last = status.kept.library, status.last
        facts: dict[str, Fact] = {
            "id": library.id,
            "name": library.care.name,
            "error_code": last.error_code if last else None,
        }
        if status.is_leaving:
            if status.removal is None:
                yield AttentionItem(
                    code=AttentionCode.REMOVAL_STOPPED,
                    severity=Severity.WARNING,
                    facts=facts,
                    since=library.removing_since,
                    action=AttentionAction(ActionId.REMOVE_LIBRARY, library.id),
                )
        elif status.scan is None and last is not None and (last.status is JobStatus.FAILED or last.error_code):
            has_failed = last.status is JobStatus.FAILED
            yield AttentionItem(
                code=AttentionCode.SCAN_FAILED if has_failed else AttentionCode.SCAN_INCOMPLETE,
                severity=Severity.WARNING,
                facts=facts,
                since=last.ended_at,
                action=AttentionAction(ActionId.SCAN_LIBRARY, library.id),
            )


def _matches(matches: Matches) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        count = await matches.count_open()
        if not count:
            return []
        return [
            AttentionItem(
                code=AttentionCode.MATCHES_OPEN,
                severity=Severity.NOTICE,
                facts={"count": count},
                action=AttentionAction(ActionId.OPEN_MATCHES),
            )
        ]

    return look


def _conflicts(conflicts: Conflicts) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        found = await conflicts.page(limit=_COUNTED + 1)
        if not found:
            return []
        return [
            AttentionItem(
                code=AttentionCode.CONFLICTS_OPEN,
                severity=Severity.NOTICE,
                facts={"count": min(len(found), _COUNTED), "has_more": len(found) > _COUNTED},
                action=AttentionAction(ActionId.OPEN_CONFLICTS),
            )
        ]

    return look
