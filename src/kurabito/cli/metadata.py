"""`kurabito metadata`: the ID index, which works offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.metadata.sources.bangumi_data import IndexFile
    from kurabito.metadata.sources.index import IndexOrigin
    from kurabito.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Import the IDs of shows and films, for use offline.")

Force = Annotated[
    bool, typer.Option("--force", help="Import the file even if it is empty, or has lost a fifth of the entries.")
]


@app.command("import")
def import_file(
    file: Annotated[
        Path, typer.Argument(help="The data.json of bangumi-data.", exists=True, dir_okay=False, show_default=False)
    ],
    force: Force = False,
) -> None:
    """Import the IDs of bgm.tv, TMDB, AniDB, MAL, AniList and Mikan from a file. They replace those of the last import.

    The next sync looks up records without an ID again.

    Examples:

        kurabito metadata import data.json
    """
    from kurabito import settings
    from kurabito.metadata.sources.bangumi_data import read_index
    from kurabito.metadata.sources.index import IndexOrigin

    _replace(settings.load(), read_index(file.read_bytes()), IndexOrigin.FILE, force)


@app.command()
def update(force: Force = False) -> None:
    """Download the file from the address in `offline_ids_url`, and import it.

    With `KURABITO_OFFLINE_IDS_REFRESH=true`, `kurabito serve` does the same once a week.

    Examples:

        kurabito metadata update
    """
    import asyncio

    from kurabito import settings
    from kurabito.metadata.sources.index import IndexOrigin
    from kurabito.settings.store import stored_settings

    given = stored_settings(settings.load())
    _replace(given, asyncio.run(_fetch(given)), IndexOrigin.FETCHED, force)


async def _fetch(settings: Settings) -> IndexFile:
    from kurabito.http import Outbound
    from kurabito.metadata.sources.index import fetch_index

    async with Outbound(private_hosts=settings.allow_private_hosts, proxy=settings.proxy) as outbound:
        return await fetch_index(outbound, settings.offline_ids_url)


def _replace(settings: Settings, file: IndexFile, origin: IndexOrigin, force: bool) -> None:
    from kurabito.cli.databases import product_database
    from kurabito.metadata.sources.index import import_index

    with product_database(settings, create=True) as database:
        imported = database.write_blocking(lambda conn: import_index(conn, file, origin, force=force))
    typer.echo(f"{imported.entries:,} entries are known now.")
    if imported.unknown_kinds:
        typer.echo(f"{imported.unknown_kinds:,} rows were left out: their type is not known to this version.")
    if imported.bad_rows:
        typer.echo(f"{imported.bad_rows:,} rows were left out: they make no sense.")
