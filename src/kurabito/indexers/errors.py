"""The errors of asking indexers."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class IndexerError(KurabitoError):
    """Something about an indexer could not be done."""

    code = "indexer"


class IndexerNotFound(IndexerError, NotFound):
    """No indexer has that id."""

    code = "indexer_not_found"


class IndexerConflict(IndexerError, StateConflict):
    """Another indexer has that name."""

    code = "indexer_conflict"


class IndexerUnreadable(IndexerError):
    """What an indexer answered is not what was asked for."""

    code = "indexer_unreadable"


class IndexerRefused(IndexerError):
    """The indexer answered with an error of its own."""

    code = "indexer_refused"

    def __init__(self, message: str, number: int, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.number = number
        """The error's number, from 100 to 910; 900 where the indexer gives none."""
        self.retry_after = retry_after
        """Seconds after which it wants to be asked again, if it said so."""

    def __reduce__(self) -> tuple[type[IndexerRefused], tuple[str, int, float | None]]:
        return type(self), (str(self), self.number, self.retry_after)


class IndexerKeyRefused(IndexerRefused):
    """The indexer does not take the API key, or wants one."""

    code = "indexer_key_refused"


class IndexerLimited(IndexerRefused):
    """The indexer was asked too often."""

    code = "indexer_limited"


class IndexerResting(IndexerError):
    """The indexer is not asked now: its limit is reached, or it failed and rests."""

    code = "indexer_resting"


class SiteInvalid(IndexerError):
    """The description of a site has a fault."""

    code = "site_invalid"
