"""`kurabito metadata`: the index of IDs and names, which works offline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.metadata.dumps.files import DumpFile
    from kurabito.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Import the IDs and names of shows and films, for use offline.")


@app.command("import")
def import_file(
    file: Annotated[
        Path,
        typer.Argument(
            help="The file; which project it is of is recognised.", exists=True, dir_okay=False, show_default=False
        ),
    ],
) -> None:
    """Import what a project knows of shows and films. It replaces what the last file of that project said.

    data.json of bangumi-data: IDs, begin dates, Japanese and Chinese titles.
    anime-titles.xml.gz of AniDB: names in all languages, romaji among them. Download it at most once a day.
    anime-offline-database (.json, .jsonl): synonyms, kinds, years, and which IDs belong together.
    anime-list.xml of Anime-Lists: at which episode of a season of TMDB an anime begins.
    dump-*.zip of bangumi/Archive: aliases, episodes and relations of bgm.tv.

    The next sync looks up records without an ID again.

    Examples:

        kurabito metadata import data.json
        kurabito metadata import anime-titles.xml.gz
    """
    from kurabito import settings
    from kurabito.metadata.dumps.files import DumpFile
    from kurabito.metadata.dumps.model import DumpSource

    with _progress() as report, DumpFile(file, report) as dump:
        if dump.source is DumpSource.BANGUMI_DATA:
            content = dump.content()
        else:
            _import_dump(settings.load(), dump, file.name)
            return
    _replace(settings.load(), content)


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


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Show on a terminal how far a file was read."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as shown:
        reading = shown.add_task("reading", total=None)
        yield lambda done, total: shown.update(reading, completed=done, total=total)


def _import_dump(settings: Settings, file: DumpFile, file_name: str) -> None:
    from kurabito.cli.databases import product_database
    from kurabito.cli.shown import safe
    from kurabito.metadata.dumps.importer import import_dump, read_dump_file

    content = read_dump_file(file)
    with product_database(settings, create=True) as database:
        joined = import_dump(database, content, file_name)
    typer.echo(f"Entries read ({content.source}): {len(content.entries):,}")
    if content.skipped.count:
        typer.echo(
            f"Rows left out: {content.skipped.count:,}; the first: {safe(content.skipped.first or '')}", err=True
        )
    typer.echo(f"Entries of the index: {joined.entries:,}, in {joined.franchises:,} franchises")
    typer.echo(f"Names that such files add: {joined.names:,}")
    if joined.homeless:
        typer.echo(f"Entries of such files that the index does not have: {joined.homeless:,}")


def _replace(settings: Settings, content: bytes) -> None:
    from kurabito.cli.databases import product_database
    from kurabito.metadata.sources import offline
    from kurabito.metadata.sources.bangumi_data import read_entries

    entries = list(read_entries(content))
    with product_database(settings, create=True) as database:
        count = database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    typer.echo(f"{count:,} entries are known now.")
