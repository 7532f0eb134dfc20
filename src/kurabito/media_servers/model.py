"""A media server as its keeper sets it, and how telling it goes. Pure values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from kurabito.contact import ContactHealth, ContactStatus
from kurabito.errors import InvalidInput
from kurabito.modules.path_maps import PathMap, check_path_maps, mapped
from kurabito.reasons import InputReason, refused

LONGEST_NAME: Final = 100
LONGEST_URL: Final = 2_000
LONGEST_TOKEN: Final = 500


class MediaServerKind(StrEnum):
    """Which program it is."""

    JELLYFIN = "jellyfin"
    EMBY = "emby"
    PLEX = "plex"
    KODI = "kodi"
    WEBHOOK = "webhook"
    """Any other: it is sent the folders as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaServerSettings:
    """What its keeper may change."""

    kind: MediaServerKind
    name: str
    url: str
    """Its address, perhaps with a path; of a webhook the address that is called."""
    token: str | None = field(default=None, repr=False)
    """The API key, the Plex token, or `user:password` of Kodi."""
    path_maps: tuple[PathMap, ...] = ()
    """Folders as the core sees them, and as the server does."""
    is_enabled: bool = True

    @property
    def host(self) -> str:
        """The host. Its keeper named it, so it may be in the own network."""
        return urlsplit(self.url).hostname or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMediaServer:
    """A media server that hears of changes."""

    id: int
    settings: MediaServerSettings
    status: ContactStatus
    created_at: datetime
    updated_at: datetime

    @property
    def health(self) -> ContactHealth:
        return self.status.health(is_enabled=self.settings.is_enabled)


def check(settings: MediaServerSettings) -> None:
    """Raises InvalidInput, naming the field."""
    if not settings.name.strip() or len(settings.name) > LONGEST_NAME or not settings.name.isprintable():
        problem = f"must be a text of 1 to {LONGEST_NAME} characters that can be seen"
        raise InvalidInput("name", problem, refused(InputReason.TEXT, most=LONGEST_NAME))
    if settings.token is not None and (len(settings.token) > LONGEST_TOKEN or not settings.token.isprintable()):
        problem = f"must be a text of at most {LONGEST_TOKEN} characters that can be seen"
        raise InvalidInput("token", problem, refused(InputReason.TEXT, most=LONGEST_TOKEN))
    address_of(settings.url)
    check_path_maps(settings.path_maps)


def address_of(url: str) -> str:
    """The address without a slash at its end; raises InvalidInput.

    >>> address_of("http://nas:8096/")
    'http://nas:8096'
    """
    with suppress(ValueError):
        parts = urlsplit(url.strip())
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and len(url) <= LONGEST_URL
        if is_usable and not (parts.username or parts.password or parts.fragment) and parts.port != 0:
            return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), parts.query, ""))
    problem = "must be an address like http://nas:8096, without a user and a password"
    raise InvalidInput("url", problem, refused(InputReason.SERVER_URL))


def as_server_sees(folder: str, maps: Sequence[PathMap]) -> str:
    r"""A folder of the core, in the way that the server writes its paths.

    >>> as_server_sees("/srv/media/Show", [PathMap("/srv/media", "Z:\\Anime")])
    'Z:\\Anime\\Show'
    """
    there = mapped(PurePosixPath(folder), maps)
    return str(PureWindowsPath(there)) if PureWindowsPath(there).drive else there
