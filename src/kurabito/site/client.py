"""Who is at the other end, also behind reverse proxies that we trust."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.types import Scope

from kurabito.site.addresses import Network, is_among, parse_address


class Client(NamedTuple):
    """The other end of a request."""

    address: str
    scheme: str
    host: str
    """What the client believes to talk to, with its port."""


def client_of(scope: Scope, trusted: Sequence[Network]) -> Client:
    """The client of a request. What a proxy says about it is believed only if we trust the proxy."""
    headers = Headers(scope=scope)
    peer = scope["client"][0] if scope.get("client") else ""
    if not is_among(parse_address(peer), trusted):
        return Client(peer, scope["scheme"], headers.get("host", ""))
    scheme = _last(headers, "x-forwarded-proto").lower() or scope["scheme"]
    host = _last(headers, "x-forwarded-host") or headers.get("host", "")
    return Client(_before_proxies(headers, peer, trusted), "https" if scheme == "https" else "http", host)


def _before_proxies(headers: Headers, peer: str, trusted: Sequence[Network]) -> str:
    # From the end, as each proxy appends whom it heard: what stands before the last stranger, that one may have invented.
    for hop in reversed(",".join(headers.getlist("x-forwarded-for")).split(",")):
        address = parse_address(hop.strip())
        if address is None:
            return peer
        if not is_among(address, trusted):
            return str(address)
    return peer


def _last(headers: Headers, name: str) -> str:
    """What the nearest proxy said: the last value, of the last header of that name."""
    return ",".join(headers.getlist(name)).rpartition(",")[2].strip()
