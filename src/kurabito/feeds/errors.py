"""The errors of following and reading feeds."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class FeedError(KurabitoError):
    """Something about a feed that is followed could not be done."""

    code = "feed"


class FeedUnreadable(FeedError):
    """What came is not a feed."""

    code = "feed_unreadable"


class ErrorDocument(FeedUnreadable):
    """An indexer answered with an error of its own: a number and a description, as Newznab and Torznab have them."""

    def __init__(self, number: str, description: str) -> None:
        super().__init__(f"the indexer answers with error {number}: {description}")
        self.number = number
        self.description = description

    def __reduce__(self) -> tuple[type[ErrorDocument], tuple[str, str]]:
        return type(self), (self.number, self.description)


class FetcherRefused(FeedError):
    """The service that should read a feed did not take it."""

    code = "fetcher_refused"


class SubscriptionNotFound(FeedError, NotFound):
    """No subscription has that id."""

    code = "subscription_not_found"


class SubscriptionConflict(FeedError, StateConflict):
    """Another subscription follows that URL."""

    code = "subscription_conflict"
