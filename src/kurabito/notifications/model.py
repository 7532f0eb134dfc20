"""A destination of notifications as its keeper sets it, and how telling it goes. Pure values."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from kurabito.contact import ContactHealth, ContactStatus, site_of
from kurabito.errors import InvalidInput
from kurabito.notifications.events import NotificationKind
from kurabito.reasons import InputReason, refused

LONGEST_NAME: Final = 100
LONGEST_URL: Final = 2_000
LONGEST_TOKEN: Final = 500
LANGUAGES: Final = ("en", "zh-Hans", "zh-Hant", "ja")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{1,40}://.", re.IGNORECASE)
# They speak to the desktop or the hardware of the machine that the server runs on, which has no reader.
_LOCAL: Final = frozenset(
    {"dbus", "kde", "qt", "glib", "gio", "gnome", "macosx", "windows", "syslog", "blink1", "file", "memory"}
)


class DestinationKind(StrEnum):
    """How it is reached."""

    APPRISE = "apprise"
    """A service that the Apprise library knows: Discord, Telegram, ntfy, Gotify, e-mail and many others."""
    WEBHOOK = "webhook"
    """Any other program: it is sent the message as JSON."""


class DeliveryStatus(StrEnum):
    """What became of a message."""

    RETRYING = "retrying"
    """It did not arrive yet and is tried again."""
    SENT = "sent"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class QuietHours:
    """When a destination is not disturbed, by the clock of the server. They may go over midnight."""

    begin: time
    end: time

    def left(self, now: datetime) -> timedelta:
        """How long they still last; nothing when it is not one of them.

        >>> QuietHours(time(22), time(7)).left(datetime(2026, 1, 1, 23, 30))
        datetime.timedelta(seconds=27000)
        >>> QuietHours(time(22), time(7)).left(datetime(2026, 1, 1, 12))
        datetime.timedelta(0)
        """
        ends = now.replace(hour=self.end.hour, minute=self.end.minute, second=0, microsecond=0)
        begins = now.replace(hour=self.begin.hour, minute=self.begin.minute, second=0, microsecond=0)
        if self.begin <= self.end:
            return ends - now if begins <= now < ends else timedelta(0)
        if now >= begins:
            return ends + timedelta(days=1) - now
        return ends - now if now < ends else timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationSettings:
    """What its keeper may change."""

    kind: DestinationKind
    name: str
    url: str = field(repr=False)
    """An address of Apprise, or of the webhook. It is a secret."""
    token: str | None = field(default=None, repr=False)
    """What a webhook is sent as its bearer."""
    kinds: frozenset[NotificationKind] = frozenset(NotificationKind)
    language: str = "en"
    quiet: QuietHours | None = None
    is_enabled: bool = True

    @property
    def shown_url(self) -> str:
        """As much of the address as anyone may see: the service, or the site.

        >>> DestinationSettings(kind=DestinationKind.APPRISE, name="Phone", url="tgram://123:secret/42").shown_url
        'tgram://…'
        """
        where = site_of(self.url) if self.kind is DestinationKind.WEBHOOK else ""
        return f"{self.url.partition('://')[0].lower()}://{where or '…'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDestination:
    """A destination that hears of what happens."""

    id: int
    settings: DestinationSettings
    status: ContactStatus
    created_at: datetime
    updated_at: datetime

    @property
    def health(self) -> ContactHealth:
        return self.status.health(is_enabled=self.settings.is_enabled)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message, and what became of it."""

    id: int
    title: str
    body: str
    status: DeliveryStatus
    attempts: int
    error_code: str | None
    error_message: str | None
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent, in the words of its destination."""

    title: str
    body: str


def check(settings: DestinationSettings) -> None:
    """Raises InvalidInput, naming the field."""
    _check_text("name", settings.name, LONGEST_NAME)
    if settings.token is not None:
        _check_text("token", settings.token, LONGEST_TOKEN)
    if settings.language not in LANGUAGES:
        raise InvalidInput("language", f"must be one of {', '.join(LANGUAGES)}", refused(InputReason.CHOICE))
    if settings.kind is DestinationKind.WEBHOOK:
        _check_webhook(settings.url)
    else:
        _check_apprise(settings.url)


def read_hour(name: str, text: str) -> time:
    """A time like 22:00; raises InvalidInput."""
    with suppress(ValueError):
        return time.fromisoformat(text.strip()).replace(second=0, microsecond=0, tzinfo=None)
    raise InvalidInput(name, "must be a time like 22:00", refused(InputReason.HOUR))


def read_quiet(begin: str, end: str) -> QuietHours | None:
    """Quiet hours as they are written; None where both are left out. Raises InvalidInput."""
    if not begin.strip() and not end.strip():
        return None
    return QuietHours(read_hour("quiet_from", begin), read_hour("quiet_to", end))


def _check_text(name: str, text: str, longest: int) -> None:
    if not text.strip() or len(text) > longest or not text.isprintable():
        problem = f"must be a text of 1 to {longest} characters that can be seen"
        raise InvalidInput(name, problem, refused(InputReason.TEXT, most=longest))


def _check_webhook(url: str) -> None:
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and len(url) <= LONGEST_URL and parts.port != 0:
            return
    problem = "must be an address like https://example.org/hook"
    raise InvalidInput("url", problem, refused(InputReason.SERVER_URL))


def _check_apprise(url: str) -> None:
    scheme = url.partition("://")[0].lower()
    is_whole = _SCHEME.match(url) is not None and site_of(url) != ""
    if not is_whole or len(url) > LONGEST_URL or not url.isprintable() or scheme in _LOCAL:
        problem = "must be an address of Apprise such as tgram://token/chat or ntfy://topic"
        raise InvalidInput("url", problem, refused(InputReason.APPRISE_URL))
