"""The errors of asking other hosts."""

from __future__ import annotations

from kurabito.errors import KurabitoError


class OutboundError(KurabitoError):
    """Something outside could not be fetched."""

    code = "outbound"


class UrlNotAllowed(OutboundError):
    """The URL is not one that is ever fetched: neither http nor https, or without a host."""

    code = "url_not_allowed"


class HostNotAllowed(UrlNotAllowed):
    """The host is inside our own network, and no setting allows it."""

    code = "host_not_allowed"

    def __init__(self, message: str, host: str) -> None:
        super().__init__(message)
        self.host = host

    def __reduce__(self) -> tuple[type[HostNotAllowed], tuple[str, str]]:
        return type(self), (str(self), self.host)


class LeadsToMagnet(UrlNotAllowed):
    """The host redirects to a magnet link: there is nothing to fetch, and the link is what was asked for."""

    def __init__(self, message: str, magnet: str) -> None:
        super().__init__(message)
        self.magnet = magnet

    def __reduce__(self) -> tuple[type[LeadsToMagnet], tuple[str, str]]:
        return type(self), (str(self), self.magnet)


class Unreachable(OutboundError):
    """There was no connection, or it broke."""

    code = "unreachable"


class ConnectionBroke(Unreachable):
    """There was a connection, and it broke: the request may have been read."""


class TimedOut(OutboundError):
    """The answer took too long."""

    code = "timed_out"


class TooLarge(OutboundError):
    """The answer is larger than the caller can take."""

    code = "too_large"


class BadStatus(OutboundError):
    """The answer came, and is not one of success."""

    code = "bad_status"

    def __init__(self, message: str, answered: int, retry_after: float | None = None, content: bytes = b"") -> None:
        super().__init__(message)
        self.answered = answered
        """The status that the host answered."""
        self.retry_after = retry_after
        """Seconds after which the host wants to be asked again, if it said so."""
        self.content = content
        """What the host said about it, where the request asked for that."""

    def __reduce__(self) -> tuple[type[BadStatus], tuple[str, int, float | None, bytes]]:
        return type(self), (str(self), self.answered, self.retry_after, self.content)


class BadAnswer(OutboundError):
    """The answer makes no sense: redirects without an end, broken compression, something else than JSON."""

    code = "bad_answer"
