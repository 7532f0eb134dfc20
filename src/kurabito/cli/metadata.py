"""`kurabito metadata`: the ID index, which works offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Import the IDs of shows and films, for use offline.")


@app.command("import")
def import_file(
    file: Annotated[
        Path, typer.Argument(help="The data.json of bangumi-data.", exists=True, dir_okay=False, show_default=False)
    ],
) -> None:
    """Import the IDs of bgm.tv, TMDB, AniDB, MAL, AniList and Mikan from a file. They replace those of the last import.

    The next sync looks up records without an ID again.

    Examples:

        kurabito metadata import data.json
    """
    from kurabito import settings

    _replace(settings.load(), file.read_bytes())


@app.command()
def update() -> None:
    """Download the file from the address in `offline_ids_url`, and import it.

    Examples:

        KURABITO_OFFLINE_IDS_URL=https://example.org/data.json kurabito metadata update
    """
    import asyncio

    from kurabito import settings
    from kurabito.errors import ConfigError
    from kurabito.settings.store import stored_settings

    given = stored_settings(settings.load())
    if given.offline_ids_url is None:
        raise ConfigError("nothing says where to fetch from: set KURABITO_OFFLINE_IDS_URL to the URL of a data.json")
    _replace(given, asyncio.run(_fetch(given, given.offline_ids_url)))


async def _fetch(settings: Settings, url: str) -> bytes:
    from urllib.parse import urlsplit

    from kurabito.http import Limits, Outbound

    limits = Limits(seconds=300.0, max_bytes=64 * 1024 * 1024)
    async with Outbound(private_hosts=settings.allow_private_hosts, proxy=settings.proxy) as outbound:
        return (await outbound.get(url, trusted=[urlsplit(url).hostname or ""], limits=limits)).content


def _replace(settings: Settings, content: bytes) -> None:
    from kurabito.cli.databases import product_database
    from kurabito.metadata.sources import offline
    from kurabito.metadata.sources.bangumi_data import read_entries

    entries = list(read_entries(content))
    with product_database(settings, create=True) as database:
        count = database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    typer.echo(f"{count:,} entries are known now.")
