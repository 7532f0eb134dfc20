"""A web server of the test's own that takes messages: as a webhook, and as what Apprise's `json://` and `ntfy://` speak to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class DestinationStandIn:
    """What it was sent is kept. `status` makes every call fail with it; `location` sends callers elsewhere."""

    port: int = 0
    status: str = "200 OK"
    location: str = ""
    sent: list[dict[str, Any]] = field(default_factory=list)
    bearers: list[str] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
            }
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.sent.append(json.loads(body))
            self.bearers.append(headers.get("authorization", ""))
            elsewhere = f"location: {self.location}\r\n" if self.location else ""
            writer.write(
                f"HTTP/1.1 {self.status}\r\n{elsewhere}content-length: 0\r\nconnection: close\r\n\r\n".encode()
            )
            await writer.drain()
            self.came.set()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def taking_messages(host: str = "127.0.0.1") -> AsyncIterator[DestinationStandIn]:
    """The server, while it is needed."""
    stand_in = DestinationStandIn()
    server = await asyncio.start_server(stand_in.serve, host, 0)
    stand_in.port = server.sockets[0].getsockname()[1]
    try:
        yield stand_in
    finally:
        server.close()
