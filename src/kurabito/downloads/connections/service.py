"""Adds, changes, tests and removes connections, and has their clients open."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from kurabito.db import Database
from kurabito.downloads.clients.factory import ClientName, OpenClient, open_client
from kurabito.downloads.clients.marks import mark_of
from kurabito.downloads.connections import store
from kurabito.downloads.connections.model import ConnectionReason, ConnectionSettings, DownloaderConnection
from kurabito.downloads.errors import DownloaderError, DownloaderLoginRefused
from kurabito.downloads.service import DownloaderService
from kurabito.errors import InvalidInput, KurabitoError
from kurabito.http import Outbound
from kurabito.http.errors import Unreachable
from kurabito.logs import get_logger
from kurabito.modules import services
from kurabito.modules.errors import ModuleConflict
from kurabito.modules.registration import Services
from kurabito.modules.services import Capabilities, Registration, Service, ServiceType
from kurabito.reasons import Reason

_PORTS: Final = {"http": 80, "https": 443}

_log = get_logger(__name__)


class ClientConnections:
    """The download clients that were typed in. Those that are open are asked by this process."""

    def __init__(self, database: Database, outbound: Outbound, folder: Path) -> None:
        self._database = database
        self._outbound = outbound
        self._folder = folder
        self._known: set[str] = set()
        self._open: dict[str, tuple[DownloaderService, AsyncExitStack]] = {}

    def find(self, instance_id: str) -> DownloaderService | None:
        """The downloader of this instance, None if it is not one of these."""
        if instance_id in self._open:
            return self._open[instance_id][0]
        if instance_id in self._known:
            raise Unreachable("the connection to this downloader is not open; see the log, and save it again")
        return None

    @asynccontextmanager
    async def running(self, registered: Services) -> AsyncIterator[None]:
        """Have every connection open as long as the block runs."""
        try:
            for one in await self.everything():
                self._known.add(one.instance_id)
                try:
                    await self._begin(one, registered)
                except (KurabitoError, OSError) as problem:
                    _log.warning("downloader not connected", name=one.settings.name, problem=str(problem))
            yield
        finally:
            for instance_id in list(self._open):
                await self._end(instance_id)

    async def everything(self) -> list[DownloaderConnection]:
        """Every connection."""
        return await self._database.read(store.everything)

    async def of(self, service: Service) -> DownloaderConnection | None:
        """The connection behind a service; None if it registered itself, or is built in."""
        instance_id = service.registration.instance_id
        return await self._database.read(lambda conn: store.of_instance(conn, instance_id))

    async def add(self, settings: ConnectionSettings, registered: Services, *, untested: bool = False) -> None:
        """Connect a client, once it answered; raises InvalidInput that names the field."""
        settings.check()
        await self._refuse_name(settings.name)
        if not untested:
            await self.test(settings)
        stored = await self._database.write(lambda conn: store.add(conn, settings))
        self._known.add(stored.instance_id)
        try:
            await self._begin(stored, registered)
        except (KurabitoError, OSError) as problem:
            # What cannot begin leaves no row behind: it would be on no page, and its name would be taken.
            await self._database.write(lambda conn: store.remove(conn, stored.instance_id))
            self._known.discard(stored.instance_id)
            if isinstance(problem, ModuleConflict):
                raise InvalidInput("name", str(problem), Reason(ConnectionReason.NAME_TAKEN)) from None
            raise
        _log.info("downloader connected", name=settings.name, client=settings.client.value)

    async def change(
        self, known: DownloaderConnection, wanted: ConnectionSettings, registered: Services, *, untested: bool = False
    ) -> None:
        """Reach a client in another way. Its name stays; an empty password is the one that is stored for this address."""
        settings = known.changed(wanted)
        if not untested:
            await self.test(settings)
        await self._database.write(lambda conn: store.change(conn, known.instance_id, settings))
        await self._end(known.instance_id)
        await self._begin(replace(known, settings=settings), registered)

    async def remove(self, known: DownloaderConnection) -> None:
        """Forget a client; what it downloads stays with it."""
        await self._database.write(lambda conn: store.remove(conn, known.instance_id))
        await self._end(known.instance_id)
        self._known.discard(known.instance_id)

    async def test(self, settings: ConnectionSettings) -> None:
        """Log in and ask for something small; raises InvalidInput that names the field which is wrong."""
        settings.check()
        with tempfile.TemporaryDirectory() as folder:
            async with open_client(settings.client, settings.url, Path(folder), self._outbound) as opened:
                try:
                    await _service_of(opened, settings).status([])
                except DownloaderLoginRefused as problem:
                    reason = (
                        ConnectionReason.LOGIN if settings.client is not ClientName.ARIA2 else ConnectionReason.SECRET
                    )
                    facts = {"client": settings.client.value}
                    raise InvalidInput("password", str(problem), Reason(reason, facts)) from None
                except DownloaderError as problem:
                    facts = {"client": settings.client.value, "text": str(problem)}
                    raise InvalidInput("url", str(problem), Reason(ConnectionReason.UNREACHABLE, facts)) from None

    async def _refuse_name(self, name: str) -> None:
        """Raises InvalidInput if a downloader has this name already, also one that registered itself."""
        found = await self._database.read(lambda conn: services.named(conn, ServiceType.DOWNLOADER, name))
        if found is not None:
            raise InvalidInput("name", "another downloader has this name", Reason(ConnectionReason.NAME_TAKEN))

    async def _begin(self, one: DownloaderConnection, registered: Services) -> None:
        settings, folder = one.settings, self._folder / one.settings.name
        # What is kept there is for its owner alone; the folder above is made with the state.
        self._folder.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        stack = AsyncExitStack()
        opened = await stack.enter_async_context(
            open_client(settings.client, settings.url, folder, self._outbound, mark=mark_of(one.instance_id))
        )
        self._open[one.instance_id] = (_service_of(opened, settings), stack)
        place = urlsplit(settings.url)
        try:
            await registered.register(
                Registration(
                    service_type=ServiceType.DOWNLOADER,
                    service_name=settings.name,
                    host=place.hostname or "",
                    port=place.port or _PORTS[place.scheme],
                    instance_id=one.instance_id,
                    token=one.token,
                    capabilities=Capabilities(supported_download_types=opened.download_types),
                )
            )
        except KurabitoError:
            await self._end(one.instance_id)
            raise

    async def _end(self, instance_id: str) -> None:
        if instance_id in self._open:
            _, stack = self._open.pop(instance_id)
            await stack.aclose()


def _service_of(opened: OpenClient, settings: ConnectionSettings) -> DownloaderService:
    return DownloaderService(opened.client, username=settings.username, password=settings.password)
