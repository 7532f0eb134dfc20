"""How much a request may bring, and how long it may take to bring it."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from kurabito.clock import SECOND, Clock
from kurabito.errors import KurabitoError, PayloadTooLarge
from kurabito.site.errors import BodyCutShort, BodyTooSlow

_LINGER: Final = 2.0


class BodyLimit(NamedTuple):
    """What a request may bring."""

    largest: int = 2 << 20
    seconds: float = 30.0


class IncomingBody:
    """The body of one request on its way to the site. It ends when it is too large or too slow."""

    def __init__(self, scope: Scope, receive: Receive, limit: BodyLimit, clock: Clock) -> None:
        headers = Headers(scope=scope)
        self._receive = receive
        self._limit = limit
        self._clock = clock
        self._deadline = clock.now() + round(limit.seconds * SECOND)
        self._announced = headers.get("content-length", "0")
        self._read = 0
        self.is_whole = self._announced == "0" and "transfer-encoding" not in headers
        """Whether nothing of it is still to come."""
        self.refusal: KurabitoError | None = None
        """Why it was not read to its end."""

    def check(self) -> None:
        """Refuse a body that announces itself as too large, before anything of it is read."""
        # The server has made sure that it is a number.
        if int(self._announced) > self._limit.largest:
            raise self._too_large()

    async def receive(self) -> Message:
        """The next piece. After the last one this waits for the client to leave, for as long as that takes."""
        if self.is_whole and self.refusal is None:
            return await self._receive()
        if self.refusal is None:
            message = await self._next(self._deadline)
            self.refusal = self._problem_with(message)
            if message is not None and self.refusal is None:
                return message
        assert self.refusal is not None
        raise self.refusal

    async def discard(self) -> None:
        """Read on for a moment. A client that is still sending never sees its answer when it is hung up on."""
        until = self._clock.now() + round(_LINGER * SECOND)
        while not self.is_whole:
            message = await self._next(until)
            if message is None or message["type"] != "http.request":
                return

    async def _next(self, until: int) -> Message | None:
        """The next piece; None when it does not come in time."""
        arrived = asyncio.Event()
        piece = asyncio.ensure_future(self._receive())
        piece.add_done_callback(lambda _: arrived.set())
        try:
            if not await self._clock.wait(arrived, (until - self._clock.now()) / SECOND):
                return None
            message = piece.result()
        finally:
            piece.cancel()
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            self.is_whole = not message.get("more_body", False)
        return message

    def _problem_with(self, message: Message | None) -> KurabitoError | None:
        if message is not None and message["type"] == "http.disconnect" and not self.is_whole:
            return BodyCutShort("the client left before the whole body had arrived")
        if message is None:
            seconds = f"{self._limit.seconds:g} s"
            return BodyTooSlow(f"the body did not arrive within {seconds}; send it again, over a better connection")
        return self._too_large() if self._read > self._limit.largest else None

    def _too_large(self) -> PayloadTooLarge:
        return PayloadTooLarge("body", f"may have at most {self._limit.largest:,} bytes here")
