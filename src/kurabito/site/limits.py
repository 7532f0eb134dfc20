"""How many connections there may be, and how long one may keep us waiting."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kurabito.logs import get_logger
from kurabito.site.addresses import Network

HEADER_SECONDS: Final = 10.0
KEEP_ALIVE_SECONDS: Final = 5.0
UNREAD_SECONDS: Final = 30.0

# Database, data plane, log, the embedded downloader's peers and files, and what is fetched from outside.
_RESERVED: Final = 512
_USUAL: Final = 1000
_FEWEST: Final = 8

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """What the connections of one server may take."""

    most: int
    """How many connections there may be in all."""
    per_address: int
    """How many of one address may wait for something. Those that are being answered do not count."""
    header_seconds: float = HEADER_SECONDS
    """How long the head of a request may take to arrive, from the connection or from its first byte."""
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS
    """How long a connection stays open after an answer."""
    unread_seconds: float = UNREAD_SECONDS
    """How long a client may read nothing of an answer that waits for it."""
    trusted: Sequence[Network] = ()
    """Reverse proxies: one address that speaks for many clients."""


def raise_descriptor_limit(wanted: int) -> int:
    """Have at least so many file descriptors, as far as this user may; how many there are now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft >= most:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError) as problem:
        _log.warning("the number of file descriptors cannot be raised", have=soft, wanted=most, problem=str(problem))
        return soft
    return most


def connection_limits(
    *,
    most: int | None = None,
    per_address: int | None = None,
    header_seconds: float = HEADER_SECONDS,
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
    trusted: Sequence[Network] = (),
) -> ConnectionLimits:
    """The limits, with those that were not given derived from the file descriptors that this process may have."""
    wanted = most or _USUAL
    room = room_for_connections(raise_descriptor_limit(wanted + _RESERVED))
    if most is not None and room < most:
        _log.warning(
            "fewer connections than max_connections asks for: raise the limit of file descriptors (ulimit -n, or "
            "LimitNOFILE of systemd)",
            max_connections=most,
            connections=room,
        )
    most = min(wanted, room)
    return ConnectionLimits(
        most=most,
        per_address=min(most, per_address or max(_FEWEST, most // 4)),
        header_seconds=header_seconds,
        keep_alive_seconds=keep_alive_seconds,
        trusted=trusted,
    )


def room_for_connections(descriptors: int) -> int:
    """How many of so many file descriptors connections may have."""
    return max(_FEWEST, descriptors // 4, descriptors - _RESERVED)
