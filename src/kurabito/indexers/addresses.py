"""The URL of an indexer as it is pasted: the address to ask, and the key that is kept apart from it."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from kurabito.errors import InvalidInput
from kurabito.http.proxies import check_proxy
from kurabito.reasons import InputReason, refused

LONGEST_URL: Final = 4_000
_KEYS: Final = frozenset({"apikey", "jackett_apikey", "passkey", "api_key"})
_API: Final = "/api"
_PORTS: Final = {"http": 80, "https": 443}
_PROXIES: Final = ("http", "https", "socks5", "socks5h")


class IndexerAddress(NamedTuple):
    """Where an indexer is asked."""

    url: str
    """Without query, user and password."""
    api_key: str | None


def pasted(url: str) -> IndexerAddress:
    """The address in a URL of Prowlarr, Jackett or another program; raises InvalidInput.

    >>> pasted("http://nas:9696/3/api?t=caps&apikey=0123")
    IndexerAddress(url='http://nas:9696/3/api', api_key='0123')
    >>> pasted("http://nas:9117/api/v2.0/indexers/nyaasi/results/torznab/").url
    'http://nas:9117/api/v2.0/indexers/nyaasi/results/torznab/api'
    """
    parts = _parts(url, "must be the URL of a Torznab indexer, like http://nas:9696/1/api")
    key = next((value for name, value in parse_qsl(parts.query) if name.lower() in _KEYS and value), None)
    path = parts.path.rstrip("/")
    # Both programs copy the folder; what is asked is below it.
    path = path if path.endswith(_API) else path + _API
    return IndexerAddress(urlunsplit((parts.scheme, parts.netloc, path, "", "")), key)


def mirror_of(url: str) -> str:
    """The address at which a site is asked instead of its own; raises InvalidInput."""
    parts = _parts(url, "must be the address of a site, like https://mirror.example")
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def proxy_of(url: str) -> str:
    """The URL of a proxy, user and password included; raises InvalidInput."""
    text = url.strip()
    problem = f"must be the URL of a proxy that begins with one of {', '.join(f'{one}://' for one in _PROXIES)}"
    try:
        check_proxy(text)
        fits = text.partition("://")[0] in _PROXIES
    except ValueError:
        fits = False
    if not fits or len(text) > LONGEST_URL or not text.isprintable() or " " in text:
        raise InvalidInput("proxy", problem, refused(InputReason.PROXY_URL))
    return text


def without_login(url: str) -> str:
    """The URL as it may be shown: without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _parts(url: str, problem: str) -> SplitResult:
    text = url.strip()
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        raise InvalidInput("url", problem, refused(InputReason.FEED_URL)) from None
    if not fits or len(text) > LONGEST_URL or not text.isprintable() or " " in text or parts.username:
        raise InvalidInput("url", problem, refused(InputReason.FEED_URL))
    return parts


def host_of(url: str) -> str:
    """The host of a URL that was checked."""
    return urlsplit(url).hostname or ""


def origin_of(url: str) -> tuple[str, int | None] | None:
    """The host of a URL and its port; None where it has none that can be read."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
