"""Where a reader finds a show in a media server: the page of its search, which needs no id of that server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from kurabito.media_servers.model import MediaServerKind, MediaServerSettings

# Kodi has no page to play from, and a webhook is no player.
_SEARCHES: Final[Mapping[MediaServerKind, str]] = {
    MediaServerKind.JELLYFIN: "/web/#/search.html?query={title}",
    MediaServerKind.EMBY: "/web/index.html#!/search?query={title}",
    MediaServerKind.PLEX: "/web/index.html#!/search?query={title}",
}


def search_link(settings: MediaServerSettings, title: str) -> str | None:
    """The address that shows a title there, to be played; None for a program that has no such page.

    >>> search_link(MediaServerSettings(kind=MediaServerKind.JELLYFIN, name="NAS", url="http://nas:8096"), "Kimi no Na wa.")
    'http://nas:8096/web/#/search.html?query=Kimi%20no%20Na%20wa.'
    """
    if (search := _SEARCHES.get(settings.kind)) is None or not settings.is_enabled:
        return None
    return settings.url.partition("?")[0].rstrip("/") + search.format(title=quote(title, safe=""))
