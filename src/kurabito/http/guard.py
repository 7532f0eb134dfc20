"""Keeps foreign URLs from leading into the private network.

A feed, a poster or a redirect names a URL; its author may mean the router, a database or the cloud's metadata
service. So only public addresses are connected to, unless the host is trusted: because the settings name it, or because
the caller says that a user allowed it. Trust is never inherited: a trusted host that redirects elsewhere redirects to a
host that is judged like any other.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import Final, Self

import httpx2

from kurabito.http.addresses import Address, is_local_name, is_name, literal, normal, unmapped, why_not_public
from kurabito.http.errors import HostNotAllowed, UrlNotAllowed
from kurabito.http.redaction import shown

_SCHEMES: Final = ("http", "https")
_HOW_TO_ALLOW: Final = (
    "if that is meant, allow the host where its URL is entered, or add it to KURABITO_ALLOW_PRIVATE_HOSTS"
)


class Route(StrEnum):
    """How a request travels. Connections of one route are never used by another."""

    GUARDED = "guarded"
    """Directly, to public addresses only."""
    TRUSTED = "trusted"
    """Directly, wherever the host is."""
    PROXY = "proxy"
    """Through the proxy, which resolves the name itself."""


@dataclass(frozen=True, slots=True)
class Trusted:
    """Hosts that may be inside our own network: by name, by address or by network."""

    names: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Self:
        names, networks = set(), []
        for entry in entries:
            try:
                networks.append(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                names.add(normal(_ascii(entry)))
        return cls(frozenset(names), tuple(networks))

    def has_host(self, host: str) -> bool:
        """Whether the host is trusted as it is written."""
        address = literal(host)
        return host in self.names if address is None else self.has_address(address)

    def has_address(self, address: Address) -> bool:
        return any(unmapped(address) in network for network in self.networks)


class Guard:
    """Decides for each request and each connection whether it may happen."""

    def __init__(self, private_hosts: Iterable[str] = (), *, proxied: bool = False) -> None:
        self._private = Trusted.parse(private_hosts)
        self._proxied = proxied

    def route(self, url: httpx2.URL, trusted: Trusted) -> Route:
        """How the URL is fetched; an error when it is not.

        Without a proxy a name is judged by its addresses, when it is connected to. A proxy resolves names itself, so with
        one a name is judged by how it is written: what is only known inside a network is refused. Trusted hosts of
        that kind, and those that the settings allow, are reached without the proxy, which would not find them.
        """
        host = host_of(url)
        if self._private.has_host(host):
            return Route.TRUSTED
        address = literal(host)
        why = why_not_public(address) if address is not None else None
        if trusted.has_host(host):
            local = why is not None or (address is None and is_local_name(host))
            return Route.TRUSTED if local or not self._proxied else Route.PROXY
        if address is not None and why:
            raise _refused(host, f"{address} is a {why} address")
        if not self._proxied:
            return Route.GUARDED
        if address is None and is_local_name(host):
            raise _refused(host, "it is a name that only a local network knows")
        return Route.PROXY

    def admit(self, host: str, addresses: Sequence[Address]) -> None:
        """Refuse the host when any of its addresses is not public: one good answer does not excuse a bad one."""
        for address in addresses:
            if (why := why_not_public(address)) and not self._private.has_address(address):
                raise _refused(host, f"it leads to {address}, a {why} address")


def host_of(url: httpx2.URL) -> str:
    """The host of a URL that may be fetched at all."""
    if url.scheme not in _SCHEMES:
        raise UrlNotAllowed(
            f"{shown(url)} is not fetched: only http and https are; give a URL that begins with https://"
        )
    host = normal(url.raw_host.decode("ascii"))
    address = literal(host)
    if address is None and not is_name(host):
        raise UrlNotAllowed(
            f"{shown(url)} is not fetched: it does not name a host; give a URL like https://example.org/"
        )
    if address is not None and ":" not in host and host != str(address):
        # 010.0.0.1 is 8.0.0.1 to one program and 10.0.0.1 to the next, so a check would not hold.
        raise HostNotAllowed(f"{host} is not fetched from: write the address in the usual way, {address}", host)
    return host


def _refused(host: str, why: str) -> HostNotAllowed:
    return HostNotAllowed(f"{host} is not fetched from: {why}; {_HOW_TO_ALLOW}", host)


def _ascii(host: str) -> str:
    """A name in the form that is sent, as xn--wgv71a.jp for 日本.jp."""
    try:
        return httpx2.URL(scheme="http", host=host).raw_host.decode("ascii")
    except httpx2.InvalidURL:
        return host
