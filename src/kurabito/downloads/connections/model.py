"""A download client that the keeper typed in, and why one was refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from kurabito.contact import place_of
from kurabito.downloads.clients.factory import ClientName
from kurabito.downloads.clients.transport import check_url
from kurabito.errors import ConfigError, InvalidInput
from kurabito.modules.identities import is_reserved
from kurabito.modules.registration import check_host
from kurabito.reasons import InputReason, Reason, refused

CLIENTS: Final = (ClientName.QBITTORRENT, ClientName.TRANSMISSION, ClientName.ARIA2)
"""What can be connected; the embedded one is built in."""
LONGEST: Final = 500
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class ConnectionReason(StrEnum):
    """Why a connection was refused; the value is the message's key below `connection_reason`."""

    NAME = "name"
    NAME_TAKEN = "name_taken"
    URL = "url"
    LOGIN = "login"
    """The `client` does not know the name or the password."""
    SECRET = "secret"  # noqa: S105 - the reason
    """aria2 does not know its secret."""
    PASSWORD_AGAIN = "password_again"  # noqa: S105 - the reason
    """The password was given for another address."""
    UNREACHABLE = "unreachable"
    """Nothing that is a `client` answers there; `text` says what happened."""


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """What the keeper typed."""

    name: str
    client: ClientName
    url: str
    username: str = ""
    password: str = field(default="", repr=False)

    def check(self) -> None:
        """Raises InvalidInput that names the field."""
        if not _NAME.fullmatch(self.name) or is_reserved(self.name):
            problem = (
                "must be of letters, digits, dots and dashes, like nas-qbittorrent, and not that of the built-in one"
            )
            raise InvalidInput("name", problem, Reason(ConnectionReason.NAME))
        if self.client not in CLIENTS:
            raise InvalidInput(
                "client",
                "must be qbittorrent, transmission or aria2: the embedded one is built in",
                refused(InputReason.CHOICE),
            )
        try:
            check_url(self.url)
            check_host(urlsplit(self.url).hostname or "")
        except (ConfigError, InvalidInput, ValueError) as problem:
            raise InvalidInput("url", str(problem), Reason(ConnectionReason.URL)) from None
        for name, text in (("username", self.username), ("password", self.password)):
            if len(text) > LONGEST or not text.isprintable():
                problem_text = f"must have at most {LONGEST} characters that can be seen"
                raise InvalidInput(name, problem_text, refused(InputReason.TEXT, most=LONGEST))


@dataclass(frozen=True, slots=True)
class DownloaderConnection:
    """A connection as it is stored."""

    id: int
    settings: ConnectionSettings
    instance_id: str
    token: str = field(repr=False)

    def changed(self, wanted: ConnectionSettings) -> ConnectionSettings:
        """What was typed over it. Its name stays, and so does the password, unless another one or another address was typed.

        Raises InvalidInput.
        """
        settings = replace(wanted, name=self.settings.name, password=wanted.password or self.settings.password)
        settings.check()
        is_stray = not wanted.password and place_of(settings.url) != place_of(self.settings.url)
        if is_stray and self.settings.password:
            problem = "the password was given for another address, and would be sent to this one: type it again"
            raise InvalidInput("password", problem, Reason(ConnectionReason.PASSWORD_AGAIN))
        return settings
