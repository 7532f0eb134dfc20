"""The downloader inside `serve`: for users who have no other, so all others come before it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from kurabito.app.compose.downloads import DOWNLOADERS, download_root
from kurabito.app.state import StateLock, prepare_state
from kurabito.db import Database
from kurabito.downloads.announcer import Credentials
from kurabito.downloads.clients.embedded import EMBEDDED_TYPES, EmbeddedClient, EmbeddedOptions
from kurabito.downloads.dispatch.in_process import left_out
from kurabito.downloads.service import DownloaderService
from kurabito.http import Outbound
from kurabito.modules import services
from kurabito.modules.errors import ModuleConflict
from kurabito.modules.identities import RESERVED
from kurabito.modules.registration import PRIORITIES, Services
from kurabito.modules.services import Capabilities, Registration, ServiceType
from kurabito.settings import Settings

_KIB: Final = 1024
NAME: Final = RESERVED
"""What it is called among the services. Not the client's name: an embedded one may run on another machine too."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """The built-in downloader of one state folder."""

    credentials: Credentials
    service: DownloaderService | None
    """None when it was left out."""
    client: EmbeddedClient | None = None

    def find(self, instance_id: str) -> DownloaderService | None:
        """This one, if it has that id; raises Unreachable where it was left out: what it has waits for it."""
        if instance_id != self.credentials.instance_id:
            return None
        if self.service is None:
            raise left_out()
        return self.service

    @property
    def trouble(self) -> str | None:
        """Why it does not look after what it has."""
        return None if self.client is None else self.client.trouble

    async def adjust(self, settings: Settings) -> None:
        """Behave as the settings want it now."""
        if self.client is not None:
            await self.client.adjust(embedded_options(settings))

    async def register(self, known: Services, database: Database, url: str) -> None:
        """Make it a service like others, which its user can switch off. `url` is where this process is found.

        One that was left out is offered nothing more, and what it has stays with it.
        """
        if self.service is None and not await self._is_known(database):
            return
        place = urlsplit(url)
        assert place.hostname is not None, "the URL is that of a listener"
        assert place.port is not None, "the URL is that of a listener"
        try:
            await known.register(
                Registration(
                    service_type=ServiceType.DOWNLOADER,
                    service_name=NAME,
                    host=place.hostname,
                    port=place.port,
                    instance_id=self.credentials.instance_id,
                    token=self.credentials.token,
                    capabilities=Capabilities(supported_download_types=EMBEDDED_TYPES if self.service else ()),
                    priority=PRIORITIES[0],
                )
            )
        except ModuleConflict as conflict:
            raise ModuleConflict(f"{conflict}; or start with --no-downloader") from None

    async def _is_known(self, database: Database) -> bool:
        found = await database.read(lambda conn: services.named(conn, ServiceType.DOWNLOADER, NAME))
        return found is not None and found.registration.instance_id == self.credentials.instance_id


@asynccontextmanager
async def open_built_in(settings: Settings, outbound: Outbound, *, wanted: bool) -> AsyncIterator[BuiltIn]:
    """The built-in downloader, which goes on with what it has, and loads libtorrent at the first torrent."""
    folder = settings.state / DOWNLOADERS / NAME
    for made in (folder.parent, folder):
        prepare_state(made)
    with StateLock(folder):
        credentials = Credentials.kept_in(folder / "credentials.json")
        if not wanted:
            yield BuiltIn(credentials, None)
            return
        async with EmbeddedClient(folder, outbound, embedded_options(settings)) as client:
            service = DownloaderService(client, download_root=str(download_root(settings)))
            yield BuiltIn(credentials, service, client)


def embedded_options(settings: Settings) -> EmbeddedOptions:
    """How the embedded downloader behaves, as the settings want it."""
    return EmbeddedOptions(
        port=settings.torrent_port,
        interface=settings.torrent_interface,
        finds_peers=settings.torrent_dht,
        ratio=settings.torrent_ratio,
        seed_seconds=settings.torrent_seed_hours * 3600,
        download_rate=(settings.torrent_download_limit or 0) * _KIB,
        upload_rate=(settings.torrent_upload_limit or 0) * _KIB,
        torrents_at_once=settings.torrent_parallel,
        files_at_once=settings.file_parallel,
    )
