"""What a reading of a feed has to know of its subscription, and what it leaves there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from kurabito.db import Connection, Queries
from kurabito.feeds.errors import SubscriptionNotFound
from kurabito.feeds.raw_items import CleanItem, clean_text
from kurabito.feeds.results import FetcherResults

_SQL: Final = Queries("kurabito.feeds", "subscription_state.sql")
_LONGEST_MESSAGE: Final = 1_000
_UNKNOWN_ERROR: Final = "fetch_failed"


class NewSeries(StrEnum):
    """What happens when a feed of many series has a new one."""

    ADD = "add"
    ASK = "ask"


class StartWith(StrEnum):
    """Which of the items that are in the feed already a subscription takes."""

    NOW = "now"
    MISSING = "missing"
    CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class Followed:
    """A subscription, as whoever takes its items in sees it."""

    id: int
    series_id: int | None
    """The one series that it is about; None for many."""
    new_series: NewSeries
    start_with: StartWith
    created_at: int
    is_new: bool
    """Nothing was ever read from it, so what comes was there before."""

    def passes_over(self, item: CleanItem) -> bool:
        """Whether an item is from before the subscription began."""
        if not self.is_new or item.is_chosen or self.start_with is StartWith.MISSING:
            return False
        # What was published between subscribing and the first reading is new, if the feed tells when that was.
        return self.start_with is StartWith.CHOSEN or item.pub_date is None or item.pub_date < self.created_at


def followed(conn: Connection, subscription_id: int) -> Followed:
    """The subscription; raises SubscriptionNotFound."""
    row = conn.one(_SQL.followed, {"id": subscription_id})
    if row is None:
        raise SubscriptionNotFound(f"no subscription has the id {subscription_id}")
    found_id, series_id, new_series, start, created, success = row
    return Followed(found_id, series_id, NewSeries(new_series), StartWith(start), created, success is None)


def note(conn: Connection, results: FetcherResults) -> None:
    """Write down how the reading went; a success clears what went wrong before."""
    if results.success:
        conn.run(_SQL.note_success, {"id": results.subscription_id})
        return
    message = clean_text(results.error_message)[:_LONGEST_MESSAGE] or "the fetcher did not say why"
    code = results.error_code or _UNKNOWN_ERROR
    conn.run(_SQL.note_failure, {"id": results.subscription_id, "error_code": code, "error_message": message})
