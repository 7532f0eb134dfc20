"""Which folders media servers are to hear of, and the task that tells them: once for each folder and burst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kurabito.clock import SECOND
from kurabito.db import Connection, Database
from kurabito.http import Outbound
from kurabito.http.errors import OutboundError
from kurabito.logs import get_logger, mask_text
from kurabito.media_servers import store
from kurabito.media_servers.clients import client_of
from kurabito.media_servers.errors import FolderUnknownThere, MediaServerError, MediaServerNotFound
from kurabito.media_servers.model import StoredMediaServer, as_server_sees
from kurabito.media_servers.store import FolderNotice
from kurabito.runtime import Exponential, PermanentError, Registry, Snooze, TaskContext
from kurabito.runtime.delegation import DelegatedTasks

TELL: Final = "media_servers.tell"
_QUIET: Final = 5.0
"""A season that arrives brings a file every moment; its folder is told once."""
_PATIENCE: Final = 60.0
"""What goes on for longer is told meanwhile."""
_ATTEMPTS: Final = 7
_RETRY: Final = Exponential(base=10.0, cap=600.0)
_AT_ONCE: Final = 100

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TellTask:
    """A media server that is to hear of folders."""

    server_id: int


class MediaServerNotices:
    """Tells media servers which folders changed."""

    def __init__(self, queue: DelegatedTasks, outbound: Outbound) -> None:
        self._queue = queue
        self._database: Database = queue.database
        self._outbound = outbound

    def join(self, registry: Registry) -> None:
        """Register the task."""
        registry.task(TELL, max_attempts=_ATTEMPTS, retry=_RETRY)(self.tell)

    def note_placed(self, conn: Connection, placement_ids: Sequence[int]) -> None:
        """Have every server hear of what these placements changed, in the transaction that notes them."""
        servers = store.enabled(conn)
        folders = store.changed_folders(conn, placement_ids) if servers else set()
        for server_id in servers:
            if folders and store.note_folders(conn, server_id, folders):
                self._enqueue(conn, TellTask(server_id))

    async def tell(self, task: TellTask, ctx: TaskContext) -> int:
        """Tell a server what it is to hear of; how many folders that were."""
        told = 0
        while True:
            try:
                server = await self._database.read(lambda conn: store.find(conn, task.server_id))
            except MediaServerNotFound:
                return told
            waiting = await self._database.read(lambda conn: store.notices(conn, task.server_id, _AT_ONCE))
            if not waiting:
                return told
            await self._wait_for_quiet(waiting)
            await self._tell(server, waiting, is_last=ctx.attempt >= _ATTEMPTS)
            told += len(waiting)
            if not await self._database.write(lambda conn, heard=waiting: store.forget(conn, task.server_id, heard)):  # type: ignore[misc]
                return told

    async def _wait_for_quiet(self, waiting: Sequence[FolderNotice]) -> None:
        now = await self._database.read(lambda conn: conn.now())
        newest = (now - max(one.noted_at for one in waiting)) / SECOND
        oldest = (now - min(one.noted_at for one in waiting)) / SECOND
        if newest < _QUIET and oldest < _PATIENCE:
            raise Snooze(_QUIET - newest)

    async def _tell(self, server: StoredMediaServer, waiting: Sequence[FolderNotice], *, is_last: bool) -> None:
        folders = [as_server_sees(one.folder, server.settings.path_maps) for one in waiting]
        try:
            await client_of(self._outbound, server.settings).tell(folders)
        except FolderUnknownThere as error:
            await self._fail(server, error, is_last=True)
            raise PermanentError(str(error)) from error
        except (OutboundError, MediaServerError) as error:
            await self._fail(server, error, is_last=is_last)
            raise
        await self._database.write(lambda conn: store.note_success(conn, server.id))
        _log.info("media server notified", server=server.id, folders=len(folders))

    async def _fail(self, server: StoredMediaServer, error: OutboundError | MediaServerError, *, is_last: bool) -> None:
        code, message = error.code, mask_text(str(error))

        def write(conn: Connection) -> None:
            store.note_failure(conn, server.id, code, message)
            if is_last:
                # The task ends here: what comes next begins with another one.
                store.forget_all(conn, server.id)

        await self._database.write(write)

    def _enqueue(self, conn: Connection, task: TellTask) -> None:
        conn.with_raw(lambda raw: self._queue.enqueue_in(raw, TELL, task, delay=_QUIET))
