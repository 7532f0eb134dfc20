"""A small server for the demo: it answers on this machine alone, with what was made up for it."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from typing import Final, NamedTuple

_PATIENCE: Final = 10.0

_BODY: Final = re.compile(rb"(?i)content-length: (\d{1,6})\r\n")


class StandAnswer(NamedTuple):
    """What is sent for a path."""

    content_type: str
    body: bytes


class Stand:
    """Serves on a free port while the demo runs. The port is known before anything is served."""

    def __init__(self, answer: Callable[[str], StandAnswer | None]) -> None:
        """`answer` is given what a request asks for, its query included; None is what is not there."""
        self._find = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    async def open(self) -> None:
        """Begin to serve."""
        self._server = await asyncio.start_server(self._answer, sock=self._listener)

    async def close(self) -> None:
        """Serve no longer."""
        if self._server is None:
            self._listener.close()
        else:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request and one response per connection."""
        try:
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                # A connection that is closed before its body was read takes the answer with it.
                if body := _BODY.search(head):
                    await reader.readexactly(int(body[1]))
            found = self._find(head.split(b" ", 2)[1].decode("latin-1"))
            status, sent = ("404 Not Found", StandAnswer("text/plain", b"")) if found is None else ("200 OK", found)
            fields = f"Content-Type: {sent.content_type}\r\nContent-Length: {len(sent.body)}\r\nConnection: close"
            writer.write(f"HTTP/1.1 {status}\r\n{fields}\r\n\r\n".encode() + sent.body)
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, OSError, IndexError):
            # Whatever that was, it was no request.
            pass
        finally:
            writer.close()
