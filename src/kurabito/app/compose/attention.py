"""What each part of the product adds to the list of attention.

How a part is, it decides itself; here is only said what a person should hear of, and what helps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final

from kurabito.app.compose.attention_sources import (
    changed_schema,
    failed_and_stalled,
    failing_destinations,
    full_disks,
    sources_and_index,
)
from kurabito.app.compose.library import LibraryParts
from kurabito.app.product import Product
from kurabito.attention import (
    ActionId,
    Attention,
    AttentionAction,
    AttentionCode,
    AttentionItem,
    AttentionPart,
    AttentionSource,
    Fact,
    Severity,
)
from kurabito.downloads.conflicts import Conflicts
from kurabito.downloads.health.downloaders import DownloaderHealth, DownloaderHealths
from kurabito.feeds.health import FeedHealth, feed_health
from kurabito.feeds.service import Subscriptions
from kurabito.feeds.subscriptions import Subscription
from kurabito.http.errors import HostNotAllowed
from kurabito.indexers.service import Indexers, failing
from kurabito.library.service import LibrarySummary
from kurabito.library.status import LibraryReport, LibraryReports, LibraryStatus
from kurabito.placements.filing.service import Placements
from kurabito.protocol.planes import Planes
from kurabito.runtime.paging import MAX_PAGE
from kurabito.settings import Settings

VITAL: Final = (AttentionPart.PROCESS, AttentionPart.DISK)
"""What this process cannot work without. How others are, such as feeds, makes it no less able to work."""
_COUNTED: Final = 100


def open_attention(
    settings: Settings,
    product: Product,
    troubles: Callable[[], Mapping[str, str]] = dict,
    *,
    is_starting: Callable[[], bool] = bool,
) -> Attention:
    """The list over the parts of the product; `troubles` are the parts of this process that do not work.

    While it is starting, its data plane is on its way, and not missing.
    """
    return Attention(
        {
            AttentionPart.PROCESS: _process(troubles),
            AttentionPart.DISK: full_disks(settings, product.library.libraries),
            AttentionPart.DOWNLOADERS: _downloaders(product.downloaders),
            AttentionPart.DOWNLOADS: failed_and_stalled(product.downloads.downloads),
            AttentionPart.FEEDS: _feeds(product.feeds.subscriptions),
            AttentionPart.LIBRARIES: _libraries(product.library, product.planes, is_starting),
            AttentionPart.INDEXERS: _indexers(product.feeds.indexers),
            AttentionPart.METADATA: sources_and_index(
                product.metadata.sources, product.metadata.matches.count_open, product.catalog_summaries.has_shows
            ),
            AttentionPart.MATCHES: _open(
                product.metadata.matches.count_open, AttentionCode.MATCHES_OPEN, ActionId.OPEN_MATCHES
            ),
            AttentionPart.CONFLICTS: _conflicts(product.downloads.conflicts),
            AttentionPart.OFFSETS: _open(
                product.catalog.count_missing_offsets, AttentionCode.OFFSETS_MISSING, ActionId.OPEN_QUESTIONS
            ),
            AttentionPart.RELINKS: _open(
                product.relinker.count_waiting, AttentionCode.RELINKS_WAITING, ActionId.CONFIRM_RELINKS
            ),
            AttentionPart.WANTED: _open(product.wanted.count_asking, AttentionCode.RELEASES_ASK, ActionId.OPEN_WANTED),
            AttentionPart.SCHEMA: changed_schema(product.database),
            AttentionPart.NOTIFICATIONS: failing_destinations(product.notifications),
            AttentionPart.PLACEMENTS: _placements(product.placements),
            AttentionPart.QUESTIONS: _open(
                product.questions.count_open, AttentionCode.QUESTIONS_OPEN, ActionId.OPEN_QUESTIONS
            ),
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


def _downloaders(healths: DownloaderHealths) -> AttentionSource:
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
                action=AttentionAction(ActionId.ASK_DOWNLOADERS, one.service.id),
            )
            for one in await healths.everyone()
            if one.health is DownloaderHealth.UNREACHABLE
        ]

    return look


def _feeds(subscriptions: Subscriptions) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        found: list[AttentionItem] = []
        cursor = None
        while True:
            page = await subscriptions.page(limit=MAX_PAGE, cursor=cursor)
            found += [_failing(one) for one in page if feed_health(one) is FeedHealth.FAILING]
            if (cursor := page.next_cursor) is None:
                return found

    return look


def _failing(subscription: Subscription) -> AttentionItem:
    health = subscription.health
    is_closed = health.error_code == HostNotAllowed.code and not subscription.settings.allows_private
    return AttentionItem(
        code=AttentionCode.FEED_FAILING,
        severity=Severity.WARNING,
        facts={
            "id": subscription.id,
            "name": subscription.settings.name,
            "failures": health.failures,
            "error_code": health.error_code,
        },
        since=health.last_success_at,
        action=AttentionAction(ActionId.ALLOW_HOST if is_closed else ActionId.FETCH_FEED, subscription.id),
    )


def _libraries(library: LibraryParts, planes: Planes, is_starting: Callable[[], bool]) -> AttentionSource:
    reports = LibraryReports(library.libraries, library.removal, library.scans, library.jobs, planes)

    async def look() -> Sequence[AttentionItem]:
        summaries: list[LibrarySummary] = []
        cursor = None
        while True:
            page = await library.libraries.list(limit=MAX_PAGE, cursor=cursor)
            summaries += page
            if (cursor := page.next_cursor) is None:
                break
        if not summaries:
            return []
        missing = () if is_starting() else _plane(await planes.living())
        return [*missing, *_scans(await reports.of(summaries))]

    return look


def _plane(living: Sequence[object]) -> Iterator[AttentionItem]:
    if not living:
        yield AttentionItem(
            code=AttentionCode.DATA_PLANE_MISSING,
            severity=Severity.WARNING,
            action=AttentionAction(ActionId.START_DATA_PLANE),
        )


_OF_STATUS: Final = {
    LibraryStatus.REMOVAL_STOPPED: (AttentionCode.REMOVAL_STOPPED, ActionId.REMOVE_LIBRARY),
    LibraryStatus.FAILED: (AttentionCode.SCAN_FAILED, ActionId.SCAN_LIBRARY),
    LibraryStatus.INCOMPLETE: (AttentionCode.SCAN_INCOMPLETE, ActionId.SCAN_LIBRARY),
}


def _scans(reports: Sequence[LibraryReport]) -> Iterator[AttentionItem]:
    for report in reports:
        if (found := _OF_STATUS.get(report.status)) is None:
            continue
        code, action = found
        library, last = report.summary.library, report.last
        facts: dict[str, Fact] = {
            "id": library.id,
            "name": library.settings.name,
            "error_code": last.error_code if last else None,
        }
        yield AttentionItem(
            code=code,
            severity=Severity.WARNING,
            facts=facts,
            since=library.removing_since or (last.ended_at if last else None),
            action=AttentionAction(action, library.id),
        )


def _indexers(indexers: Indexers) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        return [
            AttentionItem(
                code=AttentionCode.INDEXER_FAILING,
                severity=Severity.WARNING,
                facts={
                    "id": one.id,
                    "name": one.settings.name,
                    "failures": one.status.failures,
                    "error_code": one.status.error_code,
                },
                since=one.status.last_success_at,
                action=AttentionAction(ActionId.TEST_INDEXER, one.id),
            )
            for one in failing(await indexers.everything())
        ]

    return look


def _open(count_open: Callable[[], Awaitable[int]], code: AttentionCode, action: ActionId) -> AttentionSource:
    """What waits for a decision of its keeper, counted."""

    async def look() -> Sequence[AttentionItem]:
        count = await count_open()
        if not count:
            return []
        facts = {"count": count}
        return [AttentionItem(code=code, severity=Severity.NOTICE, facts=facts, action=AttentionAction(action))]

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


_OF_FILING: Final = {
    AttentionCode.PLACEMENTS_FAILED: ActionId.RETRY_FILING,
    AttentionCode.FILING_WAITS: ActionId.RETRY_FILING,
    AttentionCode.FILES_UNCLEAR: ActionId.OPEN_QUESTIONS,
}


def _placements(placements: Placements) -> AttentionSource:
    async def look() -> Sequence[AttentionItem]:
        failed, unclear = await placements.count_waiting(_COUNTED + 1)
        counts = {
            AttentionCode.PLACEMENTS_FAILED: failed,
            AttentionCode.FILING_WAITS: await placements.count_held_up(_COUNTED + 1),
            AttentionCode.FILES_UNCLEAR: unclear,
        }
        return [
            AttentionItem(
                code=code,
                severity=Severity.NOTICE,
                facts={"count": min(count, _COUNTED), "has_more": count > _COUNTED},
                action=AttentionAction(_OF_FILING[code]),
            )
            for code, count in counts.items()
            if count
        ]

    return look
