"""Takes connections from the listening socket, as many as there is room for.

asyncio's own loop accepts everything that waits before it lets a protocol have a word, and writes a traceback for each
attempt that fails. Thousands of connections at once then cost every descriptor, and fill the disk with the log.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from kurabito.logs import Flood, get_logger
from kurabito.site.connections import Connections
from kurabito.site.protocol import plain_answer

_MOST_AT_ONCE: Final = 64
_PAUSE: Final = 0.1
_FULL: Final = plain_answer(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "too_many_connections",
    "as many connections are open as may be, and all are in use; try again later, or raise max_connections",
    "retry-after: 5",
)

_log = get_logger(__name__)


class Acceptor:
    """Accepts connections until it is closed. `protocol` is made for each, with the address of the client."""

    def __init__(
        self, listener: socket.socket, connections: Connections, protocol: Callable[[str], asyncio.BaseProtocol]
    ) -> None:
        self._listener = listener
        self._connections = connections
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._beginning: set[asyncio.Task[object]] = set()
        # A connection that is only being made cannot be judged, and does not make room for another. They stay few.
        self._at_once = max(1, min(_MOST_AT_ONCE, connections.limits.most // 4))
        self._resting: asyncio.TimerHandle | None = None
        self._flood = Flood()

    def start(self) -> None:
        """Accept from now on."""
        self._resting = None
        self._loop.add_reader(self._listener, self._accept)

    def close(self) -> None:
        """Accept nothing more. The listening socket is not ours to close."""
        if self._resting is not None:
            self._resting.cancel()
        self._loop.remove_reader(self._listener)

    def _accept(self) -> None:
        for _ in range(self._at_once - len(self._beginning)):
            try:
                connection, address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as problem:
                self._rest(problem)
                return
            self._begin(connection, str(address[0]))

    def _begin(self, connection: socket.socket, address: str) -> None:
        connection.setblocking(False)
        if not self._connections.make_room(address):
            self._turn_away(connection, address)
            return
        protocol = self._protocol(address)
        task = self._loop.create_task(self._connect(connection, protocol))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    async def _connect(self, connection: socket.socket, protocol: asyncio.BaseProtocol) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: protocol, connection)
        except OSError as problem:
            # It was gone before it began.
            _log.debug("connection lost at its start", problem=str(problem))
            connection.close()

    def _turn_away(self, connection: socket.socket, address: str) -> None:
        if (left_out := self._flood.admits("full")) is not None:
            _log.warning("connection turned away: all are in use", client=address, left_out=left_out)
        try:
            connection.send(_FULL)
        except OSError as problem:
            _log.debug("connection turned away without an answer", problem=str(problem))
        connection.close()

    def _rest(self, problem: OSError) -> None:
        """Out of descriptors or memory: make room and try again in a moment. The connections wait in the kernel."""
        closed = self._connections.close_least_useful()
        if (left_out := self._flood.admits("resources")) is not None:
            _log.warning("no connection can be accepted", problem=str(problem), closed=closed, left_out=left_out)
        self._loop.remove_reader(self._listener)
        self._resting = self._loop.call_later(_PAUSE, self.start)
