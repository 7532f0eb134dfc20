"""`kurabito metadata`: the index of IDs and names, which works offline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.metadata.dumps.files import DumpFile
    from kurabito.metadata.sources.bangumi_data import IndexFile
    from kurabito.metadata.sources.index import IndexOrigin
    from kurabito.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Import the IDs and names of shows and films, for use offline.")

Force = Annotated[
    bool, typer.Option("--force", help="Import the file even if it is empty, or has lost a fifth of the entries.")
]


@app.command("import")
def import_file(
    file: Annotated[
        Path,
        typer.Argument(
            help="The file; its project is recognised from its content.",
            exists=True,
            dir_okay=False,
            show_default=False,
        ),
    ],
    force: Force = False,
) -> None:
    """Import what a project knows of shows and films. It replaces what the last file of that project said.

    data.json of bangumi-data, or its package (.tgz): IDs, begin dates, Japanese and Chinese titles.
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
    from kurabito.metadata.sources.bangumi_data import read_index
    from kurabito.metadata.sources.index import IndexOrigin

    with _progress() as step, DumpFile(file, step("reading")) as dump:
        if dump.source is not DumpSource.BANGUMI_DATA:
            _import_dump(settings.load(), dump, file.name, step)
            return
        _replace(settings.load(), read_index(dump.content()), IndexOrigin.FILE, force, step)


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
    file = asyncio.run(_fetch(given))
    with _progress() as step:
        _replace(given, file, IndexOrigin.FETCHED, force, step)


async def _fetch(settings: Settings) -> IndexFile:
    from kurabito.http import Outbound
    from kurabito.metadata.sources.index import fetch_index

    async with Outbound(private_hosts=settings.allow_private_hosts, proxy=settings.proxy) as outbound:
        return await fetch_index(outbound, settings.offline_ids_url)


Step = Callable[[str], Callable[[int, int], None]]
"""Begins a step of a long command; what it gives is told how far that step is."""


@contextmanager
def _progress() -> Iterator[Step]:
    """Show on a terminal how far the steps of an import are."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as shown:

        def begin(name: str) -> Callable[[int, int], None]:
            step = shown.add_task(name, total=None)
            return lambda done, total: shown.update(step, completed=done, total=total)

        yield begin


def _import_dump(settings: Settings, file: DumpFile, file_name: str, step: Step) -> None:
    from kurabito.cli.databases import product_database
    from kurabito.cli.display import safe
    from kurabito.metadata.dumps.importer import import_dump, read_dump_file

    content = read_dump_file(file)
    with product_database(settings, create=True) as database:
        joined = import_dump(database, content, file_name, step("storing"), step("joining"))
    typer.echo(f"Entries read ({content.source}): {len(content.entries):,}")
    if content.skipped.count:
        typer.echo(
            f"Rows left out: {content.skipped.count:,}; the first: {safe(content.skipped.first or '')}", err=True
        )
    typer.echo(f"Entries of the index: {joined.entries:,}, in {joined.franchises:,} franchises")
    typer.echo(f"Names that such files add: {joined.names:,}")
    if joined.homeless:
        typer.echo(f"Entries of such files that the index does not have: {joined.homeless:,}")


def _replace(settings: Settings, file: IndexFile, origin: IndexOrigin, force: bool, step: Step) -> None:
    from kurabito.cli.databases import product_database
    from kurabito.metadata.sources.index import import_index

    with product_database(settings, create=True) as database:
        imported = import_index(
            database, file, origin, force=force, on_stored=step("storing"), on_joined=step("joining")
        )
    typer.echo(f"{imported.entries:,} entries are known now.")
    if imported.unknown_kinds:
        typer.echo(f"{imported.unknown_kinds:,} rows were left out: their type is not known to this version.")
    if imported.bad_rows:
        typer.echo(f"{imported.bad_rows:,} rows were left out: they make no sense.")
