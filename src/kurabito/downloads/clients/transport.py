"""Calling a program that downloads, where its user said that it is."""

from __future__ import annotations

import ssl
from typing import Any, Final, Self

import httpx2

from kurabito.downloads.errors import DownloaderUnavailable
from kurabito.errors import ConfigError
from kurabito.http.redaction import bare

_THIS_MACHINE: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_TIMEOUT: Final = httpx2.Timeout(15.0, connect=5.0)


class Calls:
    """Requests to one program. Unlike what leaves through `Outbound`, every answer counts: its status and headers are part
    of how these programs speak."""

    def __init__(self, program: str, url: str, tls: ssl.SSLContext | bool = True) -> None:
        parsed = _parsed(url)
        self._program = program
        self.url: Final = bare(parsed).rstrip("/")
        self.is_on_this_machine: Final = parsed.host in _THIS_MACHINE
        self._http = httpx2.AsyncClient(
            base_url=self.url, timeout=_TIMEOUT, verify=tls, trust_env=False, follow_redirects=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def send(self, method: str, path: str, **rest: Any) -> httpx2.Response:
        """The answer, whatever its status; raises DownloaderUnavailable when there is none."""
        try:
            response = await self._http.request(method, path, **rest)
        except httpx2.HTTPError as error:
            # The kind of error only: its text may hold what was sent.
            raise DownloaderUnavailable(
                f"{self._program} at {self.url} does not answer ({type(error).__name__}); start it, or check the URL"
            ) from None
        if response.status_code >= 500:
            raise self.odd(response)
        return response

    def odd(self, response: httpx2.Response) -> DownloaderUnavailable:
        """The error for an answer that makes no sense."""
        return DownloaderUnavailable(
            f"{self._program} at {self.url} answered {response.status_code}, which is not understood; check that the URL "
            f"is that of {self._program}"
        )

    def json(self, response: httpx2.Response) -> Any:
        """The answer as JSON."""
        try:
            return response.json()
        except ValueError:
            raise self.odd(response) from None


def check_url(url: str) -> None:
    """Raises ConfigError unless a program can be at this URL."""
    _parsed(url)


def _parsed(url: str) -> httpx2.URL:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise ConfigError(f"url cannot be used: {error}; give one like http://127.0.0.1:8080") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ConfigError("url must be one like http://127.0.0.1:8080")
    if parsed.port is not None and not 1 <= parsed.port <= 65_535:
        raise ConfigError("url must have a port from 1 to 65535")
    if parsed.userinfo:
        raise ConfigError("url must not hold a password: give --username, and the password in KURABITO_CLIENT_PASSWORD")
    return parsed
