"""The addresses of clients and of reverse proxies."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# What a provider gives to one household. Its members choose the rest of the address as they like.
_HOUSEHOLD: Final = 64


def networks(proxies: Iterable[str]) -> tuple[Network, ...]:
    """The proxies of the settings as networks."""
    return tuple(ipaddress.ip_network(proxy, strict=False) for proxy in proxies)


def parse_address(text: str) -> Address | None:
    """The address that a text is; None when it is none."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    # A socket that listens for both families shows IPv4 clients like this.
    return getattr(address, "ipv4_mapped", None) or address


def is_among(address: Address | None, trusted: Sequence[Network]) -> bool:
    """Whether one of the networks has the address."""
    return address is not None and any(address in network for network in trusted)


@lru_cache(maxsize=1024)
def one_client(text: str) -> str:
    """The key that all addresses of one client share: an IPv4 address, or an IPv6 network of 64 bits."""
    address = parse_address(text)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, _HOUSEHOLD), strict=False))
    return text if address is None else str(address)
