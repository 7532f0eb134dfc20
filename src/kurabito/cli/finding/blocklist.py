"""`kurabito blocklist`: releases that failed and are not taken again for a time."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="List failed releases, and allow them again.")


@app.command("list")
def list_blocked(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per release, one per line.")] = False,
) -> None:
    """List the releases that failed and are not taken now, the newest first, 1,000 at most.

    Examples:

        kurabito blocklist list
    """
    from rich.table import Table

    from kurabito.api.downloads.blocklist import BlockedReleaseAnswer
    from kurabito.cli.collection.database import opened_database
    from kurabito.cli.display import console, local, safe
    from kurabito.downloads.blocklist import store

    with opened_database() as (_, database):
        found = database.read_blocking(lambda conn: store.page(conn, limit=1_000))
    answers = [BlockedReleaseAnswer.of(one) for one in found]
    if as_json:
        for answer in answers:
            typer.echo(answer.model_dump_json())
        return
    table = Table(box=None, pad_edge=False)
    for name in ("id", "title", "why", "until"):
        table.add_column(name, no_wrap=name in ("id", "until"), overflow="fold")
    for answer in answers:
        until = "for good" if answer.blocked_until is None else local(answer.blocked_until)
        table.add_row(str(answer.id), safe(answer.title), safe(answer.reason or ""), until)
    console().print(table)


@app.command()
def clear(
    block_id: Annotated[
        int | None, typer.Argument(metavar="[ID]", min=1, help="ID of a blocked release, as `blocklist list` shows it.")
    ] = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="Allow all of them.")] = False,
) -> None:
    """Let a release, or all of them, be taken again. Nothing is downloaded because of it.

    Examples:

        kurabito blocklist clear 12

        kurabito blocklist clear --all
    """
    from kurabito.cli.collection.database import opened_database
    from kurabito.cli.collection.duplicates import counted
    from kurabito.downloads.blocklist import store
    from kurabito.errors import InvalidInput

    if (block_id is None) is not all_of_them:
        raise InvalidInput("ID", "say which release, or --all for all of them")
    with opened_database() as (_, database):
        if block_id is None:
            cleared = database.write_blocking(store.clear_all)
        else:
            database.write_blocking(lambda conn: store.clear(conn, block_id))
            cleared = 1
    typer.echo(f"{counted(cleared, 'release')} can be taken again")
