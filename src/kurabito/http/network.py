"""Connections to addresses that were checked.

A name is resolved once; all of its addresses are judged, and one of exactly these is connected to. A name whose answer
changes after the check changes nothing. The layers above still know the host by its name, so the Host header and the
name that TLS verifies stay as they are.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from typing import Final, Protocol

import httpcore2

from kurabito.clock import Clock
from kurabito.http.addresses import Address, literal
from kurabito.http.errors import Unreachable
from kurabito.http.limits import within

# A name with a hundred addresses that do not answer is as dead as one with four.
_TRIED: Final = 4


class Resolver(Protocol):
    """Finds the addresses of a name; OSError when there are none."""

    async def __call__(self, host: str, /) -> Sequence[Address]: ...


async def resolve(host: str, /) -> Sequence[Address]:
    """The addresses that this machine knows for the name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    addresses = (literal(str(place[0])) for *_, place in found)
    return list(dict.fromkeys(address for address in addresses if address is not None))


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves, lets `admit` judge every address, and connects to one of them."""

    def __init__(self, resolver: Resolver, clock: Clock, admit: Callable[[str, Sequence[Address]], None]) -> None:
        self._resolver = resolver
        self._clock = clock
        self._admit = admit
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        assert timeout is not None
        try:
            connecting = self._connect(host, port, timeout)
            return await within(self._clock, timeout, connecting, discard=lambda stream: stream.aclose())
        except TimeoutError:
            raise Unreachable(
                f"{host} did not take a connection within {timeout:g} s; check the name and the network"
            ) from None

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise NotImplementedError("only hosts are connected to")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _connect(self, host: str, port: int, timeout: float) -> httpcore2.AsyncNetworkStream:
        addresses = await self._addresses(host)
        self._admit(host, addresses)
        chosen = _alternating(addresses)[:_TRIED]
        # Each gets its share of the time, so that one that swallows packets does not keep us from the next.
        share = timeout / len(chosen)
        problems = []
        for address in chosen:
            try:
                return await self._network.connect_tcp(str(address), port, timeout=share)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problems.append(f"{address}: {_reason(error)}")
        raise Unreachable(f"{host} did not take a connection ({', '.join(problems)}); try again later")

    async def _addresses(self, host: str) -> Sequence[Address]:
        address = literal(host)
        if address is not None:
            return [address]
        try:
            addresses = await self._resolver(host)
        except (OSError, UnicodeError) as error:
            raise Unreachable(f"{host} has no address: {error}; check the name and the network") from None
        if not addresses:
            raise Unreachable(f"{host} has no address; check the name")
        return addresses


def _alternating(addresses: Sequence[Address]) -> list[Address]:
    """The addresses with the two families in turn, as a machine often has a working network for one of them only."""
    first = [address for address in addresses if address.version == addresses[0].version]
    second = [address for address in addresses if address.version != addresses[0].version]
    return [address for address in chain.from_iterable(zip_longest(first, second)) if address is not None]


def _reason(error: BaseException) -> str:
    """What the machine said in the end, under the layers that each said it in their way."""
    while error.__cause__ is not None:
        error = error.__cause__
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "no answer in time"
