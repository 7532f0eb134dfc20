"""Every open connection, and which one goes when there is no room for another.

A connection costs a file descriptor and memory, and a client needs no key to open one. So there is a most of them in all, and
a most of waiting ones for each address. At the limit the newcomer is let in and another one goes, the least useful first:

    idle        between two requests; the client opens another when it needs one
    half sent   a request that has not arrived yet; of the address that has the most of them
    unread      an answer that its client does not read
    stream      an event stream, whose client comes back where it was

One that is being answered goes only when its address has more than its share of all of them, and the newcomer's address has
less. When there is none of these, the newcomer is refused.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from enum import IntEnum
from typing import Final, Protocol

from kurabito.logs import Flood, get_logger
from kurabito.site.addresses import is_among, one_client, parse_address
from kurabito.site.limits import ConnectionLimits

_log = get_logger(__name__)

# Looking for one that can go takes a look at all of them, so several go at once.
_PART: Final = 32


class ConnectionPhase(IntEnum):
    """What a connection waits for; the lowest goes first."""

    IDLE = 0
    HALF_SENT = 1
    UNREAD = 2
    STREAM = 3
    BUSY = 4


class OpenConnection(Protocol):
    """A connection, as far as it takes up room."""

    client_key: str
    """What stands for its client (`one_client`)."""
    is_trusted: bool
    """Whether it comes from one of our reverse proxies."""
    since: float
    """When it began to wait for what it waits for."""

    def phase(self) -> ConnectionPhase:
        """What it waits for now."""
        ...

    def drop(self) -> None:
        """Close it at once."""
        ...

    def check_time(self, now: float) -> None:
        """Close it if its client takes too long."""
        ...


class Connections:
    """The open connections of one server."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._open: dict[OpenConnection, None] = {}
        self._of_client: dict[str, dict[OpenConnection, None]] = {}
        self._flood = Flood()

    def __len__(self) -> int:
        return len(self._open)

    def is_trusted(self, address: str) -> bool:
        """Whether this is one of our reverse proxies."""
        return is_among(parse_address(address), self.limits.trusted)

    def make_room(self, address: str) -> bool:
        """Have room for one more connection from that address, if need be by closing others; false when there is none."""
        if not self.is_trusted(address):
            self._make_room_for_client(one_client(address))
        if len(self._open) < self.limits.most:
            return True
        return self.close_least_useful() or self._take_from_greediest(one_client(address))

    def close_least_useful(self) -> bool:
        """Close some connections that wait; false when there are none."""
        waiting = [(self._rank(each), each) for each in self._open if each.phase() < ConnectionPhase.BUSY]
        chosen = heapq.nsmallest(max(1, len(self._open) // _PART), waiting, key=lambda ranked: ranked[0])
        # Of several kinds only the first: a half-sent request must not cost a stream.
        gone = [each for rank, each in chosen if rank[0] == chosen[0][0][0]]
        self._drop(gone, why="as many connections as there may be")
        return bool(gone)

    def add(self, connection: OpenConnection) -> None:
        """Count a connection from now on."""
        self._open[connection] = None
        self._of_client.setdefault(connection.client_key, {})[connection] = None

    def remove(self, connection: OpenConnection) -> None:
        """Count it no longer; it may be gone already."""
        self._open.pop(connection, None)
        others = self._of_client.get(connection.client_key)
        if others is not None:
            others.pop(connection, None)
            if not others:
                del self._of_client[connection.client_key]

    def check_times(self, now: float) -> None:
        """Close those whose clients take too long."""
        for connection in list(self._open):
            connection.check_time(now)

    def _make_room_for_client(self, client_key: str) -> None:
        """The oldest of a client's waiting connections go when it has too many."""
        most = self.limits.per_address
        of_client = self._of_client.get(client_key, {})
        if len(of_client) < most:
            return
        waiting = [each for each in of_client if each.phase() < ConnectionPhase.STREAM]
        if len(waiting) < most:
            return
        waiting.sort(key=lambda each: each.since)
        self._drop(waiting[: len(waiting) - most + max(1, most // _PART)], why="as many as one address may have")

    def _take_from_greediest(self, newcomer: str) -> bool:
        """Close one of the connections of the address that keeps most of them busy, when that is more than its share."""
        busy = {
            client: [each for each in held if not each.is_trusted]
            for client, held in self._of_client.items()
            if client != newcomer and len(held) > self.limits.per_address
        }
        greediest = max(busy.values(), key=len, default=[])
        self._drop(greediest[-1:], why="one address keeps more connections busy than its share")
        return bool(greediest)

    def _rank(self, connection: OpenConnection) -> tuple[ConnectionPhase, bool, int, float]:
        phase = connection.phase()
        greed = 0 if phase is ConnectionPhase.IDLE else -len(self._of_client[connection.client_key])
        return phase, connection.is_trusted, greed, connection.since

    def _drop(self, gone: Iterable[OpenConnection], *, why: str) -> None:
        count = 0
        for connection in gone:
            # Now, not when the event loop tells of its end: another may come before.
            self.remove(connection)
            connection.drop()
            count += 1
        if count and (left_out := self._flood.admits(why)) is not None:
            _log.warning("connections closed", why=why, closed=count, open=len(self._open), left_out=left_out)
