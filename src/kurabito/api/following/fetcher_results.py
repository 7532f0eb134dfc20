"""Where fetchers bring what they read from feeds."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, WithJsonSchema

from kurabito.api.bodies import WHOLE, StrictBody
from kurabito.api.callers import Speaking, check_sender
from kurabito.feeds.results import FeedItem, FetcherResults, Intake, Receipt
from kurabito.feeds.service import Subscriptions
from kurabito.modules.identities import Caller
from kurabito.modules.registration import Services
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

PATHS: Final = ("/fetcher-results", "/raw-fetcher-results")
LARGEST_BODY: Final = 16 << 20
_MOST_ITEMS: Final = 10_000
_ITEM: Final = {
    "title": "Item",
    "description": "One item of a feed. Nothing about it is refused: one that cannot be used is kept as failed, with the reason, "
    "and the others are taken in.",
    "properties": {
        "title": {"description": "the release's title"},
        "description": {"description": "what the feed says besides"},
        "download_url": {"description": "a magnet link, or the URL of a torrent or a file"},
        "pub_date": {"description": "ISO 8601 or RFC 2822; UTC when it names no zone"},
        "guid": {"description": "what the feed tells its items apart by; without one it is the URL"},
        "size_bytes": {"description": "how large the download is"},
        "info_hash": {"description": "the torrent's info hash, if the feed gives it"},
    },
    "examples": [
        {
            "title": "[Kura] Yoru no Kurabito - 07 [1080p]",
            "description": None,
            "download_url": "https://feeds.example/7.torrent",
            "pub_date": "2026-01-02T03:04:05Z",
        }
    ],
}
Text = Annotated[str, Field(max_length=10_000)]


class ResultsBody(StrictBody):
    """What one reading of a feed gave."""

    subscription_id: Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]
    items: Annotated[list[Annotated[Any, WithJsonSchema(_ITEM)]], Field(max_length=_MOST_ITEMS)]
    fetcher_source: Annotated[str, Field(max_length=200)] | None = Field(None, description="who read the feed")
    success: bool = True
    error_message: Text | None = Field(
        None, description="what went wrong, when something did; shown on the subscription"
    )

    def results(self) -> FetcherResults:
        return FetcherResults(
            subscription_id=self.subscription_id,
            items=tuple(_item(item if isinstance(item, dict) else {}) for item in self.items),
            fetcher_source=self.fetcher_source,
            success=self.success,
            error_message=self.error_message,
        )


class ReceiptAnswer(BaseModel):
    """What became of the results. Items that were known already count as what they became then."""

    success: bool
    items_received: int
    items_parsed: int
    items_failed: int
    message: str

    @classmethod
    def of(cls, receipt: Receipt) -> ReceiptAnswer:
        return cls(
            success=True,
            items_received=receipt.items_received,
            items_parsed=receipt.items_parsed,
            items_failed=receipt.items_failed,
            message=f"{receipt.items_new} new items, {receipt.links_new} new links; {receipt.items_failed} items could not "
            f"be understood, {receipt.items_skipped} are from before the subscription",
        )


def router(intake: Intake, services: Services, subscriptions: Subscriptions) -> Router:
    """The routes at which results arrive."""
    routes = Router(tags=["following"])

    async def receive(body: ResultsBody, caller: Caller) -> ReceiptAnswer:
        await check_sender(caller, body.subscription_id, services, subscriptions)
        return ReceiptAnswer.of(await intake.receive(body.results()))

    @routes.post(PATHS[0], responses=documented(403, 404, *WITH_BODY))
    async def receive_fetcher_results(body: ResultsBody, caller: Speaking) -> ReceiptAnswer:
        """Take in what a fetcher read. The same results twice change nothing. Takes the key of the fetcher that reads the
        subscription (403 for any other).
        """
        return await receive(body, caller)

    @routes.post(PATHS[1], responses=documented(403, 404, *WITH_BODY))
    async def receive_raw_fetcher_results(body: ResultsBody, caller: Speaking) -> ReceiptAnswer:
        """The same as `/fetcher-results`, by its other name."""
        return await receive(body, caller)

    return routes


def _item(given: dict[Any, Any]) -> FeedItem:
    """An item as far as it makes sense."""
    size = given.get("size_bytes")
    return FeedItem(
        title=_text(given.get("title")) or "",
        description=_text(given.get("description")),
        download_url=_text(given.get("download_url")),
        pub_date=_moment(_text(given.get("pub_date"))),
        guid=_text(given.get("guid")),
        size_bytes=size if type(size) is int else None,
        info_hash=_text(given.get("info_hash")),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text.strip())
            # Naive ones are UTC; at the edge of the calendar there is no such moment.
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    return None
