"""`kurabito import-from`: take over the shows of AutoBangumi or Sonarr. Theirs is only read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kurabito.cli.collection.adopt import WishChoice

if TYPE_CHECKING:
    from kurabito.placements.predecessors.model import TheirCollection

app = typer.Typer(no_args_is_help=True, help="Take over the shows of another program, which is only read.")

Apply = Annotated[bool, typer.Option("--apply", help="Do it. Without it, everything is shown and nothing is changed.")]
Want = Annotated[WishChoice, typer.Option("--want", help="Which episodes of the shows are downloaded from now on.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as one JSON object.")]


@app.command()
def autobangumi(
    path: Annotated[Path, typer.Argument(help="Its database, data/data.db.", exists=True, dir_okay=False)],
    apply: Apply = False,
    want: Want = WishChoice.NONE,
    feeds: Annotated[bool, typer.Option("--feeds", help="With --apply: add its feeds too, switched off.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take over the shows of AutoBangumi 3.0 to 3.3.

    The file is copied and the copy is read, so that nothing of theirs changes. Shows are not followed unless --want says so.

    Examples:

        kurabito import-from autobangumi /srv/autobangumi/data/data.db

        kurabito import-from autobangumi data.db --apply --feeds
    """
    from kurabito.cli.collection.takeovers import run
    from kurabito.placements.predecessors.autobangumi import read_autobangumi

    run(read_autobangumi(path), apply=apply, want=want.value, feeds=feeds, as_json=as_json)


@app.command()
def sonarr(
    url: Annotated[str, typer.Argument(help="Its address, as in http://nas.local:8989.")],
    api_key: Annotated[
        str, typer.Option("--api-key", envvar="SONARR_API_KEY", help="The key from Settings, General.", prompt=True)
    ],
    apply: Apply = False,
    want: Want = WishChoice.NONE,
    as_json: AsJson = False,
) -> None:
    """Take over the series of Sonarr by its API v3.

    Only GET requests are sent. Series are not followed unless --want says so. Their files count once the folders are
    libraries here and were scanned.

    Examples:

        SONARR_API_KEY=… kurabito import-from sonarr http://nas.local:8989

        kurabito import-from sonarr http://nas.local:8989/sonarr --apply --want future
    """
    import asyncio

    from kurabito.cli.collection.takeovers import run

    run(asyncio.run(_read_sonarr(url, api_key)), apply=apply, want=want.value, feeds=False, as_json=as_json)


async def _read_sonarr(url: str, api_key: str) -> TheirCollection:
    from kurabito import settings
    from kurabito.app.compose.feeds import open_outbound
    from kurabito.placements.predecessors.sonarr import read_sonarr

    async with open_outbound(settings.load()) as outbound:
        return await read_sonarr(outbound, url, api_key)
