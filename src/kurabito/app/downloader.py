"""A downloader service, which is a program of its own, until it is told to stop."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from kurabito.api.downloads.downloader import create_downloader_api
from kurabito.app.built_in_downloader import embedded_options
from kurabito.app.compose.feeds import open_outbound
from kurabito.app.listener import address_of, limits_of, listen
from kurabito.app.server import Server, run_together
from kurabito.app.state import StateLock, prepare_state
from kurabito.downloads.announcer import Announcement, Announcer, Credentials, core_host
from kurabito.downloads.clients.factory import ClientName, open_client
from kurabito.downloads.clients.marks import mark_of
from kurabito.downloads.service import DownloaderService
from kurabito.errors import ConfigError
from kurabito.logs import get_logger
from kurabito.modules.identities import RESERVED, is_reserved
from kurabito.settings import Settings

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_log = get_logger(__name__)


async def run_downloader(
    settings: Settings,
    client_name: ClientName,
    *,
    url: str | None,
    core: str,
    name: str,
    username: str,
    password: str,
    on_listening: Callable[[str], None],
) -> None:
    """Serve one client until Ctrl-C or SIGTERM; `on_listening` is told the address once requests are answered."""
    if not _NAME.fullmatch(name):
        raise ConfigError("name must be of letters, digits, dots and dashes, like nas-qbittorrent")
    if is_reserved(name):
        raise ConfigError(f"name cannot be {RESERVED}: the downloader inside `kurabito serve` has it; choose another")
    host_of_core = core_host(core)
    folder = settings.state / "downloaders" / name
    # One after the other: a folder that is only made on the way to another is open to all.
    for made in (settings.state, folder.parent, folder):
        prepare_state(made, umask=settings.umask)
    with StateLock(folder), listen(settings.host, settings.port) as listener:
        credentials = Credentials.kept_in(folder / "credentials.json")
        async with (
            open_outbound(settings) as outbound,
            open_client(
                client_name,
                url,
                folder,
                outbound,
                embedded_options(settings),
                mark_of(credentials.instance_id),
            ) as opened,
        ):
            service = DownloaderService(
                opened.client,
                username=username,
                password=password,
                download_root=_text(settings.download_root),
            )
            announcement = Announcement(
                name=name,
                host=_reached_at(listener, host_of_core),
                port=listener.getsockname()[1],
                download_types=opened.download_types,
                credentials=credentials,
            )
            key = settings.api_key.get_secret_value() if settings.api_key else None
            announcer = Announcer(outbound, core, key, announcement)
            site = create_downloader_api(service, credentials.token)
            server = Server(
                site,
                limits_of(settings),
                on_started=lambda: on_listening(address_of(listener)),
                on_stopping=lambda: None,
            )
            _log.info("serving a downloader", client=client_name.value, name=name, core=core)
            await run_together(server, listener, [announcer])
    _log.info("stopped")


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _reached_at(listener: socket.socket, core: str) -> str:
    """The address under which the core reaches us: where we listen, or that of this machine on the way to the core."""
    host = str(listener.getsockname()[0])
    if not ipaddress.ip_address(host).is_unspecified:
        return host
    with socket.socket(listener.family, socket.SOCK_DGRAM) as way, suppress(OSError):
        # Nothing is sent: the machine only says which of its addresses it would use.
        way.connect((core, 9))
        return str(way.getsockname()[0])
    return socket.gethostname()
