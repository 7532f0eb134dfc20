"""What the address of a proxy may be."""

from __future__ import annotations

import httpx2

from kurabito.http.addresses import is_name, literal, normal


def check_proxy(url: str) -> None:
    """Raises ValueError unless requests can be sent through a proxy at this address."""
    try:
        parsed = httpx2.Proxy(url).url
        host = normal(parsed.raw_host.decode("ascii"))
    except httpx2.InvalidURL as error:
        raise ValueError(str(error)) from None
    if not (is_name(host) or literal(host)) or (parsed.port is not None and not 1 <= parsed.port <= 65_535):
        raise ValueError("it does not name a host and a port")
