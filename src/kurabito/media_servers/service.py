"""What a program asks of the media servers: add, change, test, remove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kurabito.db import Connection, Database
from kurabito.http import Outbound
from kurabito.http.errors import OutboundError
from kurabito.logs import mask_text
from kurabito.media_servers import store
from kurabito.media_servers.clients import client_of
from kurabito.media_servers.errors import MediaServerError
from kurabito.media_servers.model import MediaServerSettings, StoredMediaServer


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaServerTest:
    """What came of asking a media server whether it hears us."""

    server: StoredMediaServer
    answered_as: str | None = None
    """What it calls itself."""
    error: OutboundError | MediaServerError | None = None


class MediaServers:
    """The media servers of one database."""

    def __init__(self, database: Database, outbound: Outbound) -> None:
        self._database = database
        self._outbound = outbound

    async def everything(self) -> list[StoredMediaServer]:
        """Every server, in the order in which they were added."""
        return await self._database.read(store.everything)

    async def add(self, settings: MediaServerSettings) -> StoredMediaServer:
        """Add a server; raises InvalidInput or MediaServerConflict."""
        return await self._database.write(lambda conn: store.add(conn, settings))

    async def change(self, server_id: int, changes: Mapping[str, Any]) -> StoredMediaServer:
        """Change a server; fields of `MediaServerSettings`, and what is not named stays. Another address needs its token again."""
        return await self._database.write(lambda conn: store.change(conn, server_id, dict(changes)))

    async def remove(self, server_id: int) -> None:
        """Forget a server; raises MediaServerNotFound."""
        await self._database.write(lambda conn: store.remove(conn, server_id))

    async def test(self, server_id: int) -> MediaServerTest:
        """Ask a server whether it hears us and takes the token; raises MediaServerNotFound."""
        server = await self._database.read(lambda conn: store.find(conn, server_id))
        found: str | None = None
        problem: OutboundError | MediaServerError | None = None
        try:
            found = await client_of(self._outbound, server.settings).test()
        except (OutboundError, MediaServerError) as error:
            problem = error

        def note(conn: Connection) -> StoredMediaServer:
            if problem is None:
                store.note_success(conn, server_id)
            else:
                store.note_failure(conn, server_id, problem.code, mask_text(str(problem)))
            return store.find(conn, server_id)

        return MediaServerTest(server=await self._database.write(note), answered_as=found, error=problem)
