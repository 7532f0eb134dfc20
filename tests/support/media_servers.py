"""Media servers on a server of the test's own, in the wire formats of Jellyfin, Emby, Plex and Kodi."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "0123456789abcdef"
LOGIN = "kodi:secret"
_LOGINS = {
    "authorization": (f'MediaBrowser Token="{TOKEN}"', "Basic " + base64.b64encode(LOGIN.encode()).decode()),
    "x-emby-token": (TOKEN,),
    "x-plex-token": (TOKEN,),
}
Answer = tuple[str, Any]
OK = "200 OK"


@dataclass
class MediaServerStandIn:
    """Answers as the four programs do; what it was told is kept. `status` makes every call fail with it."""

    places: tuple[str, ...] = ("/media",)
    """The folders of the one library of Plex."""
    port: int = 0
    status: str | None = None
    is_silent: bool = False
    told: list[str] = field(default_factory=list)
    """The folders, in the order in which they came."""
    calls: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        parts = urlsplit(target)
        if self.status is not None:
            return self.status, "an error page"
        if parts.path == "/hook":
            return self._hook(json.loads(body))
        if not any(headers.get(name) in values for name, values in _LOGINS.items()):
            return "401 Unauthorized", None
        match method, parts.path:
            case "GET", "/System/Info":
                return OK, {"ServerName": "Living room", "Version": "10.10.7", "Id": "1"}
            case "POST", "/Library/Media/Updated":
                self.told += [one["Path"] for one in json.loads(body)["Updates"]]
                return "204 No Content", None
            case "GET", "/library/sections":
                places = [{"id": number, "path": place} for number, place in enumerate(self.places, start=1)]
                shows = {"key": "2", "type": "show", "title": "Anime", "Location": places}
                films = {"key": "1", "type": "movie", "title": "Films", "Location": [{"id": 9, "path": "/films"}]}
                return OK, {"MediaContainer": {"size": 2, "Directory": [films, shows]}}
            case "GET", "/":
                return OK, {"MediaContainer": {"friendlyName": "Living room", "version": "1.41"}}
            case "GET", "/library/sections/2/refresh":
                self.told += [value for name, value in parse_qsl(parts.query) if name == "path"]
                return OK, None
            case "POST", "/jsonrpc":
                return OK, self._rpc(json.loads(body))
        return "404 Not Found", None

    def _hook(self, sent: dict[str, Any]) -> Answer:
        self.told += sent["folders"]
        return "202 Accepted", None

    def _rpc(self, call: dict[str, Any]) -> dict[str, Any]:
        reply = {"id": call["id"], "jsonrpc": "2.0"}
        match call["method"]:
            case "JSONRPC.Ping":
                return {**reply, "result": "pong"}
            case "Application.GetProperties":
                return {**reply, "result": {"name": "Kodi"}}
            case "VideoLibrary.Scan" if call["params"]["directory"].startswith("/refused"):
                return {**reply, "error": {"code": -32602, "message": "Invalid params."}}
            case _:
                self.told.append(call["params"]["directory"])
                return {**reply, "result": "OK"}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode("latin-1").split("\r\n")[:-2]
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                method, target, _ = first.split(" ")
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.calls += 1
                if self.is_silent:
                    await reader.read()
                    return
                status, answer = self.answer(method, target, headers, body)
                content = b"" if answer is None else json.dumps(answer).encode()
                writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {len(content)}\r\n\r\n".encode() + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def standing_in() -> AsyncIterator[MediaServerStandIn]:
    """The server, while it is needed."""
    stand_in = MediaServerStandIn()
    server = await asyncio.start_server(stand_in.serve, "127.0.0.1", 0)
    stand_in.port = server.sockets[0].getsockname()[1]
    try:
        yield stand_in
    finally:
        server.close()
