"""How contact with a service of others goes: a media server, a destination of notifications, an indexer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Self
from urllib.parse import urlsplit

from kurabito.clock import optional_datetime

_PORTS: Final = {"http": 80, "https": 443}


def place_of(url: str) -> tuple[str, str | None, int | None]:
    """The scheme, host and port of an address that was checked. A secret is given for these, and for no other.

    >>> place_of("https://API.example:443/3") == place_of("https://api.example/4")
    True
    """
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def site_of(url: str) -> str:
    """The host of any address with its port, without what only its owner should see; nothing where it names none.

    >>> site_of("https://me:secret@site.example:8080/rss?key=1"), site_of("http://[nothing")
    ('site.example:8080', '')
    """
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


class ContactHealth(StrEnum):
    """How a service is, in one word."""

    OFF = "off"
    NEW = "new"
    """It was not spoken to yet."""
    HEALTHY = "healthy"
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactStatus:
    """What came of speaking to a service."""

    failures: int = 0
    """In a row."""
    error_code: str | None = None
    error_message: str | None = None
    last_success_at: datetime | None = None
    last_failure_at: datetime | None = None

    @classmethod
    def read(cls, row: Any, **more: Any) -> Self:
        """The status that a row with these columns has; `more` is what a kind of service has besides."""
        return cls(
            failures=row.failures,
            error_code=row.error_code,
            error_message=row.error_message,
            last_success_at=optional_datetime(row.last_success_at),
            last_failure_at=optional_datetime(row.last_failure_at),
            **more,
        )

    def health(self, *, is_enabled: bool) -> ContactHealth:
        """How a service with this status is, if it is switched on or off."""
        if not is_enabled:
            return ContactHealth.OFF
        if self.failures:
            return ContactHealth.FAILING
        return ContactHealth.NEW if self.last_success_at is None else ContactHealth.HEALTHY
