"""`kurabito import`: show what the files of a folder are and where they would go, or give them to a series."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class NamingPreset(StrEnum):
    """The presets, named here so that `--help` loads nothing else."""

    JELLYFIN = "jellyfin"
    PLEX = "plex"
    KODI = "kodi"
    FLAT = "flat"
    AS_RELEASED = "as_released"


def import_files(
    paths: Annotated[list[Path], typer.Argument(help="Folders, files and .torrent files to read.", metavar="PATH")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print each plan as one JSON object per line.")] = False,
    naming: Annotated[
        NamingPreset, typer.Option("--naming", help="How the library names its files.")
    ] = NamingPreset.JELLYFIN,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The show that the files are of, where their names do not say it."),
    ] = None,
    season: Annotated[int | None, typer.Option(min=0, max=999, help="The season of that show.")] = None,
    series: Annotated[
        int | None, typer.Option(min=1, metavar="ID", help="Give the files to this series, by its id.")
    ] = None,
    episode: Annotated[
        list[float] | None, typer.Option(metavar="NUMBER", help="With --series: what a single file is.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="With --series: do not ask before it is done.")] = False,
) -> None:
    """Show what the files of a folder are, and the names that a library would give them; with --series, import them.

    Each file is read as the files of a download are: by its name, its folders and the files beside it. What cannot be told
    is asked, never guessed; the plan lists the candidates. With --dry-run nothing is moved, linked or renamed.

    With --series the files of a library are given to the episodes of that series where they lie, and those of the folder for
    downloads are placed into its library. The plan is shown first.

    For a .torrent file the plan is that of the files it would bring.

    Episodes are numbered as the names say, because without a server no record says how TMDB counts them.

    Examples:

        kurabito import --dry-run ~/downloads/batch

        kurabito import --dry-run batch.torrent

        kurabito import --dry-run --json --naming plex ~/downloads/batch

        kurabito import --dry-run --title "Yoru no Kurabito" --season 2 ~/downloads/scrambled

        kurabito import --series 12 /srv/media/Anime/odd-names

        kurabito import --series 12 --episode 3 /srv/media/Anime/third.mkv
    """
    from kurabito.cli.collection.file_plans import ImportRequest, run

    if series is not None:
        from kurabito.cli.collection.series_imports import run_orders

        raise typer.Exit(run_orders(paths, series, tuple(episode or ()), dry_run=dry_run, yes=yes, as_json=as_json))
    if not dry_run:
        raise typer.BadParameter("name the series that the files are of with --series, or add --dry-run")
    if season is not None and title is None:
        raise typer.BadParameter("--season says which season of a show: name the show with --title")
    raise typer.Exit(run(paths, ImportRequest(naming.value, title, 1 if season is None else season), as_json=as_json))
