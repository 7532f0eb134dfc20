"""The errors of notifications."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class NotificationError(KurabitoError):
    """Something about a destination of notifications could not be done."""

    code = "notification"


class DestinationNotFound(NotificationError, NotFound):
    """No destination of notifications has that id."""

    code = "destination_not_found"


class DestinationConflict(NotificationError, StateConflict):
    """Another destination of notifications has that name."""

    code = "destination_conflict"


class DestinationRefused(NotificationError):
    """A message did not reach its destination."""

    code = "destination_refused"

    def __init__(self, problem: str, cause: str | None = None) -> None:
        super().__init__(problem)
        self.cause = cause or self.code
        """The code of what kept it from arriving."""
