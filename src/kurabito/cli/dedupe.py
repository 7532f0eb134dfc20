"""`kurabito dedupe`: find files of equal content, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def dedupe(
    paths: Annotated[list[Path], typer.Argument(help="Folders to look into, and files.", metavar="PATH")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the groups as JSON.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for what is remembered from one run to the next.", show_default="KURABITO_STATE"
        ),
    ] = None,
    linked: Annotated[
        bool, typer.Option("--all", help="Also show groups that are one file under several names (hard links).")
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Move surplus copies into a trash folder, after asking.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed where nobody can answer.")] = False,
) -> None:
    """Find files of equal content. The second run reads only what changed since the first.

    With `--delete` one copy of each group stays: of the path that you gave first, and of those the oldest. Every other one is
    compared with it byte for byte and moved to `.kurabito-trash` on its own file system, from where you can move it back. A
    file stays when its copy goes meanwhile, or is the same file seen through a pool over its disk.

    The exit code is 0 when it is done, 1 when it could not be done, 2 for a command line that was not understood, and 3 when
    it is done but for some files that could not be read, or were not removed.

    Examples:

        kurabito dedupe ~/videos

        kurabito dedupe --json ~/videos /mnt/disk2

        kurabito dedupe --delete ~/videos ~/downloads
    """
    from kurabito.cli import duplicates

    if delete and as_json:
        raise typer.BadParameter("--json shows and --delete asks: use one of them")
    raise typer.Exit(duplicates.run(duplicates.Asked(paths, as_json, state, linked, delete, yes)))
