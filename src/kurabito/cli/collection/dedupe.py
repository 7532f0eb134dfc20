"""`kurabito dedupe`: find files with the same content, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def dedupe(
    paths: Annotated[list[Path], typer.Argument(help="Folders and files to search.", metavar="PATH")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the groups as JSON.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for what a run remembers for the next one.", show_default="KURABITO_STATE"
        ),
    ] = None,
    linked: Annotated[
        bool, typer.Option("--all", help="Also show groups that are one file under several names (hard links).")
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Move surplus copies into a trash folder, after asking.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; needed without a terminal.")] = False,
) -> None:
    """Find files with the same content. A second run reads only files that changed since the first.

    With `--delete`, one copy of each group stays: the oldest in the path that you gave first. Every other copy is
    compared with it byte for byte and moved to `.kurabito-trash` on its own file system, from where you can move it back.
    A file stays if the kept copy disappears meanwhile, or if both are the same file, seen through a disk pool.

    The exit code is 0 for success, 1 for failure, 2 for a command line that is not understood, and 3 if some files could not
    be read or were not removed.

    Examples:

        kurabito dedupe ~/videos

        kurabito dedupe --json ~/videos /mnt/disk2

        kurabito dedupe --delete ~/videos ~/downloads
    """
    from kurabito.cli.collection import duplicates

    if delete and as_json:
        raise typer.BadParameter("--json shows and --delete asks: use one of them")
    raise typer.Exit(duplicates.run(duplicates.Asked(paths, as_json, state, linked, delete, yes)))
