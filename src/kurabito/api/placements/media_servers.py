"""Media servers: which programs hear that folders changed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import Path
from pydantic import BaseModel, Field, SecretStr

from kurabito.api.bodies import ShortText, StrictBody
from kurabito.api.paging import PageAnswer
from kurabito.contact import ContactHealth
from kurabito.media_servers.model import (
    LONGEST_TOKEN,
    LONGEST_URL,
    MediaServerKind,
    MediaServerSettings,
    StoredMediaServer,
)
from kurabito.media_servers.service import MediaServers, MediaServerTest
from kurabito.modules.path_maps import PathMap
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

ServerId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the media server's id")]
ServerUrl = Annotated[str, Field(min_length=1, max_length=LONGEST_URL)]
Token = Annotated[SecretStr, Field(min_length=1, max_length=LONGEST_TOKEN)]
Kind = Annotated[MediaServerKind, Field(strict=False)]
_URL = "its address, like http://nas:8096; adding it allows this host, also in your own network"
_KEY = "the API key, the token of Plex, or `user:password` of Kodi; written, and never shown"
_MAPS = "folders as Kurabito sees them, and as the server does"


class ServerPathMap(StrictBody):
    """The same folder as Kurabito and as the media server see it."""

    core: Annotated[str, Field(min_length=1, max_length=1_000)] = Field(examples=["/srv/media"])
    server: Annotated[str, Field(min_length=1, max_length=1_000)] = Field(examples=["/media"])


ServerPathMaps = Annotated[list[ServerPathMap], Field(max_length=50, description=_MAPS)]


class MediaServerOrder(StrictBody):
    """A media server to add."""

    kind: Kind
    name: ShortText
    url: ServerUrl = Field(description=_URL)
    token: Token | None = Field(None, description=_KEY)
    path_maps: ServerPathMaps = Field(default_factory=list)
    is_enabled: bool = True


class MediaServerChange(StrictBody):
    """What is to change; what is not named stays. Another address has to be given its token again."""

    # Made, not given: the documentation must not name values for what is left out.
    name: ShortText = Field(default_factory=str)
    url: ServerUrl = Field(default_factory=str, description=_URL)
    token: Token | None = Field(None, description=_KEY)
    path_maps: ServerPathMaps = Field(default_factory=list)
    is_enabled: bool = Field(default_factory=bool)


class MediaServerAnswer(BaseModel):
    """A media server, without its token. Times are UTC."""

    id: int
    kind: MediaServerKind
    name: str
    url: str
    has_token: bool
    path_maps: list[ServerPathMap]
    is_enabled: bool
    health: ContactHealth = Field(description="how it is, in one word")
    failures: int = Field(description="in a row")
    error_code: str | None = Field(description="stable; what an interface translates")
    error_message: str | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, server: StoredMediaServer) -> Self:
        settings, status = server.settings, server.status
        return cls(
            id=server.id,
            kind=settings.kind,
            name=settings.name,
            url=settings.url,
            has_token=settings.token is not None,
            path_maps=[ServerPathMap(core=one.core, server=one.downloader) for one in settings.path_maps],
            is_enabled=settings.is_enabled,
            health=server.health,
            failures=status.failures,
            error_code=status.error_code,
            error_message=status.error_message,
            last_success_at=status.last_success_at,
            last_failure_at=status.last_failure_at,
            created_at=server.created_at,
            updated_at=server.updated_at,
        )


class MediaServerTestAnswer(BaseModel):
    """What came of asking a media server whether it hears us."""

    is_good: bool
    answered_as: str | None = Field(description="what it calls itself")
    error_code: str | None
    message: str | None = Field(description="what went wrong, in English")
    server: MediaServerAnswer

    @classmethod
    def of(cls, tested: MediaServerTest) -> Self:
        error = tested.error
        return cls(
            is_good=error is None,
            answered_as=tested.answered_as,
            error_code=None if error is None else error.code,
            message=None if error is None else str(error),
            server=MediaServerAnswer.of(tested.server),
        )


def _settings(body: MediaServerOrder | MediaServerChange) -> dict[str, Any]:
    """The fields of `MediaServerSettings` that are named."""
    named = body.model_dump(exclude_unset=isinstance(body, MediaServerChange))
    if "token" in named:
        named["token"] = None if body.token is None else body.token.get_secret_value()
    if "path_maps" in named:
        named["path_maps"] = tuple(PathMap(one.core, one.server) for one in body.path_maps)
    return named


def router(servers: MediaServers) -> Router:
    """The routes of the media servers."""
    routes = Router(prefix="/api/v1/media-servers", tags=["placements"])

    @routes.get("", responses=documented())
    async def list_media_servers() -> PageAnswer[MediaServerAnswer]:
        """Every media server that hears of changes."""
        return PageAnswer[MediaServerAnswer].whole(MediaServerAnswer.of(one) for one in await servers.everything())

    @routes.post("", status_code=201, responses=documented(409, *WITH_BODY))
    async def add_media_server(order: MediaServerOrder) -> MediaServerAnswer:
        """Add a media server. It hears of every file that comes into a library from now on."""
        return MediaServerAnswer.of(await servers.add(MediaServerSettings(**_settings(order))))

    @routes.patch("/{server_id}", responses=documented(404, 409, *WITH_BODY))
    async def change_media_server(server_id: ServerId, change: MediaServerChange) -> MediaServerAnswer:
        """Change a media server."""
        return MediaServerAnswer.of(await servers.change(server_id, _settings(change)))

    @routes.delete("/{server_id}", status_code=204, responses=documented(404, 422))
    async def delete_media_server(server_id: ServerId) -> None:
        """Forget a media server."""
        await servers.remove(server_id)

    @routes.post("/{server_id}/test", responses=documented(404, 422))
    async def test_media_server(server_id: ServerId) -> MediaServerTestAnswer:
        """Ask a media server whether it hears us and takes the token; what went wrong is in the answer."""
        return MediaServerTestAnswer.of(await servers.test(server_id))

    return routes
