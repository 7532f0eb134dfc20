"""From a name to a client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.catalog.download_types import DownloadType
from kurabito.downloads.client import DownloaderClient
from kurabito.downloads.clients.aria2 import ARIA2_TYPES, Aria2Client
from kurabito.downloads.clients.embedded import EMBEDDED_TYPES, EmbeddedClient, EmbeddedOptions
from kurabito.downloads.clients.marks import MARK
from kurabito.downloads.clients.native_ids import NativeIds
from kurabito.downloads.clients.qbittorrent import QBITTORRENT_TYPES, QBittorrentClient
from kurabito.downloads.clients.transmission import TRANSMISSION_TYPES, TransmissionClient
from kurabito.downloads.clients.transport import Calls
from kurabito.http import Outbound


class ClientName(StrEnum):
    """The programs that we can speak to."""

    QBITTORRENT = "qbittorrent"
    TRANSMISSION = "transmission"
    ARIA2 = "aria2"
    EMBEDDED = "embedded"


_USUAL_URLS: Final = {
    ClientName.QBITTORRENT: "http://127.0.0.1:8080",
    ClientName.TRANSMISSION: "http://127.0.0.1:9091",
    ClientName.ARIA2: "http://127.0.0.1:6800",
    ClientName.EMBEDDED: "",
}


class OpenClient(NamedTuple):
    """A client, and what it can download."""

    client: DownloaderClient
    download_types: tuple[DownloadType, ...]


@asynccontextmanager
async def open_client(
    name: ClientName,
    url: str | None,
    folder: Path,
    outbound: Outbound,
    options: EmbeddedOptions | None = None,
    mark: str = MARK,
) -> AsyncIterator[OpenClient]:
    """The client for a program at `url`, which keeps what it must not forget in `folder` and marks what it adds."""
    async with AsyncExitStack() as stack:
        if name is ClientName.EMBEDDED:
            embedded = await stack.enter_async_context(EmbeddedClient(folder, outbound, options))
            yield OpenClient(embedded, EMBEDDED_TYPES)
            return
        calls = await stack.enter_async_context(Calls(name.value, url or _USUAL_URLS[name]))
        if name is ClientName.QBITTORRENT:
            yield OpenClient(QBittorrentClient(calls, outbound, mark), QBITTORRENT_TYPES)
            return
        ids = await stack.enter_async_context(NativeIds(folder / "native-ids.db"))
        match name:
            case ClientName.TRANSMISSION:
                yield OpenClient(TransmissionClient(calls, outbound, ids, mark), TRANSMISSION_TYPES)
            case ClientName.ARIA2:
                yield OpenClient(Aria2Client(calls, outbound, ids), ARIA2_TYPES)
