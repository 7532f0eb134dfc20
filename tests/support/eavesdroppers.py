"""A web server of the test's own that keeps every byte it is sent, and answers with an empty object."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"


@dataclass
class Eavesdropper:
    """What it heard, and where it listens."""

    url: str = ""
    heard: bytearray = field(default_factory=bytearray)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heard += head
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    self.heard += await reader.readexactly(int(line.partition(b":")[2]))
            writer.write(_ANSWER)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def eavesdropping() -> AsyncIterator[Eavesdropper]:
    """The server, while it is needed."""
    listener = Eavesdropper()
    server = await asyncio.start_server(listener.serve, "127.0.0.1", 0)
    listener.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield listener
    finally:
        server.close()
