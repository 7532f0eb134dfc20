"""`kurabito media-servers`: which programs hear that folders of libraries changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.media_servers.service import MediaServers

app = typer.Typer(no_args_is_help=True, help="Media servers that are notified of new files: list, add, test, remove.")

ServerId = Annotated[int, typer.Argument(min=1, help="The media server's id, as `list` shows it.", metavar="ID")]


class ServerKind(StrEnum):
    """Which program it is."""

    JELLYFIN = "jellyfin"
    EMBY = "emby"
    PLEX = "plex"
    KODI = "kodi"
    WEBHOOK = "webhook"


@app.command("list")
def list_servers() -> None:
    """List the media servers, and how each is.

    Examples:

        kurabito media-servers list
    """
    from kurabito.cli.display import safe

    async def show(servers: MediaServers) -> None:
        for one in await servers.everything():
            of = one.settings
            problem = f"  {one.status.error_message}" if one.status.error_message else ""
            typer.echo(safe(f"{one.id:>4}  {of.kind:<8}  {one.health:<8}  {of.name}  {of.url}{problem}"))

    _ask(show)


@app.command()
def add(
    kind: Annotated[ServerKind, typer.Argument(help="Which program it is.")],
    url: Annotated[str, typer.Argument(help="Its address, like http://nas:8096.", metavar="URL")],
    name: Annotated[str | None, typer.Option(help="What you call it; default: its kind.")] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="KURABITO_MEDIA_SERVER_TOKEN",
            show_envvar=True,
            help="The API key, the token of Plex, or user:password of Kodi.",
        ),
    ] = None,
    path_map: Annotated[
        list[str] | None,
        typer.Option("--map", help="A folder here and there, like /srv/media=/media; may be repeated."),
    ] = None,
) -> None:
    """Add a media server. Its host may be in your own network: adding it allows that host.

    Examples:

        kurabito media-servers add jellyfin http://nas:8096 --map /srv/media=/media
    """
    from kurabito.media_servers.model import MediaServerKind, MediaServerSettings
    from kurabito.modules.path_maps import PathMap

    maps = tuple(PathMap(*one.partition("=")[::2]) for one in path_map or ())
    settings = MediaServerSettings(
        kind=MediaServerKind(kind), name=name or kind.value.capitalize(), url=url, token=token, path_maps=maps
    )

    async def store(servers: MediaServers) -> None:
        made = await servers.add(settings)
        typer.echo(f"media server {made.id}; try it with `kurabito media-servers test {made.id}`")

    _ask(store)


@app.command()
def test(server: ServerId) -> None:
    """Test whether a media server responds and accepts the token. The exit code is 1 when it does not.

    Examples:

        kurabito media-servers test 1
    """
    from kurabito.cli.display import safe

    async def try_it(servers: MediaServers) -> None:
        tested = await servers.test(server)
        if tested.error is not None:
            typer.echo(safe(str(tested.error)), err=True)
            raise typer.Exit(1)
        typer.echo(safe(f"it answers{f' as {tested.answered_as}' if tested.answered_as else ''}"))

    _ask(try_it)


@app.command()
def remove(server: ServerId) -> None:
    """Remove a media server."""
    _ask(lambda servers: servers.remove(server))


def _ask(act: Callable[[MediaServers], Awaitable[None]]) -> None:
    import asyncio

    from kurabito.app.compose.feeds import open_outbound
    from kurabito.cli.collection.database import opened_database
    from kurabito.media_servers.service import MediaServers

    async def run() -> None:
        with opened_database() as (settings, database):
            async with open_outbound(settings) as outbound:
                await act(MediaServers(database, outbound))

    asyncio.run(run())
