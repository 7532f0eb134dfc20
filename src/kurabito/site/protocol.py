"""HTTP/1.1 on one connection: uvicorn's, with a limit to how long a client may take over each step."""

from __future__ import annotations

import asyncio
import fcntl
import json
import socket
import sys
import termios
from http import HTTPStatus
from typing import Any, Final

from starlette.types import Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from kurabito.logs import Flood, get_logger
from kurabito.site.addresses import one_client
from kurabito.site.connections import ConnectionPhase, Connections
from kurabito.site.framing import LARGEST_HEAD, BadRequest, StrictConnection

_LINGER: Final = 2.0
_STREAM: Final = b"text/event-stream"
_BAD: Final = "the request is no HTTP that can be understood; see that the client speaks HTTP/1.1 here"
_MEANINGS: Final = {
    431: "the head of the request is too large; send fewer headers or cookies",
    501: "a body may be chunked, and nothing else of Transfer-Encoding is known here",
}
_SLOW: Final = "the head of the request did not arrive in time; send it again, over a better connection"

_log = get_logger(__name__)
_flood = Flood()


class GuardedProtocol(H11Protocol):
    """One connection. It is counted in `connections` from its making to its end.

    What the client does not finish in time is refused, and what it does not read is thrown away. The body of a request is
    left to the application, which knows how large and slow it may be.
    """

    transport: asyncio.Transport | None  # type: ignore[assignment]  # none until the connection is made

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        loop: asyncio.AbstractEventLoop,
        connections: Connections,
        address: str,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self.conn = StrictConnection()
        # Not by uvicorn's settings, which know whole seconds only.
        self.timeout_keep_alive: float = connections.limits.keep_alive_seconds  # type: ignore[assignment]
        self.client_key = one_client(address)
        self.is_trusted = connections.is_trusted(address)
        self.since = loop.time()
        self._connections = connections
        self._site = config.loaded_app
        self.app = self._noticing_streams
        self._is_idle = False
        self._is_refused = False
        self._is_dropped = False
        self._streams = False
        self._unread = 0
        self._unread_since = self.since
        connections.add(self)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        if self._is_dropped:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_idle:
            self._is_idle = False
            self.since = self.loop.time()
        # In pieces, because h11 looks how large a head is only when its end did not arrive yet.
        for begin in range(0, len(data), LARGEST_HEAD):
            if self._is_refused:
                return
            super().data_received(data[begin : begin + LARGEST_HEAD])

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:
            self.since = self.loop.time()
            self._is_idle = not self.conn.trailing_data[0]

    def shutdown(self) -> None:
        if self._is_refused:
            self.drop()
        else:
            super().shutdown()

    def phase(self) -> ConnectionPhase:
        """What the connection waits for now."""
        if self.transport is None:
            return ConnectionPhase.BUSY
        if self._waits_for_head:
            if self.transport.get_write_buffer_size():
                return ConnectionPhase.UNREAD
            return ConnectionPhase.IDLE if self._is_idle else ConnectionPhase.HALF_SENT
        if self.cycle.more_body:
            return ConnectionPhase.HALF_SENT
        if self.flow.write_paused:
            return ConnectionPhase.UNREAD
        return ConnectionPhase.STREAM if self._streams else ConnectionPhase.BUSY

    def drop(self) -> None:
        """Close it at once, whatever is still to be sent; one that is only being made, as soon as it is made."""
        if self.transport is None:
            self._is_dropped = True
        else:
            self.transport.abort()

    def check_time(self, now: float) -> None:
        """Close it if the client takes too long to send a head, or to read."""
        if self.transport is None:
            return
        if self._is_refused:
            if now - self.since > _LINGER:
                self.drop()
        elif self.transport.is_closing() or not self._waits_for_head or self._is_idle:
            self._check_reading(self.transport, now)
        elif now - self.since > self._connections.limits.header_seconds:
            self._give_up_on_head(self.transport)

    def send_400_response(self, msg: str) -> None:
        """Refuse what h11 could not read; uvicorn calls this."""
        problem = sys.exception()
        status = getattr(problem, "error_status_hint", 400)
        # What h11 says repeats the request, which has no place in a log.
        message = str(problem) if isinstance(problem, BadRequest) else _MEANINGS.get(status, _BAD)
        self._refuse(HTTPStatus(status), "bad_request", message)

    @property
    def _waits_for_head(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _should_upgrade(self) -> bool:
        # Without a word in the log: any client can ask, as often as it likes.
        return False

    def _give_up_on_head(self, transport: asyncio.Transport) -> None:
        if self.conn.trailing_data[0]:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "head_too_slow", _SLOW)
        else:
            # Browsers connect ahead of need. One that sent nothing asked nothing, and would show the answer to its user.
            transport.close()

    def _refuse(self, status: HTTPStatus, code: str, message: str) -> None:
        """Answer for the application, and read no more."""
        assert self.transport is not None
        self._is_refused = True
        self.since = self.loop.time()
        self._unset_keepalive_if_required()
        if (left_out := _flood.admits(code)) is not None:
            _log.info("connection refused", why=message, status=int(status), client=self.client_key, left_out=left_out)
        if not self._waits_for_head:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                # Half an answer is on its way, and a second one would be taken for its rest.
                self.transport.close()
                return
        self.transport.write(plain_answer(status, code, message))
        # The client may still be sending. Hung up on, it would never see its answer; `check_time` ends it.
        self.flow.resume_reading()
        try:
            self.transport.write_eof()
        except OSError:
            # It left before its answer.
            self.drop()

    def _check_reading(self, transport: asyncio.Transport, now: float) -> None:
        """Abort a response that its client has not read for too long."""
        unread = transport.get_write_buffer_size()
        if unread:
            unread += _in_kernel(transport)
        if not unread or unread < self._unread or not self._unread:
            self._unread_since = now
        elif now - self._unread_since > self._connections.limits.unread_seconds:
            self.drop()
        self._unread = unread

    async def _noticing_streams(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application, watched for an answer that never ends."""
        self._streams = False

        async def noticing(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._streams = any(
                    name == b"content-type" and value.startswith(_STREAM) for name, value in message["headers"]
                )
            await send(message)

        await self._site(scope, receive, noticing)


def plain_answer(status: HTTPStatus, code: str, message: str, *headers: str) -> bytes:
    """A whole answer, in the shape of every error, after which the connection ends."""
    body = json.dumps({"error": {"code": code, "message": message}}).encode()
    head = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
        *headers,
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


def _in_kernel(transport: asyncio.Transport) -> int:
    """How many bytes the kernel has of us that the client did not take yet."""
    of_it: socket.socket | None = transport.get_extra_info("socket")
    if of_it is None:
        return 0
    try:
        return int.from_bytes(fcntl.ioctl(of_it.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    except OSError:
        # Not every system tells; then only what it has not taken from us is looked at.
        return 0
