"""The media servers: how each is, and what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import Request, Response

from kurabito.media_servers.model import (
    LONGEST_NAME,
    LONGEST_TOKEN,
    MediaServerKind,
    MediaServerSettings,
    StoredMediaServer,
)
from kurabito.media_servers.service import MediaServers, MediaServerTest
from kurabito.site.routing import Router
from kurabito.web.forms import CHECKED, line_of, one_of
from kurabito.web.pages import Pages
from kurabito.web.path_map_lines import lines_of, read_lines
from kurabito.web.service_routes import ServiceForm, service_routes

_PATH: Final = "/media-servers"


@dataclass(frozen=True, slots=True)
class MediaServerForm(ServiceForm):
    """A media server as it is now, or as it was filled in. The token is taken and never shown."""

    FIELDS = ("kind", "name", "url", "token", "path_maps")

    @classmethod
    def of(cls, server: StoredMediaServer) -> MediaServerForm:
        """The form as it looks for a server."""
        settings = server.settings
        return cls(
            {
                "name": settings.name,
                "url": settings.url,
                "path_maps": lines_of(settings.path_maps),
                "is_enabled": CHECKED if settings.is_enabled else "",
            }
        )

    def changes(self) -> dict[str, Any]:
        """What its keeper decides; raises InvalidInput."""
        token = self.value("token").strip()
        return {
            "name": line_of("name", self.value("name"), LONGEST_NAME),
            "url": self.value("url").strip(),
            "path_maps": tuple(read_lines(self.value("path_maps"))),
            "is_enabled": self.is_checked("is_enabled"),
            **({"token": line_of("token", token, LONGEST_TOKEN)} if token else {}),
        }

    def settings(self) -> MediaServerSettings:
        """A new server; raises InvalidInput."""
        kind = one_of(MediaServerKind, "kind", self.value("kind") or MediaServerKind.JELLYFIN.value)
        return MediaServerSettings(kind=kind, **{**self.changes(), "is_enabled": True})


def router(pages: Pages, servers: MediaServers) -> Router:
    """The media servers, and what is decided about them."""

    async def show(
        request: Request,
        *,
        new: MediaServerForm | None = None,
        forms: Mapping[int, MediaServerForm] | None = None,
        tested: MediaServerTest | None = None,
    ) -> Response:
        everything = await servers.everything()
        filled = dict(forms or {})
        return pages.show(
            request,
            "media_servers.html",
            status=max((form.status for form in (new, *filled.values()) if form is not None), default=200),
            servers=everything,
            kinds=list(MediaServerKind),
            forms={one.id: MediaServerForm.of(one) for one in everything} | filled,
            new=new or MediaServerForm(),
            tested=tested,
        )

    return service_routes(pages, _PATH, MediaServerForm, servers, show)
