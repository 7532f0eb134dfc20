"""The kinds of values that settings have, and what each refuses.

What is stored in the page is used at the next start. So a value with which nothing can start is refused here, as long as
there is a page to say so.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

_HOST_NAME: Final = re.compile(r"[\w.-]+")
# What Python takes for an address, and no client does.
_IN_BRACKETS: Final = re.compile(r"\][^:]|[^@\[]\[")
_PROXY_SCHEMES: Final = ("http://", "https://", "socks5://", "socks5h://")
_WEB_SCHEMES: Final = ("http://", "https://")
_BASE_PATH: Final = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*")
_LONGEST_URL: Final = 2_000
_LONGEST_BASE_PATH: Final = 200


def _split(value: object) -> object:
    """A comma list, as environment variables can only be text."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _octal(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return int(value, 8)
    except ValueError:
        raise ValueError('must be octal digits, like "027"') from None


def _full_path(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("must not have the character NUL")
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        raise ValueError("names the home folder of a user that is not there; give a full path") from None


def _sendable(secret: SecretStr) -> SecretStr:
    # It is sent in a header or in a URL.
    text = secret.get_secret_value()
    if not (text.isascii() and text.isprintable()):
        raise ValueError("must be of ASCII characters that can be seen")
    return secret


CommaList = Annotated[tuple[str, ...], BeforeValidator(_split)]
OctalDigits = Annotated[int, BeforeValidator(_octal)]
FullPath = Annotated[Path, AfterValidator(_full_path)]
SentSecret = Annotated[SecretStr, Field(min_length=1), AfterValidator(_sendable)]
Seconds = Annotated[float, Field(ge=0.1, le=31_536_000, allow_inf_nan=False)]
Hours = Annotated[float, Field(ge=0.01, le=8_760, allow_inf_nan=False)]
Minutes = Annotated[float, Field(ge=0.1, le=525_600, allow_inf_nan=False)]


def web_url(url: str) -> str:
    """An address that can be fetched from; raises ValueError."""
    if not url.startswith(_WEB_SCHEMES):
        raise ValueError("must begin with http:// or https://")
    try:
        parts = urlsplit(url)
        is_good = is_host(parts.hostname or "") and parts.port != 0 and _IN_BRACKETS.search(parts.netloc) is None
    except ValueError:
        is_good = False
    if not is_good or len(url) > _LONGEST_URL or not url.isprintable() or " " in url:
        raise ValueError("must be a whole address, like https://example.org")
    return url


def proxy_url(url: str) -> str:
    """The address of a proxy; raises ValueError."""
    if not url.startswith(_PROXY_SCHEMES):
        raise ValueError(f"must begin with one of {', '.join(_PROXY_SCHEMES)}")
    # What is only asked where there is a proxy: it takes a while to load.
    from kurabito.http.proxies import check_proxy

    try:
        check_proxy(url)
        is_good = len(url) <= _LONGEST_URL and url.isprintable() and " " not in url
    except ValueError:
        is_good = False
    if not is_good:
        raise ValueError("must be a whole address, like socks5://nas:1080")
    return url


def base_path(path: str) -> str:
    """A path with one slash at its beginning and none at its end; raises ValueError.

    It becomes a part of addresses, of redirects and of the cookie's path, and one that cannot would log everybody out.
    """
    path = "/" + path.strip("/") if path.strip("/") else ""
    if not _BASE_PATH.fullmatch(path) or len(path) > _LONGEST_BASE_PATH:
        raise ValueError("must be of letters, digits, dots, dashes and slashes, like /kurabito")
    return path


def host_name(host: str) -> str:
    """The name or address of a host, and nothing else; raises ValueError."""
    if not is_host(host):
        raise ValueError("must be a host like nas.local, or an address")
    return host


def is_host(host: str) -> bool:
    """Whether this is a name or an address of a host, alone."""
    return _HOST_NAME.fullmatch(host) is not None or is_address(host)


def checked_networks(values: Iterable[str]) -> None:
    """Raises ValueError unless all are addresses or networks."""
    for value in values:
        if not _is_network(value):
            raise ValueError(f"{value} is neither an address nor a network like 10.0.0.0/8")


def checked_hosts(values: Iterable[str]) -> None:
    """Raises ValueError unless all are hosts, addresses or networks."""
    for value in values:
        if not _HOST_NAME.fullmatch(value) and not _is_network(value):
            raise ValueError(f"{value} is neither a host like nas.local nor an address or network like 10.0.0.0/8")


def checked_folders(values: Iterable[str]) -> None:
    """Raises ValueError unless all are full paths."""
    for value in values:
        if not Path(value).is_absolute() or ".." in Path(value).parts or "\0" in value:
            raise ValueError(f"{value} is not a full path like /srv/media")


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def is_address(text: str) -> bool:
    """Whether it is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
