"""What a fetcher brings from a feed, and the port that takes it in.

The built-in fetcher and those that are services of their own use the same words.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from kurabito.modules.download_types import DownloadType


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """One item of a feed, as it came: nothing of it was understood yet, and none of it can be trusted."""

    title: str
    download_url: str | None
    description: str | None = None
    pub_date: datetime | None = None
    """Aware; None when the feed gives none, or none that can be read."""
    guid: str | None = None
    """What tells it apart from the other items of its feed; without one it is the URL."""
    size_bytes: int | None = None
    info_hash: str | None = None
    """A torrent's, where the feed has a field for it."""
    download_type: DownloadType | None = None
    """What the URL gives, where an indexer says so: its URLs need not look like it. None leaves it to the URL."""

    @property
    def key(self) -> str:
        """What a keeper picks it by in a preview."""
        return self.guid or self.download_url or self.title


@dataclass(frozen=True, slots=True, kw_only=True)
class FetcherResults:
    """What one reading of a feed gave."""

    subscription_id: int
    items: tuple[FeedItem, ...]
    fetcher_source: str | None = None
    """Who read the feed."""
    chosen: frozenset[str] = frozenset()
    """The keys of items that their keeper picked when he subscribed."""
    success: bool = True
    error_message: str | None = None
    error_code: str | None = None
    by_hand: bool = False
    """A user asked for this reading: its failure is shown, and not counted."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of some results. Items that were known already are received, and counted as what they became then."""

    items_received: int
    items_parsed: int
    items_failed: int
    items_skipped: int
    """From before the subscription began: known, and left alone."""
    items_new: int
    links_new: int


class Intake(Protocol):
    """Takes results in. The same results twice change nothing."""

    async def receive(self, results: FetcherResults) -> Receipt:
        """Store the items and the links they make, and on the subscription that it was read or why it could not be.

        All of it is one transaction, in which the subscription gets `last_fetched_at`, `last_success_at` and its error.
        The first success decides what the subscription starts with: of `now` only what is dated after the subscription
        was made, of `chosen` only what is chosen, of `missing` everything. Raises SubscriptionNotFound.
        """
        ...
