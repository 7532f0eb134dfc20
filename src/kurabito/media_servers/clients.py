"""How each kind of media server is told that folders changed, and how it is asked whether it hears us."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any, Final, Protocol

from kurabito.http import Limits, Outbound, Reply
from kurabito.media_servers.errors import FolderUnknownThere, MediaServerRefused
from kurabito.media_servers.model import MediaServerKind, MediaServerSettings

# Its keeper named the host; where that would send us was not named, so nothing is followed. The task tries again.
_CALL: Final = Limits(redirects=0, attempts=1, seconds=20.0, connect_seconds=5.0, max_bytes=4 * 1024 * 1024)


class MediaServerClient(Protocol):
    """What is asked of a media server. Both raise OutboundError or MediaServerError."""

    async def tell(self, folders: Sequence[str]) -> None:
        """Have it look at these folders, named as it sees them."""
        ...

    async def test(self) -> str | None:
        """What it calls itself, if it hears us and takes the token."""
        ...


class _Calls:
    """Calls one server, at its own host only."""

    def __init__(self, outbound: Outbound, settings: MediaServerSettings, headers: Mapping[str, str]) -> None:
        self._outbound = outbound
        self._settings = settings
        self._headers = {"Accept": "application/json", **headers}

    async def send(self, method: str, path: str, body: Any = None, params: Mapping[str, str] | None = None) -> Reply:
        return await self._outbound.request(
            method,
            self._settings.url + path,
            json=body,
            params=params,
            headers=self._headers,
            trusted=[self._settings.host],
            limits=_CALL,
        )


class EmbyClient:
    """Jellyfin and Emby: one call for all folders."""

    def __init__(self, outbound: Outbound, settings: MediaServerSettings) -> None:
        token = settings.token or ""
        is_emby = settings.kind is MediaServerKind.EMBY
        # Jellyfin drops the header that Emby has.
        own = {"X-Emby-Token": token} if is_emby else {"Authorization": f'MediaBrowser Token="{token}"'}
        self._calls = _Calls(outbound, settings, own)

    async def tell(self, folders: Sequence[str]) -> None:
        updates = [{"Path": folder, "UpdateType": "Modified"} for folder in folders]
        await self._calls.send("POST", "/Library/Media/Updated", {"Updates": updates})

    async def test(self) -> str | None:
        found = (await self._calls.send("GET", "/System/Info")).json()
        return _text(found, "ServerName")


class PlexClient:
    """Plex: the library that has a folder looks at that folder alone."""

    def __init__(self, outbound: Outbound, settings: MediaServerSettings) -> None:
        self._calls = _Calls(outbound, settings, {"X-Plex-Token": settings.token or ""})

    async def tell(self, folders: Sequence[str]) -> None:
        sections = await self._sections()
        unknown = []
        for folder in folders:
            if (key := _section_of(folder, sections)) is None:
                unknown.append(folder)
            else:
                await self._calls.send("GET", f"/library/sections/{key}/refresh", params={"path": folder})
        if unknown:
            raise FolderUnknownThere(
                f"no library of Plex has the folder {unknown[0]}; add it there, or set a path mapping for this server"
            )

    async def test(self) -> str | None:
        await self._sections()
        found = (await self._calls.send("GET", "/")).json()
        return _text(found.get("MediaContainer"), "friendlyName") if isinstance(found, dict) else None

    async def _sections(self) -> list[tuple[str, str]]:
        """The folders of its libraries, each with the key of its library."""
        found = (await self._calls.send("GET", "/library/sections")).json()
        try:
            directories = found["MediaContainer"].get("Directory", [])
            return [(place["path"], str(one["key"])) for one in directories for place in one.get("Location", [])]
        except (KeyError, TypeError, AttributeError):
            raise MediaServerRefused("it did not list its libraries as Plex does; check the address") from None


class KodiClient:
    """Kodi: JSON-RPC, one call for each folder."""

    def __init__(self, outbound: Outbound, settings: MediaServerSettings) -> None:
        login = base64.b64encode((settings.token or "").encode()).decode()
        self._calls = _Calls(outbound, settings, {"Authorization": f"Basic {login}"} if settings.token else {})

    async def tell(self, folders: Sequence[str]) -> None:
        for folder in folders:
            # Without the slash Kodi takes it for a file.
            directory = folder.rstrip("/\\") + ("\\" if PureWindowsPath(folder).drive else "/")
            await self._call("VideoLibrary.Scan", {"directory": directory, "showdialogs": False})

    async def test(self) -> str | None:
        await self._call("JSONRPC.Ping", {})
        found = await self._call("Application.GetProperties", {"properties": ["name"]})
        return _text(found, "name")

    async def _call(self, method: str, params: Mapping[str, Any]) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        found = (await self._calls.send("POST", "/jsonrpc", body)).json()
        if not isinstance(found, dict) or "result" not in found:
            error = found.get("error") if isinstance(found, dict) else None
            raise MediaServerRefused(f"Kodi did not do {method}: {_text(error, 'message') or 'no result'}")
        return found["result"]


class WebhookClient:
    """Any other program: the folders as JSON, and any answer without an error will do."""

    def __init__(self, outbound: Outbound, settings: MediaServerSettings) -> None:
        own = {"Authorization": f"Bearer {settings.token}"} if settings.token else {}
        self._calls = _Calls(outbound, settings, own)

    async def tell(self, folders: Sequence[str]) -> None:
        await self._calls.send("POST", "", {"event": "folders_changed", "folders": list(folders)})

    async def test(self) -> str | None:
        await self._calls.send("POST", "", {"event": "test", "folders": []})
        return None


_CLIENTS: Final[Mapping[MediaServerKind, Callable[[Outbound, MediaServerSettings], MediaServerClient]]] = {
    MediaServerKind.JELLYFIN: EmbyClient,
    MediaServerKind.EMBY: EmbyClient,
    MediaServerKind.PLEX: PlexClient,
    MediaServerKind.KODI: KodiClient,
    MediaServerKind.WEBHOOK: WebhookClient,
}


def client_of(outbound: Outbound, settings: MediaServerSettings) -> MediaServerClient:
    """The way to tell a media server."""
    return _CLIENTS[settings.kind](outbound, settings)


def _section_of(folder: str, sections: Sequence[tuple[str, str]]) -> str | None:
    """The library whose folder is nearest above this one."""
    holding = [(place, key) for place, key in sections if _path(folder).is_relative_to(_path(place))]
    return max(holding, key=lambda one: len(one[0]))[1] if holding else None


def _path(path: str) -> PurePath:
    return PureWindowsPath(path) if PureWindowsPath(path).drive else PurePosixPath(path)


def _text(found: Any, name: str) -> str | None:
    value = found.get(name) if isinstance(found, dict) else None
    return value[:200] if isinstance(value, str) else None
