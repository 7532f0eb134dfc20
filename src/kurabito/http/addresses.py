"""Which addresses belong to the public internet, and how a host spells one."""

from __future__ import annotations

import ipaddress
import re
import socket
from ipaddress import IPv4Address, IPv6Address
from typing import Final

Address = IPv4Address | IPv6Address

# All public IPv6 addresses lie here; the rest is reserved, local or a way to write IPv4.
_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
# Where a translator puts public IPv4 addresses for hosts that only speak IPv6.
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_NAME: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.IGNORECASE)
# Names that are resolved by one's own machine or network, whatever the rest of the world says.
_LOCAL_SUFFIXES: Final = ("localhost", "local", "internal", "intranet", "lan", "home", "home.arpa", "corp")


def normal(host: str) -> str:
    """The host as it is compared: in lower case, without the dot that may end a name."""
    return host.lower().removesuffix(".")


def literal(host: str) -> Address | None:
    """The address that the host spells, also in the spellings that only the C library knows (127.1, 0x7f000001)."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def is_name(host: str) -> bool:
    """Whether the host is written with the letters of a host name."""
    return _NAME.fullmatch(host) is not None


def is_local_name(host: str) -> bool:
    """Whether the name is one of a private network: it has no dot, or ends like nas.local or printer.lan."""
    return "." not in host or host.endswith(tuple(f".{suffix}" for suffix in _LOCAL_SUFFIXES))


def unmapped(address: Address) -> Address:
    """The IPv4 address when IPv6 only wraps it, as in ::ffff:127.0.0.1."""
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def why_not_public(address: Address) -> str | None:
    """What keeps the address from being a public one: "loopback", "private", …; None when it is public.

    An IPv6 address that carries an IPv4 one (mapped, NAT64, 6to4, Teredo) leads to where that one leads, so it is judged
    by it.
    """
    address = unmapped(address)
    if isinstance(address, IPv4Address):
        return _why_not_unicast(address)
    if address in _NAT64:
        return why_not_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if address.sixtofour:
        # Some versions of Python call all of these private, whatever they carry.
        return why_not_public(address.sixtofour)
    for inner in address.teredo or ():
        if why := why_not_public(inner):
            return why
    if address not in _GLOBAL_UNICAST and not (address.is_multicast or address.is_link_local or address.is_loopback):
        return "unspecified" if address.is_unspecified else "private"
    return _why_not_unicast(address)


def _why_not_unicast(address: Address) -> str | None:
    if address.is_unspecified:
        return "unspecified"
    if address.is_loopback:
        return "loopback"
    if address.is_link_local:
        return "link-local"
    if address.is_multicast:
        return "multicast"
    if address.is_reserved:
        return "reserved"
    # Not public and nothing of the above: networks of one's own, of providers, of documentation.
    return None if address.is_global else "private"
