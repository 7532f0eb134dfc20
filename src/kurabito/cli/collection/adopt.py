"""`kurabito adopt`: what libraries have already, what of it could not be told, and what is wanted of the shows."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kurabito.catalog.states import SeriesWish
    from kurabito.settings import Settings

app = typer.Typer(
    no_args_is_help=True, help="See which existing files count as episodes, and choose which episodes are downloaded."
)


class WishChoice(StrEnum):
    """The choices, named here so that `--help` loads nothing else."""

    NONE = "none"
    FUTURE = "future"
    MISSING = "missing"
    ALL = "all"


@app.command()
def left(
    library: Annotated[int | None, typer.Option(min=1, help="Only this library, by its id.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List the videos of libraries that belong to no episode, and why.

    All other videos count as in the library. Nothing was moved, renamed or written.

    Examples:

        kurabito adopt left

        kurabito adopt left --json --library 1
    """
    import json
    from functools import partial

    from kurabito import settings
    from kurabito.api.reasons import in_english
    from kurabito.cli.databases import product_database
    from kurabito.cli.display import safe
    from kurabito.placements.adoption import store

    count, after = 0, 0
    with product_database(settings.load()) as database:
        while page := database.read_blocking(partial(store.unadopted, after=after, limit=1000, library_id=library)):
            after = page[-1].file_id
            count += len(page)
            for file in page:
                if as_json:
                    facts = {"library": file.library, "path": file.path, "reason": file.reason.as_facts()}
                    typer.echo(json.dumps(facts, ensure_ascii=False))
                else:
                    typer.echo(safe(f"{file.library}: {file.path}\n     {in_english(file.reason)}"))
    if not as_json:
        typer.echo(f"Videos that belong to no episode: {count:,}")


@app.command()
def want(
    wanted: Annotated[
        WishChoice,
        typer.Argument(
            help="`future`: what airs from now on; `missing`: what has no file too; `all`: better releases too."
        ),
    ],
    series: Annotated[list[int] | None, typer.Argument(help="The series, by their ids.", metavar="SERIES")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every series that is not followed.")] = False,
) -> None:
    """Choose which episodes of shows are downloaded. Shows found in a library are not followed until you do.

    Examples:

        kurabito adopt want missing 12 13

        kurabito adopt want future --all

        kurabito adopt want none 12
    """
    import asyncio

    from kurabito import settings
    from kurabito.catalog.states import SeriesWish

    if bool(series) == everything:
        raise typer.BadParameter("name some series, or all that are not followed with --all")
    changed = asyncio.run(want_episodes(settings.load(), SeriesWish(wanted.value), series or None))
    typer.echo(f"Series changed: {changed:,}")


async def want_episodes(settings: Settings, wanted: SeriesWish, series: list[int] | None) -> int:
    """Say which episodes of some series, or of all that are not followed, are downloaded; how many series there were."""
    from kurabito.app.database import is_new, prepare_database
    from kurabito.catalog.catalog import Catalog
    from kurabito.downloads.grabber import Grabber
    from kurabito.downloads.tasks import DownloadTasks
    from kurabito.errors import ConfigError
    from kurabito.runtime.factory import open_delegated

    if is_new(settings):
        raise ConfigError("there is no database yet; `kurabito serve` makes it")
    prepare_database(settings)
    async with open_delegated(settings.database) as queue:
        catalog = Catalog(queue.database, Grabber(DownloadTasks(queue)))
        return await (catalog.want_not_followed(wanted) if series is None else catalog.want(series, wanted))
